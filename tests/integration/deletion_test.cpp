#include "journey.hpp"

/// Contract section 4: what goes in which order, and what stops it.
namespace integration {
namespace {

class Deletion : public Journey {
  protected:
    void install(Json spec = Json::object()) {
        start();
        configure(std::move(spec));
        order("0.9.1");
        ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
        ASSERT_TRUE(settled());
    }
    k8s::ObjectKey release_key() const { return in_tenant("kro-helm-release"); }
    k8s::ObjectKey repository_key() const { return in_tenant("kro-oci-repository"); }
    k8s::ObjectKey access_key() const { return in_tenant(kro::request_name(tenant_)); }
};

TEST_F(Deletion, TakesEverythingAwayInOrder) {
    std::string const image_pull = "image-pull-" + provider_;
    start();
    put_pull_secret("chart-pull", "first");
    put_pull_secret(image_pull, "first");
    configure({{"imagePullSecret", {{"name", "chart-pull"}}}, {"values", {{"imagePullSecrets", {{{"name", image_pull}}}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    ASSERT_TRUE(settled());

    hold(kro::kHelmReleases);
    delete_kro();
    ASSERT_TRUE(eventually([&] { return k8s::is_being_deleted(helm_release()); })) << story();
    ASSERT_TRUE(settled());
    EXPECT_EQ(phase(), "Terminating");
    EXPECT_EQ(reason(), "Terminating");
    EXPECT_TRUE(copy("chart-pull").is_object()) << "Flux may still need it";
    EXPECT_TRUE(remote_copy(image_pull).is_object());
    EXPECT_FALSE(k8s::is_being_deleted(access_request()));
    release(kro::kHelmReleases);
    ASSERT_TRUE(eventually([&] { return is_gone(); })) << story();

    auto const release_gone = revision_of_deletion(kro::kHelmReleases, release_key());
    auto const repository_gone = revision_of_deletion(kro::kOciRepositories, repository_key());
    auto const copy_gone = revision_of_deletion(k8s::kSecrets, in_tenant("chart-pull"));
    auto const remote_copy_gone = revision_of_deletion(k8s::kSecrets, in_kro_system(image_pull));
    auto const access_gone = revision_of_deletion(kro::kAccessRequests, access_key());
    auto const kro_gone = revision_of_deletion(kros_, kro_key());
    EXPECT_LT(std::max(release_gone, repository_gone), std::min(copy_gone, remote_copy_gone));
    EXPECT_LT(std::max(copy_gone, remote_copy_gone), access_gone);
    EXPECT_LT(access_gone, kro_gone);
    EXPECT_TRUE(read(*platform_, k8s::kNamespaces, {{}, kro::tenant_namespace(tenant_)}).is_object()) << "others use it";
    EXPECT_FALSE(k8s::is_being_deleted(read(*platform_, k8s::kNamespaces, {{}, kro::tenant_namespace(tenant_)})));
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Deletion, IsQuickForATenantThatNeverGotAccess) {
    hold(kro::kAccessRequests);
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return access_request().is_object(); })) << story();
    delete_kro();
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_TRUE(access_request().is_null());
}

TEST_F(Deletion, WaitsUntilTheUsersResourceGraphDefinitionsAreGone) {
    kubectl("mcp-01", "apply --server-side --filename=" + definition_file("resourcegraphdefinition"));
    kubectl("mcp-01", "wait --for=condition=Established --timeout=60s crd/resourcegraphdefinitions.kro.run");
    install();
    auto const graph = [](std::string const& name) {
        return Json{{"apiVersion", "kro.run/v1alpha1"},
                    {"kind", "ResourceGraphDefinition"},
                    {"metadata", {{"name", name}}},
                    {"spec", {{"schema", {{"apiVersion", "v1alpha1"}, {"kind", "Thing"}}}, {"resources", Json::array()}}}};
    };
    create(*control_plane_, kro::kResourceGraphDefinitions, graph("one"));
    create(*control_plane_, kro::kResourceGraphDefinitions, graph("two"));

    delete_kro();
    std::string const blocked = " kro ResourceGraphDefinition(s) to be removed from the control plane";
    ASSERT_TRUE(eventually([&] { return message() == "deletion blocked: waiting for 2" + blocked; })) << story();
    EXPECT_EQ(phase(), "Terminating");
    EXPECT_FALSE(k8s::is_being_deleted(helm_release()));
    EXPECT_FALSE(k8s::is_being_deleted(access_request()));

    destroy(*control_plane_, kro::kResourceGraphDefinitions, {{}, "one"});
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(message(), "deletion blocked: waiting for 1" + blocked);
    EXPECT_FALSE(k8s::is_being_deleted(helm_release()));

    destroy(*control_plane_, kro::kResourceGraphDefinitions, {{}, "two"});
    EXPECT_EQ(tick(), 204);
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
    destroy(*control_plane_, k8s::kCustomResourceDefinitions, {{}, "resourcegraphdefinitions.kro.run"});
    EXPECT_TRUE(eventually([&] {
        return read(*control_plane_, k8s::kCustomResourceDefinitions, {{}, "resourcegraphdefinitions.kro.run"}).is_null();
    }));
}

TEST_F(Deletion, StopsBeforeASuspendedHelmRelease) {
    install();
    change(*platform_, kro::kHelmReleases, release_key(), {{"spec", {{"suspend", true}}}}, "flux");
    ASSERT_TRUE(settled());
    delete_kro();
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("flux resume"), std::string::npos) << message();
    EXPECT_EQ(phase(), "Terminating");
    EXPECT_FALSE(k8s::is_being_deleted(helm_release()));

    change(*platform_, kro::kHelmReleases, release_key(), {{"spec", {{"suspend", nullptr}}}}, "flux");
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Deletion, StopsWhereTheKubeconfigIsMissing) {
    install();
    k8s::ObjectKey const kubeconfig = in_tenant(text_of(member(access_request(), "status", "secretRef", "name")));
    Json secret = read(*platform_, k8s::kSecrets, kubeconfig);
    destroy(*platform_, k8s::kSecrets, kubeconfig);
    delete_kro();
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find(kubeconfig.name), std::string::npos) << message();
    EXPECT_FALSE(k8s::is_being_deleted(helm_release()));

    secret["metadata"] = {{"name", kubeconfig.name}, {"namespace", kubeconfig.namespace_}};
    create(*platform_, k8s::kSecrets, secret, "platform");
    EXPECT_EQ(tick(), 204);
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Deletion, LeavesALostControlPlaneBehindWhenItIsAbandoned) {
    install();
    destroy(*platform_, k8s::kSecrets, in_tenant(text_of(member(access_request(), "status", "secretRef", "name"))));
    delete_kro();
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    annotate_kro("kro.services.openmcp.cloud/abandon", "true");
    ASSERT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_TRUE(access_request().is_null());
    EXPECT_TRUE(helm_release().is_null());
    auto const events = k8s::send_one(*onboarding_, k8s::list(k8s::kEvents, tenant_.namespace_),
                                      std::chrono::steady_clock::now() + std::chrono::seconds{30});
    ASSERT_TRUE(events.has_value()) << events.error().message;
    EXPECT_NE(base::dump_json(*events).find("Abandoned"), std::string::npos);
}

TEST_F(Deletion, WaitsForFinalizersOfOthersOnTheAccessRequest) {
    install();
    change(*platform_, kro::kAccessRequests, access_key(),
           {{"metadata", {{"finalizers", {kro::kAccessFinalizer, "example.com/others"}}}}}, "platform");
    ASSERT_TRUE(settled());
    delete_kro();
    ASSERT_TRUE(eventually([&] { return k8s::is_being_deleted(access_request()); })) << story();
    ASSERT_TRUE(settled());
    EXPECT_EQ(k8s::finalizers_of(access_request()).size(), 2);
    EXPECT_FALSE(is_gone());
    change(*platform_, kro::kAccessRequests, access_key(), {{"metadata", {{"finalizers", {kro::kAccessFinalizer}}}}}, "platform");
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_TRUE(access_request().is_null());
}

TEST_F(Deletion, IsFollowedByANewLifeOfTheSameName) {
    install();
    delete_kro();
    ASSERT_TRUE(eventually([&] { return is_gone(); })) << story();
    order("0.9.2");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_EQ(member(oci_repository(), "spec", "ref", "tag"), "0.9.2");
}

}  // namespace
}  // namespace integration
