#include "function/handle/route.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using events::ObjectEvent;
using kro::ForEveryone;
using kro::ForNamespace;
using kro::ForNobody;
using kro::ForTenant;
using kro::ForUsersOf;
using kro::Route;

kro::Tenant const kAcme = support::tenant_named("acme");

ObjectEvent about(Json const& object, ObjectEvent::Change change = ObjectEvent::Change::Updated) {
    return {change,
            base::text_of(object["apiVersion"]),
            base::text_of(object["kind"]),
            k8s::namespace_of(object),
            k8s::name_of(object),
            object};
}

Route routed(events::Meaning const& meaning) { return kro::route(meaning, {.name = "kro", .namespace_ = "openmcp-system"}); }

ForTenant for_tenant(Json const& object) { return std::get<ForTenant>(routed(about(object))); }

TEST(Route, OfAKroIsItsTenant) {
    ForTenant const route = for_tenant(support::stored(support::kro_named("acme")));
    EXPECT_EQ(route.tenant, kAcme);
    EXPECT_FALSE(route.flux_object);
    EXPECT_EQ(route.resource_version, "100");
}

TEST(Route, OfAKroInAnyVersionAndWithoutItsContentsIsItsTenant) {
    ObjectEvent event = about(support::kro_named("acme"));
    event.api_version = "kro.services.openmcp.cloud/v2";
    event.object = nullptr;
    ForTenant const route = std::get<ForTenant>(routed(event));
    EXPECT_EQ(route.tenant, kAcme);
    EXPECT_EQ(route.resource_version, "") << "so that it is taken for news";
}

TEST(Route, OfADeletedObjectIsAlwaysNews) {
    auto const route =
        std::get<ForTenant>(routed(about(support::stored(support::kro_named("acme")), ObjectEvent::Change::Deleted)));
    EXPECT_EQ(route.resource_version, "");
}

TEST(Route, OfAKroOfAnotherGroupIsNobody) {
    Json other = support::kro_named("acme");
    other["apiVersion"] = "other.test/v1";
    EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(about(other))));
}

TEST(Route, OfTheProviderConfigIsEveryone) {
    EXPECT_TRUE(std::holds_alternative<ForEveryone>(routed(about(support::provider_config()))));
}

TEST(Route, OfAnotherProviderConfigIsNobody) {
    Json other = support::provider_config();
    other["metadata"]["name"] = "other";
    EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(about(other))));
}

TEST(Route, OfAPingIsEveryone) { EXPECT_TRUE(std::holds_alternative<ForEveryone>(routed(events::Ping{}))); }

TEST(Route, OfAnythingElseIsNobody) { EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(events::Other{}))); }

TEST(Route, OfASourceSecretOrConfigMapIsItsUsers) {
    auto const secret = std::get<ForUsersOf>(routed(about(support::pull_secret("pull"))));
    EXPECT_EQ(secret.kind, "Secret");
    EXPECT_EQ(secret.name, "pull");
    EXPECT_EQ(std::get<ForUsersOf>(routed(about(support::ca_bundle("ca")))).kind, "ConfigMap");
}

TEST(Route, OfAnObjectOfOursIsItsTenant) {
    for (auto const& object : {support::oci_repository(kAcme), support::helm_release(kAcme)}) {
        ForTenant const route = for_tenant(support::ours(object, kAcme));
        EXPECT_EQ(route.tenant, kAcme);
        EXPECT_TRUE(route.flux_object);
    }
    EXPECT_FALSE(for_tenant(support::access_request(kAcme)).flux_object);
    Json const copy = support::ours(support::in_namespace(support::pull_secret("pull"), kro::tenant_namespace(kAcme)), kAcme);
    EXPECT_EQ(for_tenant(copy).tenant, kAcme);
}

TEST(Route, OfAnObjectInATenantsNamespaceThatDoesNotNameItIsTheNamespace) {
    auto const route = std::get<ForNamespace>(routed(about(support::helm_release(kAcme))));
    EXPECT_EQ(route.namespace_, kro::tenant_namespace(kAcme));
}

TEST(Route, OfForeignObjectsElsewhereIsNobody) {
    Json const secret = support::in_namespace(support::pull_secret("pull"), "default");
    EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(about(secret))));
    Json const release = support::in_namespace(support::helm_release(kAcme), "default");
    EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(about(release))));
    Json pod = support::in_namespace(support::pull_secret("pod"), kro::tenant_namespace(kAcme));
    pod["kind"] = "Pod";
    EXPECT_TRUE(std::holds_alternative<ForNobody>(routed(about(pod))));
}

TEST(Route, OfTheAccessToTheOnboardingClusterIsEveryone) {
    Json request = support::in_namespace(support::access_request(kAcme), "openmcp-system");
    request["metadata"]["name"] = "kro.services.openmcp.cloud--onboarding";
    EXPECT_TRUE(std::holds_alternative<ForEveryone>(routed(about(request))));
}

}  // namespace
