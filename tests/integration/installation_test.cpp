#include "journey.hpp"

#include <algorithm>
#include <thread>

/// Contract sections 3 and 5 without secrets: from a new Kro to a tenant that is ready, and what changes it later.
namespace integration {
namespace {

class Installation : public Journey {};

constexpr char kFluxFinalizer[] = "finalizers.fluxcd.io";

std::string phase_in(k8s::Change const& change) { return text_of(member(change.object, "status", "phase")); }

/// The phases in the order in which they were shown, each named once while it lasts.
std::vector<std::string> phases_in(std::vector<k8s::Change> const& history) {
    std::vector<std::string> phases;
    for (auto const& change : history) {
        std::string const phase = phase_in(change);
        if (!phase.empty() && (phases.empty() || phases.back() != phase)) phases.push_back(phase);
    }
    return phases;
}

TEST_F(Installation, MakesANewTenantReady) {
    start();
    configure({{"chartURL", "oci://registry.example.com/charts/kro"}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    EXPECT_EQ(message(), "Domain Service is ready");
    EXPECT_EQ(reason(), "ReconcileSuccess");
    EXPECT_TRUE(k8s::has_finalizer(kro(), kro::kFinalizer));
    EXPECT_EQ(member(kro(), "status", "resources").size(), 2);
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));

    Json const repository = oci_repository();
    EXPECT_EQ(member(repository, "spec", "url"), "oci://registry.example.com/charts/kro");
    EXPECT_EQ(member(repository, "spec", "ref"), Json({{"tag", "0.9.1"}}));
    EXPECT_EQ(member(repository, "spec", "secretRef"), nullptr);

    Json const request = access_request();
    Json const release = helm_release();
    EXPECT_EQ(member(release, "spec", "kubeConfig", "secretRef", "name"), member(request, "status", "secretRef", "name"));
    EXPECT_EQ(member(release, "spec", "targetNamespace"), "kro-system");
    EXPECT_TRUE(k8s::has_finalizer(release, kFluxFinalizer)) << "Flux's own finalizer is left alone";
    EXPECT_EQ(kro::tenant_of(release), tenant_);
    // What the platform adds to our request stays.
    EXPECT_EQ(k8s::label_of(request, "clusters.openmcp.cloud/provider"), "stand-in");
    EXPECT_TRUE(member(request, "spec", "clusterRef").is_object());
}

TEST_F(Installation, WaitsForTheAccessWithoutAnError) {
    hold(kro::kAccessRequests);
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return message() == "Waiting for access to the control plane"; })) << story();
    EXPECT_EQ(reason(), "Reconciling");
    EXPECT_TRUE(helm_release().is_null());
    release(kro::kAccessRequests);
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
}

TEST_F(Installation, WaitsForAProviderConfigAndGoesOnWhenThereIsOne) {
    start();
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find(provider_), std::string::npos) << message();
    configure(Json::object());
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
}

TEST_F(Installation, ShowsProgressingFromANewVersionUntilItIsInstalled) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    ASSERT_TRUE(settled());

    hold(kro::kOciRepositories);
    order("0.9.2+build.7");
    ASSERT_TRUE(eventually([&] { return phase() == "Progressing"; })) << story();
    EXPECT_EQ(member(oci_repository(), "spec", "ref"), Json({{"tag", "0.9.2_build.7"}}));
    release(kro::kOciRepositories);
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    EXPECT_EQ(phases_in(history_of(kros_, kro_key())),
              (std::vector<std::string>{"Progressing", "Ready", "Progressing", "Ready"}));
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Installation, WritesNothingForATenantThatIsAsItShouldBe) {
    start();
    configure({{"values", {{"replicas", 2}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    ASSERT_TRUE(settled());

    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before);
}

TEST_F(Installation, HandsARequestToReconcileOnToFluxAndTakesItOff) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    annotate_kro("openmcp.cloud/operation", "reconcile");
    ASSERT_TRUE(eventually([&] { return k8s::annotation_of(kro(), "openmcp.cloud/operation").empty(); })) << story();
    std::string const token = k8s::annotation_of(helm_release(), "reconcile.fluxcd.io/requestedAt");
    EXPECT_FALSE(token.empty());
    EXPECT_EQ(k8s::annotation_of(helm_release(), "reconcile.fluxcd.io/resetAt"), token);
    EXPECT_EQ(k8s::annotation_of(oci_repository(), "reconcile.fluxcd.io/requestedAt"), token);

    ASSERT_TRUE(settled());
    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before) << "the request is met once";
    EXPECT_TRUE(is_ready());
}

TEST_F(Installation, LeavesAnIgnoredKroAlone) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    annotate_kro("openmcp.cloud/operation", "ignore");
    order("0.9.2");
    ASSERT_TRUE(settled());
    auto const before = versions();
    delete_kro();
    ASSERT_TRUE(settled());
    EXPECT_EQ(tick(), 204);
    auto after = versions();
    EXPECT_EQ(member(oci_repository(), "spec", "ref", "tag"), "0.9.1");
    EXPECT_FALSE(is_gone()) << "while it is being deleted too";
    std::string const kro_path = k8s::path_of(kros_, kro_key());
    after[kro_path] = before.at(kro_path);  // the deletion itself
    EXPECT_EQ(after, before);

    annotate_kro("openmcp.cloud/operation", nullptr);
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Installation, IsFrozenByAnIgnoredProviderConfigWhileDeletingGoesOn) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    change(*platform_, kro::kProviderConfigs, {{}, provider_},
           {{"metadata", {{"annotations", {{"openmcp.cloud/operation", "ignore"}}}}}});
    // A run that is under way may have read the ProviderConfig before and read the Kro after.
    ASSERT_TRUE(settled());
    order("0.9.2");
    ASSERT_TRUE(settled());
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(member(oci_repository(), "spec", "ref", "tag"), "0.9.1");
    delete_kro();
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Installation, TakesOverWhatAnotherProgramHadWritten) {
    std::string const namespace_ = kro::tenant_namespace(tenant_);
    create(*platform_, k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}});
    create(*platform_, kro::kOciRepositories,
           {{"apiVersion", k8s::api_version(kro::kOciRepositories)},
            {"kind", "OCIRepository"},
            {"metadata", {{"name", "kro-oci-repository"}, {"namespace", namespace_}}},
            {"spec",
             {{"interval", "5m0s"},
              {"url", "oci://old.example.com/kro"},
              {"ref", {{"tag", "0.1.0"}, {"semver", ">=0.1.0"}}},
              {"secretRef", {{"name", "left-over"}}}}}});
    create(*platform_, kro::kHelmReleases,
           {{"apiVersion", k8s::api_version(kro::kHelmReleases)},
            {"kind", "HelmRelease"},
            {"metadata", {{"name", "kro-helm-release"}, {"namespace", namespace_}}},
            {"spec",
             {{"interval", "5m0s"},
              {"chartRef", {{"kind", "OCIRepository"}, {"name", "kro-oci-repository"}, {"namespace", namespace_}}},
              {"values", {{"old", {{"nested", true}}}, {"shared", {{"old", 1}}}}}}}});
    start();
    configure({{"values", {{"shared", {{"new", 2}}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    EXPECT_EQ(member(oci_repository(), "spec", "secretRef"), nullptr);
    EXPECT_EQ(member(oci_repository(), "spec", "ref"), Json({{"tag", "0.9.1"}}));
    EXPECT_EQ(member(helm_release(), "spec", "values"), Json({{"shared", {{"new", 2}}}}));
    ASSERT_TRUE(settled());
    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before);
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Installation, EndsTheSameWhenTwoProgramsGetTheSameEventsAtOnce) {
    start(2);
    put_pull_secret("chart-pull", "first");
    configure({{"imagePullSecret", {{"name", "chart-pull"}}}, {"values", {{"imagePullSecrets", {{{"name", "chart-pull"}}}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    order("0.9.2");
    ASSERT_TRUE(eventually([&] { return is_ready() && member(oci_repository(), "spec", "ref", "tag") == "0.9.2"; })) << story();
    put_pull_secret("chart-pull", "second");
    Json const source = read(*platform_, k8s::kSecrets, in_provider("chart-pull"));
    ASSERT_TRUE(eventually([&] {
        return member(copy("chart-pull"), "data") == source["data"] &&
               member(remote_copy("chart-pull"), "data") == source["data"];
    })) << story();
    ASSERT_TRUE(settled());
    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before);

    delete_kro();
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_TRUE(access_request().is_null());
    EXPECT_TRUE(helm_release().is_null());
    EXPECT_TRUE(copy("chart-pull").is_null());
    EXPECT_TRUE(remote_copy("chart-pull").is_null());
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Installation, WorksWhereAnOlderDefinitionHasAnotherPlural) {
    static k8s::Resource const kKroes{"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"};
    Json definition = definition_of_kros();
    definition["metadata"] = {{"name", "kroes.kro.services.openmcp.cloud"}};
    definition["spec"]["names"]["plural"] = "kroes";
    definition.erase("status");
    onboarding_cluster_ = "onboarding-kroes";
    kros_ = kKroes;
    install_definition(std::move(definition));
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    delete_kro();
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Installation, AsksThePlatformForTheOnboardingCluster) {
    onboarding_is_requested_ = true;
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    k8s::ObjectKey const key = in_provider("kro.services.openmcp.cloud--onboarding");
    EXPECT_EQ(member(read(*platform_, kro::kClusterRequests, key), "spec"), Json({{"purpose", "onboarding"}}));
    Json const request = read(*platform_, kro::kAccessRequests, key);
    EXPECT_EQ(member(request, "spec", "requestRef", "name"), key.name);
    EXPECT_TRUE(k8s::finalizers_of(request).empty());
    delete_kro();
    EXPECT_TRUE(eventually([&] { return is_gone(); })) << story();
}

TEST_F(Installation, AnswersEveryEventThatCameBeforeItWasAskedToEnd) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    ASSERT_TRUE(settled());
    auto const answered_before = program().count("event answered");
    std::vector<int> statuses(8);
    std::vector<std::thread> senders;
    for (auto& status : statuses) senders.emplace_back([&] { status = tick(); });
    EXPECT_TRUE(eventually([&] { return program().count("event answered") > answered_before; }));
    program().ask_to_end();
    for (auto& sender : senders) sender.join();
    EXPECT_EQ(statuses, std::vector<int>(8, 204));
    EXPECT_EQ(program().stop(), 0);
}

}  // namespace
}  // namespace integration
