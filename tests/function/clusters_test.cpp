#include "function/reconcile/clusters.hpp"

#include "function/tenant/kinds.hpp"
#include "k8s/memory_api.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

namespace {

using base::Json;
using kro::Addressed;
using kro::Cluster;
using kro::Clusters;
using kro::SharedApi;
using support::json;
using support::kNever;
using support::kNoon;

kro::Tenant const kAcme = support::tenant_named("acme");

std::shared_ptr<k8s::MemoryApi> server() {
    return std::make_shared<k8s::MemoryApi>([] { return kNoon; });
}

kro::FindOnboarding always(SharedApi api) {
    return [api](base::Deadline) { return k8s::Result<SharedApi>{api}; };
}

base::Failure<k8s::Error> failure(k8s::Error::Kind kind, std::string message) {
    k8s::Error error;
    error.kind = kind;
    error.message = std::move(message);
    return base::Failure{std::move(error)};
}

Addressed namespaces_of(Cluster cluster) { return {cluster, k8s::list(k8s::kNamespaces, {})}; }

Json kubeconfig(std::string const& uid, std::string const& version) {
    Json secret = support::kubeconfig_secret(kAcme);
    secret["metadata"]["uid"] = uid;
    secret["metadata"]["resourceVersion"] = version;
    return secret;
}

struct Connections {
    std::shared_ptr<k8s::MemoryApi> platform = server();
    std::shared_ptr<k8s::MemoryApi> control_plane = server();
    std::vector<std::string> made;
    Clusters clusters{platform, always(server()), [this](std::string const& text) -> k8s::Result<SharedApi> {
                          made.push_back(text);
                          return SharedApi{control_plane};
                      }};

    bool ask(Json const& secret) {
        Addressed const one = namespaces_of(Cluster::ControlPlane);
        return clusters.send({&one, 1}, secret, kNever).front().result.has_value();
    }
};

TEST(Clusters, AnswerInTheOrderOfTheQuestions) {
    Connections to;
    to.platform->put(k8s::kNamespaces, json(R"({"metadata": {"name": "platform"}})"));
    to.control_plane->put(k8s::kNamespaces, json(R"({"metadata": {"name": "control-plane"}})"));
    std::vector<Addressed> const round{{Cluster::ControlPlane, k8s::get(k8s::kNamespaces, {{}, "control-plane"})},
                                       {Cluster::Platform, k8s::get(k8s::kNamespaces, {{}, "platform"})},
                                       {Cluster::Onboarding, k8s::get(k8s::kNamespaces, {{}, "none"})},
                                       {Cluster::Platform, k8s::get(k8s::kNamespaces, {{}, "control-plane"})}};
    auto const answers = to.clusters.send(round, kubeconfig("u", "1"), kNever);
    ASSERT_EQ(answers.size(), 4U);
    EXPECT_EQ(k8s::name_of(*answers[0].result), "control-plane");
    EXPECT_EQ(k8s::name_of(*answers[1].result), "platform");
    EXPECT_FALSE(answers[2].result);
    EXPECT_FALSE(answers[3].result);
    EXPECT_EQ(to.platform->counts().rounds, 1U) << "one batch per server";
}

TEST(Clusters, AreOneServerWhereTheyAreTheSame) {
    auto const both = server();
    Clusters clusters{both, always(both),
                      [](std::string const&) { return k8s::Result<SharedApi>{failure(k8s::Error::Kind::Unusable, "no")}; }};
    std::vector<Addressed> const round{namespaces_of(Cluster::Platform), namespaces_of(Cluster::Onboarding)};
    clusters.send(round, nullptr, kNever);
    EXPECT_EQ(both->counts().rounds, 1U);
}

TEST(Clusters, InTurnAreAskedOneAfterTheOtherOnTheThreadThatAsks) {
    /// Keeps who asked.
    struct Witnessed : k8s::Api {
        std::vector<std::thread::id>& askers;
        explicit Witnessed(std::vector<std::thread::id>& into) : askers(into) {}
        std::vector<k8s::Answer> send(std::span<k8s::Request const> batch, base::Deadline) override {
            askers.push_back(std::this_thread::get_id());
            std::vector<k8s::Answer> answers;
            for (std::size_t i = 0; i < batch.size(); ++i) answers.push_back({Json::object(), {}});
            return answers;
        }
    };
    std::vector<std::thread::id> askers;
    Clusters clusters{std::make_shared<Witnessed>(askers), always(std::make_shared<Witnessed>(askers)),
                      [](std::string const&) { return k8s::Result<SharedApi>{failure(k8s::Error::Kind::Unusable, "no")}; },
                      Clusters::Sending::InTurn};
    std::vector<Addressed> const round{namespaces_of(Cluster::Platform), namespaces_of(Cluster::Onboarding)};
    for (auto const& answer : clusters.send(round, nullptr, kNever)) EXPECT_TRUE(answer.result);
    EXPECT_EQ(askers, std::vector(2, std::this_thread::get_id()));
}

/// Answers only when as many as `together` are asking at the same time.
class Meeting : public k8s::Api {
  public:
    explicit Meeting(std::latch& together) : together_(together) {}
    std::vector<k8s::Answer> send(std::span<k8s::Request const> batch, base::Deadline) override {
        together_.arrive_and_wait();
        std::vector<k8s::Answer> answers;
        for (std::size_t i = 0; i < batch.size(); ++i) answers.push_back({Json::object(), {}});
        return answers;
    }

  private:
    std::latch& together_;
};

TEST(Clusters, AreAskedAtTheSameTime) {
    std::latch together{3};
    SharedApi const control_plane = std::make_shared<Meeting>(together);
    Clusters clusters{std::make_shared<Meeting>(together), always(std::make_shared<Meeting>(together)),
                      [control_plane](std::string const&) { return k8s::Result<SharedApi>{control_plane}; }};
    std::vector<Addressed> const round{namespaces_of(Cluster::Platform), namespaces_of(Cluster::Onboarding),
                                       namespaces_of(Cluster::ControlPlane)};
    for (auto const& answer : clusters.send(round, kubeconfig("u", "1"), kNever)) EXPECT_TRUE(answer.result);
}

TEST(Clusters, FailAloneWhereOneCannotBeFound) {
    Clusters clusters{
        server(),
        [](base::Deadline) { return k8s::Result<SharedApi>{failure(k8s::Error::Kind::Unavailable, "not granted yet")}; },
        [](std::string const&) { return k8s::Result<SharedApi>{failure(k8s::Error::Kind::Unusable, "exec is refused")}; }};
    std::vector<Addressed> const round{namespaces_of(Cluster::Onboarding), namespaces_of(Cluster::Platform),
                                       namespaces_of(Cluster::ControlPlane)};
    auto const answers = clusters.send(round, kubeconfig("u", "1"), kNever);
    EXPECT_EQ(answers[0].result.error().message, "not granted yet");
    EXPECT_TRUE(answers[1].result);
    EXPECT_EQ(answers[2].result.error().kind, k8s::Error::Kind::Unusable);
    EXPECT_NE(answers[2].result.error().message.find("exec is refused"), std::string::npos);
    EXPECT_NE(answers[2].result.error().message.find(k8s::name_of(kubeconfig("u", "1"))), std::string::npos)
        << "names the Secret";
}

TEST(ControlPlaneConnection, IsKeptForTheSameSecretInTheSameVersion) {
    Connections to;
    EXPECT_TRUE(to.ask(kubeconfig("u", "1")));
    EXPECT_TRUE(to.ask(kubeconfig("u", "1")));
    EXPECT_EQ(to.made.size(), 1U);
    EXPECT_TRUE(to.ask(kubeconfig("u", "2")));
    EXPECT_EQ(to.made.size(), 2U) << "rotated";
    EXPECT_TRUE(to.ask(kubeconfig("v", "1")));
    EXPECT_EQ(to.made.size(), 3U) << "made anew";
}

TEST(ControlPlaneConnection, IsMadeAnewAfterItWasForgotten) {
    Connections to;
    to.ask(kubeconfig("u", "1"));
    to.clusters.forget(kubeconfig("u", "1"));
    to.ask(kubeconfig("u", "1"));
    EXPECT_EQ(to.made.size(), 2U);
}

TEST(ControlPlaneConnection, IsDroppedWhenSixtyFourOthersWereUsedSince) {
    Connections to;
    for (int i = 0; i < 65; ++i) to.ask(kubeconfig("u" + std::to_string(i), "1"));
    to.ask(kubeconfig("u64", "1"));
    EXPECT_EQ(to.made.size(), 65U);
    to.ask(kubeconfig("u0", "1"));
    EXPECT_EQ(to.made.size(), 66U);
}

TEST(ControlPlaneConnection, NeedsAKubeconfig) {
    Connections to;
    EXPECT_FALSE(to.ask(nullptr));
    Json empty = kubeconfig("u", "1");
    empty.erase("data");
    EXPECT_FALSE(to.ask(empty));
    EXPECT_TRUE(to.made.empty());
}

TEST(Kros, HaveThePluralThatIsInstalled) {
    auto const onboarding = server();
    Clusters clusters{server(), always(onboarding),
                      [](std::string const&) { return k8s::Result<SharedApi>{failure(k8s::Error::Kind::Unusable, "no")}; }};
    EXPECT_EQ(clusters.kros(), kro::kKros);
    EXPECT_FALSE(clusters.rediscover_kros(kNever)) << "nothing is installed";
    EXPECT_EQ(clusters.kros().plural, "kros");
    onboarding->serve({"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"});
    EXPECT_TRUE(clusters.rediscover_kros(kNever));
    EXPECT_EQ(clusters.kros().plural, "kroes");
    EXPECT_FALSE(clusters.rediscover_kros(kNever)) << "it is known already";
    onboarding->stop_serving({"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"});
    onboarding->serve(kro::kKros);
    EXPECT_TRUE(clusters.rediscover_kros(kNever));
    EXPECT_EQ(clusters.kros().plural, "kros");
}

}  // namespace
