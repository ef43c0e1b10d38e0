#include "journey.hpp"

#include "base/base64.hpp"

/// Contract section 3, steps 5 to 7: copies of Secrets and of the CA bundle, on the platform cluster and on the control plane.
namespace integration {
namespace {

constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

class Secrets : public Journey {
  protected:
    Json source(std::string const& name) { return read(*platform_, k8s::kSecrets, in_provider(name)); }
    bool is_copied(std::string const& name) { return is_copy_of(copy(name), name); }
    bool is_copied_to_control_plane(std::string const& name) { return is_copy_of(remote_copy(name), name); }
    Json remote_bundle() { return read(*control_plane_, k8s::kConfigMaps, in_kro_system("ca-bundle")); }
    /// A name that no other test uses: they share one control plane.
    std::string own(std::string const& name) { return name + "-" + provider_; }

    void put_bundle(std::string const& pem) {
        Json const object = {{"apiVersion", "v1"},
                             {"kind", "ConfigMap"},
                             {"metadata", {{"name", "company-ca"}, {"namespace", provider_namespace_}}},
                             {"data", {{"bundle.pem", pem}}}};
        auto const written = k8s::send_one(*platform_, k8s::apply(k8s::kConfigMaps, object, "operator"),
                                           std::chrono::steady_clock::now() + std::chrono::seconds{30});
        EXPECT_TRUE(written.has_value()) << written.error().message;
    }

  private:
    bool is_copy_of(Json const& there, std::string const& name) {
        Json const from = source(name);
        return there.is_object() && member(there, "data") == member(from, "data") &&
               member(there, "type") == member(from, "type") && k8s::label_of(there, kro::kManagedByLabel) == kro::kGroup;
    }
};

TEST_F(Secrets, FollowTheChartsPullSecretFromItsFirstDayToItsLast) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    put_pull_secret("chart-pull", "first");
    configure({{"imagePullSecret", {{"name", "chart-pull"}}}});
    ASSERT_TRUE(eventually([&] { return is_copied("chart-pull") && !oci_repository()["spec"]["secretRef"].is_null(); }))
        << story();
    EXPECT_EQ(member(oci_repository(), "spec", "secretRef"), Json({{"name", "chart-pull"}}));
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    put_pull_secret("chart-pull", "second");
    ASSERT_TRUE(eventually([&] { return is_copied("chart-pull"); })) << story();
    ASSERT_TRUE(settled());
    EXPECT_TRUE(is_ready());

    configure(Json::object());
    ASSERT_TRUE(eventually([&] { return member(oci_repository(), "spec", "secretRef").is_null(); })) << story();
    ASSERT_TRUE(eventually([&] { return copy("chart-pull").is_null(); })) << story();
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_TRUE(source("chart-pull").is_object()) << "the source is never touched";
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Secrets, AreAskedForByNameWhileTheyAreMissing) {
    start();
    configure({{"imagePullSecret", {{"name", "chart-pull"}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("chart-pull"), std::string::npos) << message();
    EXPECT_NE(message().find(provider_namespace_), std::string::npos) << message();
    put_pull_secret("chart-pull", "first");
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_TRUE(is_copied("chart-pull"));
}

TEST_F(Secrets, InTheValuesReachTheControlPlane) {
    std::string const one = own("image-pull");
    std::string const other = own("mirror-pull");
    start();
    put_pull_secret(one, "first");
    put_pull_secret(other, "other");
    configure({{"values", {{"imagePullSecrets", {{{"name", one}}, {{"name", other}}}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_TRUE(is_copied_to_control_plane(one));
    EXPECT_TRUE(is_copied_to_control_plane(other));
    ASSERT_TRUE(settled());
    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before);

    put_pull_secret(one, "second");
    ASSERT_TRUE(eventually([&] { return is_copied_to_control_plane(one); })) << story();
    configure({{"values", {{"imagePullSecrets", {{{"name", one}}}}}}});
    ASSERT_TRUE(eventually([&] { return remote_copy(other).is_null(); })) << story();
    EXPECT_TRUE(is_copied_to_control_plane(one));
    configure(Json::object());
    ASSERT_TRUE(eventually([&] { return remote_copy(one).is_null(); })) << story();
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Secrets, OfAnotherTypeThanBeforeAreMadeAnew) {
    start();
    std::string const name = own("image-pull");
    put_pull_secret(name, "first");
    configure({{"values", {{"imagePullSecrets", {{{"name", name}}}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    destroy(*platform_, k8s::kSecrets, in_provider(name));
    create(*platform_, k8s::kSecrets,
           {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"name", name}, {"namespace", provider_namespace_}}},
            {"type", "kubernetes.io/dockercfg"},
            {"data", {{".dockercfg", base::encode_base64(R"({"registry.example.com":{"username":"a","password":"b"}})")}}}});
    ASSERT_TRUE(eventually([&] { return is_copied_to_control_plane(name); })) << story();
    EXPECT_EQ(member(remote_copy(name), "type"), "kubernetes.io/dockercfg");
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
}

TEST_F(Secrets, OfSomebodyElseAreUsedWhereTheyAreTheSameAndReportedWhereNot) {
    std::string const namespace_ = kro::tenant_namespace(tenant_);
    create(*platform_, k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}});
    put_pull_secret("chart-pull", "first");
    Json theirs = read(*platform_, k8s::kSecrets, in_provider("chart-pull"));
    theirs["metadata"] = {{"name", "chart-pull"}, {"namespace", namespace_}};
    Json const there = create(*platform_, k8s::kSecrets, theirs);
    start();
    configure({{"imagePullSecret", {{"name", "chart-pull"}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_EQ(k8s::resource_version_of(copy("chart-pull")), k8s::resource_version_of(there));

    put_pull_secret("chart-pull", "second");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("chart-pull"), std::string::npos) << message();
    EXPECT_EQ(k8s::resource_version_of(copy("chart-pull")), k8s::resource_version_of(there));

    delete_kro();
    ASSERT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_EQ(k8s::resource_version_of(copy("chart-pull")), k8s::resource_version_of(there)) << "never ours to delete";
}

TEST_F(Secrets, IncludeTheCaBundleOnBothClusters) {
    start();
    put_bundle(kCertificate);
    configure({{"caBundleRef", {{"name", "company-ca"}, {"key", "bundle.pem"}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_EQ(member(oci_repository(), "spec", "certSecretRef"), Json({{"name", "ca-bundle"}}));
    EXPECT_EQ(member(copy("ca-bundle"), "type"), "Opaque");
    EXPECT_EQ(member(copy("ca-bundle"), "data", "ca.crt"), base::encode_base64(kCertificate));
    EXPECT_EQ(member(remote_bundle(), "data"), Json({{"ca.crt", kCertificate}}));

    std::string const renewed = std::string{kCertificate} + kCertificate;
    put_bundle(renewed);
    ASSERT_TRUE(eventually([&] {
        return member(copy("ca-bundle"), "data", "ca.crt") == base::encode_base64(renewed) &&
               member(remote_bundle(), "data", "ca.crt") == renewed;
    })) << story();

    configure(Json::object());
    ASSERT_TRUE(eventually([&] { return copy("ca-bundle").is_null() && remote_bundle().is_null(); })) << story();
    ASSERT_TRUE(eventually([&] { return member(oci_repository(), "spec", "certSecretRef").is_null(); })) << story();
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

}  // namespace
}  // namespace integration
