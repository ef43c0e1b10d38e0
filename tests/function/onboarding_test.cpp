#include "function/reconcile/onboarding.hpp"

#include "function/embedded/stand_in.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/memory_api.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using kro::SharedApi;
using support::json;
using support::kNever;
using support::kNoon;

k8s::ObjectKey const kKey{"openmcp-system", "kro.services.openmcp.cloud--onboarding"};
k8s::ObjectKey const kSecret{"openmcp-system", "onboarding.kubeconfig"};

/// A platform, and the connections that were opened with what it granted.
struct Onboarding {
    std::shared_ptr<k8s::MemoryApi> platform = std::make_shared<k8s::MemoryApi>([] { return kNoon; });
    SharedApi opened = std::make_shared<k8s::MemoryApi>([] { return kNoon; });
    std::vector<k8s::ClusterAccess> accesses;
    kro::OnboardingAccess access{platform, "openmcp-system", [this](k8s::ClusterAccess const& one) -> k8s::Result<SharedApi> {
                                     accesses.push_back(one);
                                     return opened;
                                 }};

    Onboarding() {
        kro::serve_platform_kinds(*platform);
        platform->put(k8s::kNamespaces, json(R"({"metadata": {"name": "openmcp-system"}})"));
    }
    void grant(k8s::Resource const& resource) const {
        Json request = platform->find(resource, kKey).value();
        request["status"] = json(R"({"phase": "Granted", "observedGeneration": 1})");
        if (resource == kro::kAccessRequests) request["status"]["secretRef"]["name"] = kSecret.name;
        platform->put(resource, request);
    }
    void write_secret(std::string const& token) const {
        Json data = Json::object();
        data["kubeconfig"] =
            "apiVersion: v1\nkind: Config\ncurrent-context: o\nclusters: [{name: o, cluster: {server: \"https://o.test\"}}]\n"
            "contexts: [{name: o, context: {cluster: o, user: u}}]\nusers: [{name: u, user: {token: " +
            token + "}}]\n";
        platform->put(k8s::kSecrets, support::secret(kSecret.name, "Opaque", data));
    }
    std::string refused() {
        auto const found = access.find(kNever);
        EXPECT_FALSE(found);
        EXPECT_EQ(found.error().kind, k8s::Error::Kind::Unavailable) << "another try may find it granted";
        return found ? "" : found.error().message;
    }
    bool has(k8s::Resource const& resource) const { return platform->find(resource, kKey).has_value(); }
};

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(OnboardingAccess, AsksForTheClusterThenForAccessThenConnects) {
    Onboarding onboarding;
    EXPECT_TRUE(contains(onboarding.refused(), "ClusterRequest"));
    Json const cluster = onboarding.platform->find(kro::kClusterRequests, kKey).value();
    EXPECT_EQ(cluster["spec"], json(R"({"purpose": "onboarding"})"));
    EXPECT_EQ(k8s::label_of(cluster, "openmcp.cloud/managed-by"), "kro.services.openmcp.cloud");
    EXPECT_FALSE(onboarding.has(kro::kAccessRequests)) << "not before the cluster is granted";

    onboarding.grant(kro::kClusterRequests);
    EXPECT_TRUE(contains(onboarding.refused(), "AccessRequest"));
    Json const access = onboarding.platform->find(kro::kAccessRequests, kKey).value();
    EXPECT_EQ(access["spec"]["requestRef"],
              json(R"({"name": "kro.services.openmcp.cloud--onboarding", "namespace": "openmcp-system"})"));
    EXPECT_EQ(access["spec"]["token"]["permissions"],
              json(R"([{"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}])"));
    EXPECT_EQ(k8s::label_of(access, "openmcp.cloud/managed-by"), "kro.services.openmcp.cloud");
    EXPECT_TRUE(k8s::finalizers_of(access).empty());

    onboarding.grant(kro::kAccessRequests);
    onboarding.write_secret("one");
    EXPECT_EQ(onboarding.access.find(kNever).value(), onboarding.opened);
    onboarding.platform->forget_requests();
    EXPECT_EQ(onboarding.access.find(kNever).value(), onboarding.opened);
    EXPECT_EQ(onboarding.accesses.size(), 1U);
    EXPECT_EQ(onboarding.platform->counts().rounds, 0U) << "the connection is kept";
}

TEST(OnboardingAccess, WritesNothingWhileItWaits) {
    Onboarding onboarding;
    onboarding.refused();
    onboarding.platform->forget_requests();
    onboarding.refused();
    EXPECT_EQ(onboarding.platform->counts().writes, 0U);
}

TEST(OnboardingAccess, IsNotGrantedForAnOlderGeneration) {
    Onboarding onboarding;
    onboarding.refused();
    onboarding.grant(kro::kClusterRequests);
    Json request = onboarding.platform->find(kro::kClusterRequests, kKey).value();
    request["metadata"]["generation"] = 2;
    onboarding.platform->put(kro::kClusterRequests, request);
    onboarding.refused();
    EXPECT_FALSE(onboarding.has(kro::kAccessRequests));
}

TEST(OnboardingAccess, SaysThatItWasDenied) {
    Onboarding onboarding;
    onboarding.refused();
    Json request = onboarding.platform->find(kro::kClusterRequests, kKey).value();
    request["status"] = json(R"({"phase": "Denied", "observedGeneration": 1})");
    onboarding.platform->put(kro::kClusterRequests, request);
    EXPECT_TRUE(contains(onboarding.refused(), "Denied"));
}

TEST(OnboardingAccess, NeverTakesOverARequestOfSomeoneElse) {
    Onboarding onboarding;
    Json foreign = json(R"({"metadata": {"labels": {"openmcp.cloud/managed-by": "other"}}, "spec": {"purpose": "onboarding"}})");
    foreign["metadata"]["name"] = kKey.name;
    foreign["metadata"]["namespace"] = kKey.namespace_;
    Json const before = onboarding.platform->put(kro::kClusterRequests, foreign);
    EXPECT_TRUE(contains(onboarding.refused(), "openmcp.cloud/managed-by"));
    EXPECT_EQ(onboarding.platform->find(kro::kClusterRequests, kKey), before);
}

TEST(OnboardingAccess, WaitsForASecretThatIsNotThereOrEmpty) {
    Onboarding onboarding;
    onboarding.refused();
    onboarding.grant(kro::kClusterRequests);
    onboarding.refused();
    onboarding.grant(kro::kAccessRequests);
    EXPECT_FALSE(onboarding.access.find(kNever));
    onboarding.platform->put(k8s::kSecrets, support::secret(kSecret.name, "Opaque", json("{}")));
    EXPECT_TRUE(contains(onboarding.refused(), kSecret.name));
    onboarding.write_secret("one");
    EXPECT_TRUE(onboarding.access.find(kNever));
}

TEST(OnboardingAccess, ReadsTheSecretAgainAfterItsTokenWasRefused) {
    Onboarding onboarding;
    onboarding.refused();
    onboarding.grant(kro::kClusterRequests);
    onboarding.refused();
    onboarding.grant(kro::kAccessRequests);
    onboarding.write_secret("one");
    onboarding.access.find(kNever).value();
    auto const& credentials = onboarding.accesses.front().credentials;
    EXPECT_EQ(credentials(k8s::Freshness::Cached).value()->token, "one");
    onboarding.write_secret("two");
    EXPECT_EQ(credentials(k8s::Freshness::Cached).value()->token, "one");
    EXPECT_EQ(credentials(k8s::Freshness::Anew).value()->token, "two");
    EXPECT_EQ(credentials(k8s::Freshness::Cached).value()->token, "two");
    onboarding.platform->erase(k8s::kSecrets, kSecret);
    EXPECT_EQ(credentials(k8s::Freshness::Anew).value()->token, "two") << "the last one stays in use";
}

}  // namespace
