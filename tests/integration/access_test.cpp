#include "journey.hpp"

/// Contract section 5: access to the control plane that is somebody else's, or that is refused.
namespace integration {
namespace {

class Access : public Journey {};

TEST_F(Access, ThatBelongsToSomebodyElseIsNeverTakenOver) {
    std::string const namespace_ = kro::tenant_namespace(tenant_);
    create(*platform_, k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}});
    Json const theirs = create(*platform_, kro::kAccessRequests,
                               {{"apiVersion", k8s::api_version(kro::kAccessRequests)},
                                {"kind", "AccessRequest"},
                                {"metadata",
                                 {{"name", kro::request_name(tenant_)},
                                  {"namespace", namespace_},
                                  {"labels", {{"openmcp.cloud/managed-by", "somebody-else"}}}}},
                                {"spec", {{"requestRef", {{"name", "acme"}, {"namespace", namespace_}}}}}});
    hold(kro::kAccessRequests);
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("openmcp.cloud/managed-by"), std::string::npos) << message();
    EXPECT_NE(message().find("somebody-else"), std::string::npos) << message();
    EXPECT_EQ(access_request(), theirs);
    EXPECT_TRUE(helm_release().is_null());

    delete_kro();
    ASSERT_TRUE(eventually([&] { return is_gone(); })) << story();
    EXPECT_EQ(access_request(), theirs);
}

TEST_F(Access, ThatIsDeniedIsReportedWithThePlatformsReason) {
    hold(kro::kAccessRequests);
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return access_request().is_object(); })) << story();
    deny_access("the project has no budget left");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("the project has no budget left"), std::string::npos) << message();
    EXPECT_EQ(phase(), "Progressing");

    release(kro::kAccessRequests);
    change(*platform_, kro::kAccessRequests, in_tenant(kro::request_name(tenant_)),
           {{"spec", {{"clusterRef", {{"name", "mcp"}, {"namespace", "default"}}}}}}, "platform");
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
}

TEST_F(Access, ThatIsDeletedByHandIsAskedForAnew) {
    start();
    configure(Json::object());
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    Json const before = access_request();
    destroy(*platform_, kro::kAccessRequests, in_tenant(kro::request_name(tenant_)));
    ASSERT_TRUE(settled());
    // It waits for the finalizer, which its owner alone may remove.
    change(*platform_, kro::kAccessRequests, in_tenant(kro::request_name(tenant_)), {{"metadata", {{"finalizers", nullptr}}}});
    ASSERT_TRUE(eventually([&] {
        Json const now = access_request();
        return now.is_object() && k8s::uid_of(now) != k8s::uid_of(before) && is_ready();
    })) << story();
}

}  // namespace
}  // namespace integration
