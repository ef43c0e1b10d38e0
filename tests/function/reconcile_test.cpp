#include "function/reconcile/reconcile.hpp"

#include "function/tenant/desired.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using base::Json;
using base::member;
using kro::About;
using kro::Cluster;
using kro::Outcome;
using kro::Report;
using kro::Tenant;
using support::json;
using support::kro_named;
using support::World;
using Verb = k8s::Request::Verb;

Tenant const kAcme = support::tenant_named("acme");

std::size_t rounds(Report const& report) { return report.rounds.size(); }

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

// --- What it costs

TEST(Cost, OfATenantFromCreateToReadyIsAtMostTwentyRequests) {
    World world;
    world.put_kro(kro_named("acme"));
    auto const settled = world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_LE(settled.requests, 20U);
    RecordProperty("requests", static_cast<int>(settled.requests));
    for (auto const& report : settled.reports) EXPECT_LE(rounds(report), 4U);
}

TEST(Cost, OfATenantWithAnEventForEveryChangeIsBoundedToo) {
    World world;
    world.put_kro(kro_named("acme"));
    auto const settled = world.settle(World::Pace::Each);
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_LE(settled.requests, 60U);
    RecordProperty("requests", static_cast<int>(settled.requests));
    RecordProperty("events", static_cast<int>(settled.events));
}

TEST(Cost, OfASteadyTenantsEventIsTwoRoundsOfReads) {
    World world;
    world.install(kro_named("acme"));
    for (auto const about : {About::Anything, About::FluxObject}) {
        Report const report = world.reconcile(kAcme, about);
        EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done);
        EXPECT_EQ(report.writes, 0U);
        EXPECT_LE(rounds(report), 2U);
        EXPECT_LE(report.requests, about == About::FluxObject ? 5U : 7U);  // the list of our copies, and the kubeconfig
    }
}

TEST(Cost, OfASteadyTenantIsTheSameWithThePlatformsOwnFinalizerOnItsAccessRequest) {
    World world;
    world.install(kro_named("acme"));
    Json request = world.access_request_of(kAcme);
    request["metadata"]["finalizers"].push_back("platform.example.com/access");
    world.put(request);
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(Cost, OfASteadyTenantWithPullSecretsInItsValuesIsOneRoundMore) {
    World world;
    world.put(support::pull_secret("img"));
    world.put(support::provider_config(json(R"({"values": {"imagePullSecrets": [{"name": "img"}]}})")));
    world.install(kro_named("acme"));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.writes, 0U);
    EXPECT_LE(rounds(report), 3U);
}

TEST(Cost, OfANewVersionIsFourRounds) {
    World world;
    world.install(kro_named("acme"));
    Json kro = world.kro(kAcme);
    kro["spec"]["version"] = "0.9.2";
    kro["metadata"]["generation"] = 2;
    world.put(kro, Cluster::Onboarding);
    Report const report = world.reconcile(kAcme);
    EXPECT_LE(rounds(report), 4U);
    EXPECT_EQ(report.writes, 2U);  // the OCIRepository and the status
}

TEST(Cost, OfNewValuesIsFourRounds) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::provider_config(json(R"({"values": {"replicas": 3}})")));
    Report const report = world.reconcile(kAcme);
    EXPECT_LE(rounds(report), 4U);
    EXPECT_EQ(report.writes, 2U);  // the HelmRelease and the status
}

TEST(Cost, OfNewValuesThatNamePullSecretsIsOneRoundMore) {
    World world;
    world.put(support::pull_secret("img"));
    world.put(support::provider_config(json(R"({"values": {"imagePullSecrets": [{"name": "img"}]}})")));
    world.install(kro_named("acme"));
    world.put(support::provider_config(json(R"({"values": {"imagePullSecrets": [{"name": "img"}], "replicas": 3}})")));
    EXPECT_LE(rounds(world.reconcile(kAcme)), 5U);
}

TEST(Cost, OfPullSecretsThatComeIntoTheValuesChangeAndGoIsBounded) {
    World world;
    world.put(support::pull_secret("img"));
    world.install(kro_named("acme"));
    world.put(kro::bare_namespace(kro::kControlPlaneNamespace), Cluster::ControlPlane);  // as the installation has made it
    world.put(support::provider_config(json(R"({"values": {"imagePullSecrets": [{"name": "img"}]}})")));
    EXPECT_LE(rounds(world.reconcile(kAcme)), 5U);
    world.settle();
    world.put(support::pull_secret("img", "other.registry.test"));
    EXPECT_LE(rounds(world.reconcile(kAcme)), 5U);
    world.settle();
    world.put(support::provider_config());
    EXPECT_LE(rounds(world.reconcile(kAcme)), 5U);
}

TEST(Cost, OfAPullSecretThatIsTakenAwayIsFourRounds) {
    World world;
    world.put(support::pull_secret("pull"));
    world.put(support::provider_config(json(R"({"imagePullSecret": {"name": "pull"}})")));
    world.install(kro_named("acme"));
    world.put(support::provider_config());
    Report const report = world.reconcile(kAcme);
    EXPECT_LE(rounds(report), 4U);
    EXPECT_EQ(report.writes, 3U);  // the copy, the OCIRepository and the status
}

TEST(Cost, OfADeletionIsBounded) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::deleted(world.kro(kAcme)), Cluster::Onboarding);
    auto const settled = world.settle();
    ASSERT_TRUE(world.kro(kAcme).is_null());
    EXPECT_LE(settled.requests, 40U);
    RecordProperty("requests", static_cast<int>(settled.requests));
}

TEST(Cost, OfAHelmReleaseThatBecomesReadyIsAtMostEightRequests) {
    World world;
    world.stand_in.reset();
    world.put_kro(support::with_finalizer(kro_named("acme")));
    world.put(support::granted(support::access_request(kAcme)));
    world.put(support::kubeconfig_secret(kAcme));
    world.reconcile(kAcme);
    world.put(support::ready(world.oci_repository_of(kAcme)));
    world.reconcile(kAcme);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");

    world.put(support::ready(world.helm_release_of(kAcme)));
    Report const report = world.reconcile(kAcme, About::FluxObject);
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_LE(report.requests, 8U);
    RecordProperty("requests", static_cast<int>(report.requests));
}

// --- Convergence

TEST(Reconcile, WritesNothingForTheSameEventAgain) {
    World world;
    world.install(kro_named("acme"));
    std::string const before = base::dump_json(world.status_of(kAcme));
    world.now += std::chrono::hours{1};
    for (int i = 0; i < 100; ++i) EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
    EXPECT_EQ(base::dump_json(world.status_of(kAcme)), before);
}

TEST(Reconcile, DiesOutThoughEveryWriteOfItsOwnComesBackAsAnEvent) {
    World world;
    world.put_kro(kro_named("acme"));
    world.settle(World::Pace::Each);  // throws where it never ends
    world.forget_requests();
    auto const settled = world.settle(World::Pace::Each);
    EXPECT_EQ(settled.events, 0U);
}

TEST(Reconcile, DoesNotUndoTheDefaultsOfTheApiServer) {
    // Flux's CRD fills in provider and timeout, which we do not set.
    World world;
    world.install(kro_named("acme"));
    ASSERT_EQ(world.oci_repository_of(kAcme)["spec"]["provider"], "generic");
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(Reconcile, OfAKroThatIsGoneIsDone) {
    World world;
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(report.writes, 0U);
}

TEST(Reconcile, OfTwoTenantsKeepsThemApart) {
    World world;
    world.put_kro(kro_named("acme"));
    world.put_kro(kro_named("bolt", "0.9.2"));
    world.settle();
    Tenant const bolt = support::tenant_named("bolt");
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_EQ(world.phase_of(bolt), "Ready");
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["ref"]["tag"], "0.9.1");
    EXPECT_EQ(world.oci_repository_of(bolt)["spec"]["ref"]["tag"], "0.9.2");
}

TEST(Reconcile, FindsItsOwnAccessRequestForANameOfAnyLength) {
    for (std::size_t const length : {22U, 23U, 30U, 31U, 63U}) {
        World world;
        Tenant const tenant = support::tenant_named(std::string(length, 'n'));
        world.put_kro(kro_named(tenant.name));
        world.settle();
        EXPECT_EQ(world.phase_of(tenant), "Ready") << length;
        world.put(support::deleted(world.kro(tenant)), Cluster::Onboarding);
        world.settle();
        EXPECT_TRUE(world.kro(tenant).is_null()) << length;
    }
}

// --- Races

TEST(Conflict, WithAnotherFinalizerWhileOursIsSetKeepsBoth) {
    World world;
    world.put_kro(kro_named("acme"));
    world.onboarding->before(k8s::on(Verb::MergePatch, kro::kKros), [](k8s::MemoryApi& api) {
        k8s::send_one(api,
                      k8s::merge_patch(kro::kKros, {kAcme.namespace_, kAcme.name},
                                       json(R"({"metadata": {"finalizers": ["other/x"]}})"), "other"),
                      support::kNever)
            .value();
    });
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(k8s::finalizers_of(world.kro(kAcme)),
              (std::vector<std::string>{"other/x", "kro.services.openmcp.cloud/finalizer"}));
}

TEST(Conflict, WithAnotherFinalizerWhileOursIsTakenOffKeepsTheOther) {
    World world;
    world.put(support::deleted(support::with_finalizer(kro_named("acme"))), Cluster::Onboarding);
    world.onboarding->before(k8s::on(Verb::MergePatch, kro::kKros), [](k8s::MemoryApi& api) {
        // Nobody may add a finalizer to an object that is being deleted: it was there before, and this writer changes something else.
        Json kro = *api.find(kro::kKros, {kAcme.namespace_, kAcme.name});
        kro["metadata"]["finalizers"].push_back("other/x");
        kro["metadata"].erase("resourceVersion");
        api.put(kro::kKros, kro);
    });
    world.reconcile(kAcme);
    EXPECT_EQ(k8s::finalizers_of(world.kro(kAcme)), (std::vector<std::string>{"other/x"}));
}

TEST(Conflict, ThatNeverEndsAsksTheSenderToTryAgain) {
    World world;
    world.put_kro(kro_named("acme"));
    world.onboarding->fail_when(k8s::on(Verb::MergePatch, kro::kKros), k8s::conflict(), 1000);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_LE(report.requests, 40U);
}

TEST(Conflict, OfAnApplyWithAnObjectThatWasDeletedMeanwhileMakesItAnewFromAFreshLook) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::provider_config(json(R"({"values": {"a": 1}})")));
    world.platform->before(k8s::on(Verb::Apply, kro::kHelmReleases),
                           [](k8s::MemoryApi& api) { api.erase(kro::kHelmReleases, support::helm_release_key(kAcme)); });
    Report const report = world.reconcile(kAcme);
    EXPECT_NE(report.outcome.kind, Outcome::Kind::Retry) << report.outcome.why;
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["values"], json(R"({"a": 1})"));
}

TEST(Race, OfTwoProcessesEndsAsOneWould) {
    World one;
    one.put_kro(kro_named("acme"));
    one.settle();

    World both;
    both.put_kro(kro_named("acme"));
    // Before each write of the first process, the second one does all that it can.
    bool inside = false;
    auto const meddle = [&](k8s::MemoryApi&) {
        if (std::exchange(inside, true)) return;
        both.reconcile(kAcme);
        inside = false;
    };
    for (int i = 0; i < 6; ++i) {
        both.platform->before(k8s::is_write, meddle);
        both.reconcile(kAcme);
        both.settle();
    }
    auto const spec = [](World const& world) {
        return base::dump_json({world.access_request_of(kAcme)["spec"], world.oci_repository_of(kAcme)["spec"],
                                world.helm_release_of(kAcme)["spec"], world.kro(kAcme)["metadata"]["finalizers"],
                                world.status_of(kAcme)["phase"]});
    };
    EXPECT_EQ(spec(both), spec(one));
}

/// Reads are; an apply is, and so is a write that somebody else's change in between would stop.
bool is_safe(k8s::Request const& request) {
    if (k8s::is_write(request) && request.verb != Verb::Delete && request.field_manager != kro::kFieldManager) return false;
    switch (request.verb) {
        case Verb::Get:
        case Verb::List:
        case Verb::Discover:
        case Verb::Apply: return true;
        case Verb::Create: return request.resource == k8s::kNamespaces || request.resource == k8s::kEvents;
        case Verb::MergePatch: return !k8s::resource_version_of(request.body).empty();
        case Verb::JsonPatch: return request.body[0]["op"] == "test";
        case Verb::Delete: return !request.preconditions.uid.empty();
    }
    return false;
}

TEST(EveryWrite, IsAnApplyOrHasAPrecondition) {
    World world;
    world.put(support::pull_secret("pull"));
    world.put(support::pull_secret("img"));
    world.put(support::provider_config(
        json(R"({"imagePullSecret": {"name": "pull"}, "values": {"imagePullSecrets": [{"name": "img"}]}})")));
    world.put_kro(kro_named("acme"));
    world.settle();
    world.put(support::provider_config());
    world.settle();
    world.put(support::deleted(world.kro(kAcme)), Cluster::Onboarding);
    world.settle();
    ASSERT_TRUE(world.kro(kAcme).is_null());

    for (auto const cluster : {Cluster::Onboarding, Cluster::Platform, Cluster::ControlPlane}) {
        for (auto const& request : world.requests(cluster)) {
            EXPECT_TRUE(is_safe(request)) << k8s::describe(request) << base::dump_json(request.body);
        }
    }
}

TEST(EveryApply, OfAnObjectThatWasSeenCarriesItsUidAndVersion) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::provider_config(json(R"({"chartURL": "oci://other.test/kro", "values": {"a": 1}})")));
    world.forget_requests();
    world.reconcile(kAcme);
    int applies = 0;
    for (auto const& request : world.requests(Cluster::Platform)) {
        if (request.verb != Verb::Apply) continue;
        ++applies;
        EXPECT_NE(k8s::uid_of(request.body), "") << k8s::describe(request);
        EXPECT_NE(k8s::resource_version_of(request.body), "") << k8s::describe(request);
    }
    EXPECT_EQ(applies, 2);
}

// --- Faults of the API servers

struct Fault {
    std::string name;
    Cluster cluster;
    k8s::MemoryApi::Matches matches;
    k8s::Fault fault;
    std::vector<std::string> said;  ///< in the condition's message
    Outcome::Kind outcome;
};

class FailedRequest : public testing::TestWithParam<Fault> {};

TEST_P(FailedRequest, IsToldToTheTenant) {
    World world;
    world.put_kro(kro_named("acme"));
    world.api_of(GetParam().cluster).fail_when(GetParam().matches, GetParam().fault);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, GetParam().outcome) << report.outcome.why;
    k8s::Condition const ready = world.ready_of(kAcme);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(ready.reason, "ReconcileError");
    for (auto const& part : GetParam().said) EXPECT_TRUE(contains(ready.message, part)) << ready.message;
    EXPECT_EQ(world.event_messages(), (std::vector<std::string>{ready.message}));

    world.settle();
    EXPECT_NE(world.phase_of(kAcme), "") << "the next event goes on";
    world.reconcile(kAcme);
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

INSTANTIATE_TEST_SUITE_P(
    , FailedRequest,
    testing::Values(
        Fault{"ReadOfTheAccessRequest",
              Cluster::Platform,
              k8s::on(Verb::Get, kro::kAccessRequests),
              k8s::answer_with(500),
              {"platform cluster", "get accessrequests", "500", "tried again"},
              Outcome::Kind::Retry},
        Fault{"ReadOfTheProviderConfig",
              Cluster::Platform,
              k8s::on(Verb::Get, kro::kProviderConfigs),
              k8s::answer_with(403),
              {"platform cluster", "get providerconfigs", "403", "grant this right"},
              Outcome::Kind::Waiting},
        Fault{"NewNamespace",
              Cluster::Platform,
              k8s::on(Verb::Create, k8s::kNamespaces),
              k8s::answer_with(500),
              {"platform cluster", "create namespaces", "500"},
              Outcome::Kind::Retry},
        Fault{"NewAccessRequest",
              Cluster::Platform,
              k8s::on(Verb::Apply, kro::kAccessRequests),
              k8s::timeout(),
              {"platform cluster", "apply accessrequests"},
              Outcome::Kind::Retry},
        Fault{"FinalizerDeniedByAWebhook",
              Cluster::Onboarding,
              k8s::on(Verb::MergePatch, kro::kKros),
              k8s::answer_with(
                  403, R"({"kind": "Status", "message": "admission webhook \"no.test\" denied the request: no", "code": 403})"),
              {"onboarding cluster", "patch kros", "no.test"},
              Outcome::Kind::Waiting}),
    [](auto const& row) { return row.param.name; });

TEST(Failure, OfTheStatusItselfAsksTheSenderToTryAgain) {
    World world;
    world.put_kro(kro_named("acme"));
    world.onboarding->fail_when(k8s::on(Verb::Apply, kro::kKros), k8s::answer_with(500));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_TRUE(contains(report.outcome.why, "kros")) << report.outcome.why;
}

TEST(Failure, OfTheKroItselfAsksTheSenderToTryAgainAndWritesNothing) {
    for (auto const& fault : {k8s::answer_with(500), k8s::answer_with(403), k8s::timeout(), k8s::connection_refused()}) {
        World world;
        world.put_kro(kro_named("acme"));
        world.onboarding->fail_when(k8s::on(Verb::Get, kro::kKros), fault);
        Report const report = world.reconcile(kAcme);
        EXPECT_EQ(report.outcome.kind, Outcome::Kind::Retry);
        EXPECT_EQ(report.writes, 0U);
    }
}

TEST(Failure, OfAKubernetesEventChangesNothing) {
    World world;
    world.put(kro_named("acme"), Cluster::Onboarding);
    world.onboarding->fail_when(k8s::on(Verb::Create, k8s::kEvents), k8s::answer_with(403), 100);
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
}

TEST(Throttling, IsPassedOnToTheSenderWithoutAnotherRequest) {
    World world;
    world.put_kro(support::with_finalizer(kro_named("acme")));
    world.put(support::ours(support::granted(support::access_request(kAcme)), kAcme));
    world.put(support::kubeconfig_secret(kAcme));
    world.platform->fail_when(k8s::on(Verb::Apply), k8s::answer_with(429, {}, "2"), 100);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_EQ(report.outcome.retry_after, std::chrono::seconds{2});
    EXPECT_LE(report.writes, 2U);
}

TEST(KroThatDisappears, BetweenReadAndStatusIsASuccess) {
    World world;
    world.put_kro(support::with_finalizer(kro_named("acme")));
    world.onboarding->before(k8s::on(Verb::Apply, kro::kKros), [](k8s::MemoryApi& api) {
        api.erase(kro::kKros, {kAcme.namespace_, kAcme.name});
    });
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Done);
    EXPECT_TRUE(world.kro(kAcme).is_null()) << "the status must not make it anew";
}

TEST(KroThatDisappears, BeforeOurFinalizerIsOffIsASuccess) {
    World world;
    world.put(support::deleted(support::with_finalizer(kro_named("acme"))), Cluster::Onboarding);
    world.onboarding->before(k8s::on(Verb::MergePatch, kro::kKros), [](k8s::MemoryApi& api) {
        api.erase(kro::kKros, {kAcme.namespace_, kAcme.name});
    });
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Done);
}

TEST(KroThatDisappears, AndComesBackMeanwhileIsNotWrittenToByMistake) {
    World world;
    world.put_kro(support::with_finalizer(kro_named("acme")));
    world.onboarding->before(k8s::on(Verb::Apply, kro::kKros), [](k8s::MemoryApi& api) {
        api.erase(kro::kKros, {kAcme.namespace_, kAcme.name});
        api.put(kro::kKros, kro_named("acme", "0.9.3"));
    });
    world.reconcile(kAcme);
    EXPECT_TRUE(k8s::has_finalizer(world.kro(kAcme), kro::kFinalizer)) << "the new one was looked at afresh";
}

// --- Credentials of the control plane

struct WithPullSecrets : World {
    WithPullSecrets() {
        put(support::pull_secret("img"));
        put(support::provider_config(json(R"({"values": {"imagePullSecrets": [{"name": "img"}]}})")));
    }
};

TEST(Kubeconfig, ThatWasRotatedLeadsToANewConnectionAndNoNewHelmRelease) {
    WithPullSecrets world;
    world.install(kro_named("acme"));
    ASSERT_EQ(world.connected->size(), 1U);
    world.reconcile(kAcme);
    EXPECT_EQ(world.connected->size(), 1U) << "the connection is kept";

    Json secret = world.object(k8s::kSecrets, support::kubeconfig_key(kAcme));
    secret["metadata"].erase("resourceVersion");
    secret["data"] = support::kubeconfig_secret(kAcme)["data"];
    world.put(secret);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.writes, 0U);
    EXPECT_EQ(world.connected->size(), 2U);
    EXPECT_TRUE(contains(world.connected->back(), "t0ken"));
}

TEST(Kubeconfig, IsReadAgainOnceAfterA401) {
    WithPullSecrets world;
    world.install(kro_named("acme"));
    world.control_plane->fail_when(k8s::on(Verb::List, k8s::kSecrets), k8s::answer_with(401));
    world.forget_requests();
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done) << report.outcome.why;
    EXPECT_EQ(report.writes, 0U);
    auto const asked = world.requests(Cluster::Platform);
    EXPECT_EQ(std::count_if(asked.begin(), asked.end(),
                            [](auto const& request) { return request.key.name == support::kubeconfig_key(kAcme).name; }),
              2);
}

TEST(Kubeconfig, ThatStaysRefusedIsToldAndWaits) {
    WithPullSecrets world;
    world.install(kro_named("acme"));
    world.control_plane->fail_when(k8s::on(Verb::List, k8s::kSecrets), k8s::answer_with(401), 100);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "control plane")) << world.ready_of(kAcme).message;
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "credentials")) << world.ready_of(kAcme).message;
}

TEST(ControlPlane, ThatIsUnreachableDoesNotHoldUpTheSender) {
    WithPullSecrets world;
    world.put_kro(kro_named("acme"));
    world.control_plane->fail_when([](k8s::Request const&) { return true; }, k8s::timeout(), 1000);
    world.settle();
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "control plane")) << world.ready_of(kAcme).message;
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
}

// --- The plural

TEST(Plural, IsDiscoveredWhereAnOlderDefinitionIsInstalled) {
    World world;
    constexpr k8s::Resource kKroes{"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"};
    world.onboarding->stop_serving(kro::kKros);
    world.onboarding->serve(kKroes);
    world.put(support::provider_config());
    world.onboarding->put(kKroes, kro_named("acme"));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting) << report.outcome.why;
    Json const kro = *world.onboarding->find(kKroes, {kAcme.namespace_, kAcme.name});
    EXPECT_TRUE(k8s::has_finalizer(kro, kro::kFinalizer));
    EXPECT_EQ(kro["status"]["phase"], "Progressing");

    world.forget_requests();
    world.reconcile(kAcme);
    for (auto const& request : world.requests(Cluster::Onboarding)) EXPECT_NE(request.verb, Verb::Discover) << "once is enough";
}

TEST(Plural, ThatNobodyServesAsksTheSenderToTryAgain) {
    World world;
    world.onboarding->stop_serving(kro::kKros);
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Retry);
}

}  // namespace
