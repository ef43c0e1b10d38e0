#include "function/handle/resync.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using base::member;
using base::text_of;
using k8s::Json;
using k8s::on;
using kro::Cluster;
using kro::Finding;
using kro::Outcome;
using kro::Report;
using kro::Resync;
using kro::Tenant;
using support::kNever;
using support::kro_named;
using support::tenant_named;
using support::World;
using Verb = k8s::Request::Verb;
using namespace std::chrono_literals;

constexpr std::string_view kPingSource = "kro-function-resync";

kro::Tenant acme() { return tenant_named("acme"); }
std::string name_of(int number) { return "t" + std::to_string(100 + number); }

/// A resync, and what it found.
struct Pass {
    Report report;
    std::vector<Finding> found;
};

struct Wanted {
    Resync::Options options{.parallel = 1, .ping_source = std::string{kPingSource}};
    Resync::Cause cause = Resync::Cause::Tick;
    kro::Sink sink = nullptr;
    base::Deadline deadline = kNever;
};

Pass resync(World& world, Wanted const& wanted = {}) {
    Pass pass;
    kro::Context const context{world.clusters, world.provider};
    Resync::Hooks hooks;
    hooks.reconcile = [&](kro::Observed observed, base::Deadline deadline) {
        return kro::reconcile(context, std::move(observed), world.now, deadline);
    };
    hooks.found = [&](Finding const& finding) { pass.found.push_back(finding); };
    hooks.sink = wanted.sink;
    pass.report = Resync{context, wanted.options, std::move(hooks)}.run(wanted.cause, world.now, wanted.deadline);
    return pass;
}

void put_ping_source(World const& world, std::string const& schedule = "* * * * *") {
    world.put({{"apiVersion", "sources.knative.dev/v1"},
               {"kind", "PingSource"},
               {"metadata", {{"name", kPingSource}, {"namespace", support::kProviderNamespace}}},
               {"spec", {{"schedule", schedule}}}});
}

std::string schedule_of(World const& world) {
    Json const source = world.object(kro::kPingSources, {std::string{support::kProviderNamespace}, std::string{kPingSource}});
    return text_of(member(source, "spec", "schedule"));
}

Json provider_config_of(World const& world) { return world.object(kro::kProviderConfigs, {{}, "kro"}); }

/// Changes the ProviderConfig as an operator would.
void configure(World const& world, Json const& patch) {
    ASSERT_TRUE(k8s::send_one(*world.platform, k8s::merge_patch(kro::kProviderConfigs, {{}, "kro"}, patch, "operator"), kNever));
}

/// So many tenants, all Ready; requests forgotten, and one resync has said so.
void install(World& world, int count) {
    for (int i = 0; i < count; ++i) world.put_kro(kro_named(name_of(i)));
    world.settle();
    put_ping_source(world);
    EXPECT_EQ(resync(world).report.outcome.kind, Outcome::Kind::Done);
    world.settle();
    world.forget_requests();
}

void drift(World const& world, std::string const& name) {
    k8s::ObjectKey const key = support::helm_release_key(tenant_named(name));
    Json const patch = {{"spec", {{"values", {{"by", "hand"}}}}}};
    ASSERT_TRUE(k8s::send_one(*world.platform, k8s::merge_patch(kro::kHelmReleases, key, patch, "hand"), kNever));
}

bool is_drifted(World const& world, std::string const& name) {
    return !member(world.helm_release_of(tenant_named(name)), "spec", "values").is_null();
}

// --- What a settled tenant costs

TEST(Resync, OfSettledTenantsWritesNothingHoweverManyThereAre) {
    std::size_t requests = 0;
    for (int const count : {1, 30}) {
        World world;
        install(world, count);
        for (int i = 0; i < 3; ++i) {
            Pass const pass = resync(world);
            EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done) << pass.report.outcome.why;
            EXPECT_TRUE(pass.found.empty());
            EXPECT_EQ(pass.report.writes, 0U);
            // ProviderConfig and PingSource; Kros, AccessRequests, OCIRepositories, HelmReleases, Secrets.
            EXPECT_EQ(pass.report.requests, 7U);
            requests = pass.report.requests;
        }
        EXPECT_TRUE(world.writes().empty());
        EXPECT_TRUE(world.event_messages().empty());
    }
    EXPECT_EQ(requests, 7U);
}

TEST(Resync, AsksForPagesAndForNoSecretsContents) {
    World world;
    install(world, 12);
    EXPECT_EQ(resync(world, {.options = {.parallel = 1, .page_size = 5}}).report.requests, 1U + 4U * 3U + 1U)
        << "there are no copies";
    for (auto const cluster : {Cluster::Onboarding, Cluster::Platform}) {
        for (auto const& request : world.requests(cluster)) {
            if (request.verb != Verb::List) continue;
            EXPECT_EQ(request.limit, 5);
            bool const secrets = request.resource == k8s::kSecrets;
            EXPECT_EQ(request.contents == k8s::Request::Contents::Metadata, secrets);
            EXPECT_EQ(request.label_selector.empty(), cluster == Cluster::Onboarding);
            EXPECT_TRUE(request.key.namespace_.empty()) << "one list for all namespaces";
        }
    }
}

TEST(Resync, KnowsASettledCopyByItsDataAndAsksForNothingMore) {
    World world;
    world.put(support::pull_secret("chart-pull"));
    world.put(support::ca_bundle("corporate-ca"));
    world.put(support::provider_config(
        {{"imagePullSecret", {{"name", "chart-pull"}}}, {"caBundleRef", {{"name", "corporate-ca"}, {"key", "ca.crt"}}}}));
    install(world, 1);
    Pass const pass = resync(world);
    // The CA bundle also goes to the control plane, which only the control plane can tell.
    EXPECT_EQ(pass.report.writes, 0U);
    for (auto const& request : world.requests(Cluster::Platform)) {
        bool const copy = request.resource == k8s::kSecrets && request.verb == Verb::Get &&
                          request.key.namespace_.starts_with("mcp--") && !request.key.name.ends_with(".kubeconfig");
        EXPECT_FALSE(copy) << k8s::describe(request);
    }
}

TEST(Resync, RepairsACopyThatWasChangedByHand) {
    World world;
    world.put(support::pull_secret("chart-pull"));
    world.put(support::provider_config({{"imagePullSecret", {{"name", "chart-pull"}}}}));
    install(world, 3);
    k8s::ObjectKey const key = support::copy_key(tenant_named(name_of(1)), "chart-pull");
    Json const wanted = world.object(k8s::kSecrets, key)["data"];
    Json const patch = {{"data", {{".dockerconfigjson", "e30="}}}};
    ASSERT_TRUE(k8s::send_one(*world.platform, k8s::merge_patch(k8s::kSecrets, key, patch, "hand"), kNever));
    Pass const pass = resync(world);
    EXPECT_EQ(pass.found.size(), 1U);
    EXPECT_EQ(world.object(k8s::kSecrets, key)["data"], wanted);
}

// --- What it repairs

TEST(Resync, RepairsADriftedTenantInTwoRequests) {
    World world;
    install(world, 9);
    for (int const drifted : {2, 5, 8}) drift(world, name_of(drifted));
    world.forget_requests();
    Pass const pass = resync(world);
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done) << pass.report.outcome.why;
    ASSERT_EQ(pass.found.size(), 3U);
    for (auto const& finding : pass.found) EXPECT_EQ(finding.report.requests, 2U) << to_string(finding.tenant);
    for (int i = 0; i < 9; ++i) EXPECT_FALSE(is_drifted(world, name_of(i)));
}

TEST(Resync, MakesWhatWasRemovedByHandInFewRequests) {
    World world;
    install(world, 3);
    world.platform->erase(kro::kHelmReleases, support::helm_release_key(tenant_named(name_of(1))));
    Pass const pass = resync(world);
    ASSERT_EQ(pass.found.size(), 1U);
    // The HelmRelease that is gone, the kubeconfig, the Kro; the HelmRelease, the status.
    EXPECT_LE(pass.found[0].report.requests, 5U);
    EXPECT_FALSE(world.helm_release_of(tenant_named(name_of(1))).is_null());
}

TEST(Resync, LooksByNameAtWhatNoListHas) {
    World world;
    install(world, 3);
    k8s::ObjectKey const key = support::oci_repository_key(tenant_named(name_of(1)));
    std::string const uid = k8s::uid_of(world.object(kro::kOciRepositories, key));
    Json const patch = {{"metadata", {{"labels", {{"openmcp.cloud/managed-by", nullptr}}}}}};
    ASSERT_TRUE(k8s::send_one(*world.platform, k8s::merge_patch(kro::kOciRepositories, key, patch, "hand"), kNever));
    Pass const pass = resync(world);
    ASSERT_EQ(pass.found.size(), 1U);
    EXPECT_EQ(pass.found[0].needs, std::vector<std::string>{"look at OCIRepository kro-oci-repository on the platform cluster"});
    EXPECT_EQ(k8s::uid_of(world.object(kro::kOciRepositories, key)), uid);
    EXPECT_EQ(k8s::label_of(world.object(kro::kOciRepositories, key), "openmcp.cloud/managed-by"), "kro.services.openmcp.cloud");
}

TEST(Resync, MakesNothingForAKroThatHasGoneSinceItWasListed) {
    World world;
    install(world, 3);
    Tenant const gone = tenant_named(name_of(1));
    world.platform->erase(kro::kHelmReleases, support::helm_release_key(gone));
    world.platform->before(on(Verb::Get, kro::kHelmReleases), [&](k8s::MemoryApi&) {
        world.onboarding->erase(kro::kKros, {gone.namespace_, gone.name});
    });
    resync(world);
    EXPECT_TRUE(world.helm_release_of(gone).is_null());
}

TEST(Resync, BringsATenantAboutOfWhichNoEventTold) {
    World world;
    install(world, 2);
    world.put_kro(kro_named("acme"));
    world.onboarding->take_changes();
    resync(world);
    EXPECT_FALSE(world.access_request_of(acme()).is_null());
}

TEST(Resync, MovesADeletionOn) {
    World world;
    install(world, 2);
    Tenant const leaving = tenant_named(name_of(0));
    ASSERT_TRUE(k8s::send_one(*world.onboarding, k8s::remove(kro::kKros, {leaving.namespace_, leaving.name}, {}), kNever));
    world.onboarding->take_changes();
    resync(world);
    world.settle();
    resync(world);
    EXPECT_TRUE(world.kro(leaving).is_null());
    EXPECT_EQ(world.platform->all(kro::kHelmReleases).size(), 1U);
}

TEST(Resync, LeavesATenantAloneThatIsToBeIgnored) {
    World world;
    install(world, 2);
    Json kro = world.kro(tenant_named(name_of(0)));
    world.put(support::annotated(std::move(kro), kro::kOperationAnnotation, "ignore"), Cluster::Onboarding);
    drift(world, name_of(0));
    world.forget_requests();
    EXPECT_TRUE(resync(world).found.empty());
    EXPECT_TRUE(world.writes().empty());
}

// --- Orphans

void lose_kro(World const& world, Tenant const& tenant) {
    world.onboarding->erase(kro::kKros, {tenant.namespace_, tenant.name});
    world.onboarding->take_changes();
}

std::size_t ours_in(World const& world, Tenant const& tenant) {
    std::size_t count = 0;
    for (auto const& resource : {kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases, k8s::kSecrets}) {
        for (auto const& object : world.platform->all(resource)) {
            bool const here = k8s::namespace_of(object) == kro::tenant_namespace(tenant);
            if (here && !k8s::label_of(object, kro::kManagedByLabel).empty()) ++count;
        }
    }
    return count;
}

TEST(Orphan, IsCleanedUpByOneTickAndTheEventsThatFollow) {
    World world;
    world.put(support::pull_secret("chart-pull"));
    world.put(support::provider_config({{"imagePullSecret", {{"name", "chart-pull"}}}}));
    install(world, 3);
    Tenant const gone = tenant_named(name_of(1));
    ASSERT_EQ(ours_in(world, gone), 4U);
    lose_kro(world, gone);
    Pass const pass = resync(world);
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done) << pass.report.outcome.why;
    world.settle();
    EXPECT_EQ(ours_in(world, gone), 0U);
    EXPECT_EQ(ours_in(world, tenant_named(name_of(0))), 4U);
    EXPECT_TRUE(world.platform->find(k8s::kNamespaces, {{}, kro::tenant_namespace(gone)})) << "the namespace is not ours";
    EXPECT_TRUE(resync(world).found.empty());
}

TEST(Orphan, IsFoundByAnEventAboutWhatIsLeftOfIt) {
    World world;
    install(world, 1);
    Tenant const gone = tenant_named(name_of(0));
    lose_kro(world, gone);
    world.reconcile(gone, kro::About::FluxObject);
    world.settle();
    EXPECT_EQ(ours_in(world, gone), 0U);
}

TEST(Orphan, IsCleanedUpInTheOrderOfADeletion) {
    World world;
    install(world, 1);
    Tenant const gone = tenant_named(name_of(0));
    lose_kro(world, gone);
    world.platform->hold_deletion_of(kro::kHelmReleases);
    resync(world);
    EXPECT_TRUE(k8s::is_being_deleted(world.helm_release_of(gone)));
    EXPECT_FALSE(k8s::is_being_deleted(world.access_request_of(gone))) << "Flux still needs it to uninstall";
}

TEST(Orphan, KeepsEverythingWhileItsControlPlaneHasDefinitions) {
    World world;
    install(world, 1);
    Tenant const gone = tenant_named(name_of(0));
    lose_kro(world, gone);
    world.control_plane->put(kro::kResourceGraphDefinitions, support::resource_graph_definition("web"));
    Pass const pass = resync(world);
    ASSERT_EQ(pass.found.size(), 1U);
    EXPECT_TRUE(pass.found[0].orphaned);
    EXPECT_NE(pass.found[0].report.outcome.why.find("waiting for 1 kro ResourceGraphDefinition"), std::string::npos);
    EXPECT_EQ(pass.found[0].report.writes, 0U);
}

TEST(Orphan, IsNoneWhereTheKroHasComeSinceTheList) {
    World world;
    install(world, 2);
    Tenant const back = tenant_named(name_of(1));
    Json const kro = world.kro(back);
    lose_kro(world, back);
    world.onboarding->before(on(Verb::Get, kro::kKros, back.name), [&](k8s::MemoryApi& api) { api.put(kro::kKros, kro); });
    EXPECT_EQ(resync(world).report.writes, 0U);
    EXPECT_EQ(ours_in(world, back), 3U);
}

TEST(Orphan, IsNotWhatNamesATenantOfAnotherNamespace) {
    World world;
    install(world, 1);
    world.put(support::in_namespace(support::ours(support::oci_repository(acme()), acme()), "mcp--somebody"));
    EXPECT_TRUE(resync(world).found.empty());
}

TEST(Orphan, IsLeftAloneWhereItCantBeToldWhetherItsKroIsGone) {
    for (auto const& fault :
         {k8s::answer_with(500), k8s::answer_with(403), k8s::answer_with(404, R"({"kind":"Status","code":404})")}) {
        World world;
        install(world, 2);
        Tenant const gone = tenant_named(name_of(1));
        lose_kro(world, gone);
        world.onboarding->fail_when(on(Verb::Get, kro::kKros), fault, 10);
        resync(world);
        EXPECT_EQ(ours_in(world, gone), 3U);
        EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(gone)));
    }
}

// --- Pages that fail

struct Failure {
    char const* name;
    k8s::Fault fault;
};

void PrintTo(Failure const& failure, std::ostream* out) { *out << failure.name; }

class FailingPage : public testing::TestWithParam<Failure> {};

/// Each page of each list in turn; what the second tick finds is what there is.
TEST_P(FailingPage, LosesNothingAndDeletesNothing) {
    constexpr int kTenants = 7;
    constexpr int kPage = 3;
    for (auto const& resource : {kro::kKros, kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases, k8s::kSecrets}) {
        for (int page = 0; page < 3; ++page) {
            SCOPED_TRACE(std::string{resource.plural} + ", page " + std::to_string(page));
            World world;
            install(world, kTenants);
            drift(world, name_of(3));
            world.forget_requests();
            k8s::MemoryApi& api = resource == kro::kKros ? *world.onboarding : *world.platform;
            int seen = 0;
            api.fail_when([&](k8s::Request const& request) { return on(Verb::List, resource)(request) && seen++ == page; },
                          GetParam().fault);
            Wanted const wanted{.options = {.parallel = 1, .page_size = kPage}};
            Pass const first = resync(world, wanted);
            if (first.report.outcome.kind == Outcome::Kind::Retry) {
                EXPECT_EQ(resync(world, wanted).report.outcome.kind, Outcome::Kind::Done);
            }
            api.heal();
            EXPECT_FALSE(is_drifted(world, name_of(3)));
            for (auto const& write : world.writes()) EXPECT_FALSE(write.starts_with("delete")) << write;
            EXPECT_EQ(world.platform->all(kro::kHelmReleases).size(), std::size_t{kTenants});
            world.settle();
            world.forget_requests();
            EXPECT_TRUE(resync(world, wanted).found.empty());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, FailingPage,
                         testing::Values(Failure{"Expired", k8s::answer_with(410)},
                                         Failure{"Throttled", k8s::answer_with(429, {}, "7")},
                                         Failure{"Unavailable", k8s::answer_with(503)}, Failure{"Truncated", k8s::truncated()},
                                         Failure{"Broken", k8s::cut_before()}, Failure{"Forbidden", k8s::answer_with(403)}),
                         [](auto const& row) { return row.param.name; });

TEST(ExpiredToken, ReachesEveryTenantAllTheSame) {
    for (auto const expiry : {k8s::MemoryApi::Expiry::WithToken, k8s::MemoryApi::Expiry::WithoutToken}) {
        World world;
        install(world, 9);
        for (int i = 0; i < 9; ++i) drift(world, name_of(i));
        for (auto const& api : {world.onboarding, world.platform}) {
            api->before([](k8s::Request const& request) { return !request.continue_token.empty(); },
                        [expiry](k8s::MemoryApi& server) { server.expire_continue_tokens(expiry); });
        }
        Pass const pass = resync(world, {.options = {.parallel = 1, .page_size = 2}});
        EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done) << pass.report.outcome.why;
        for (int i = 0; i < 9; ++i) EXPECT_FALSE(is_drifted(world, name_of(i))) << i;
    }
}

TEST(ExpiredToken, EachTimeEndsThePassAndSaysSo) {
    World world;
    install(world, 9);
    world.onboarding->fail_when([](k8s::Request const& request) { return !request.continue_token.empty(); },
                                k8s::answer_with(410), 1000);
    Pass const pass = resync(world, {.options = {.parallel = 1, .page_size = 2}});
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_LE(world.requests(Cluster::Onboarding).size(), 10U);
}

TEST(KroesUnderAnOlderPlural, AreResyncedToo) {
    World world;
    constexpr k8s::Resource kKroes{"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"};
    world.put(support::provider_config());
    world.onboarding->stop_serving(kro::kKros);
    world.onboarding->serve(kKroes);
    world.onboarding->put(kKroes, kro_named("acme"));
    Pass const pass = resync(world);
    EXPECT_FALSE(world.access_request_of(acme()).is_null()) << pass.report.outcome.why;
}

// --- The schedule

struct Scheduled {
    char const* name;
    char const* interval;
    char const* schedule;
};

class PingSourceSchedule : public testing::TestWithParam<Scheduled> {};

TEST_P(PingSourceSchedule, FollowsThePollInterval) {
    World world;
    install(world, 1);
    configure(world, {{"spec", {{"pollInterval", GetParam().interval}}}});
    resync(world, {.cause = Resync::Cause::Change});
    EXPECT_EQ(schedule_of(world), GetParam().schedule);
    world.forget_requests();
    resync(world, {.cause = Resync::Cause::Change});
    EXPECT_TRUE(world.writes().empty()) << world.writes().front();
}

INSTANTIATE_TEST_SUITE_P(, PingSourceSchedule,
                         testing::Values(Scheduled{"AsItIs", "1m", "* * * * *"}, Scheduled{"InSeconds", "30s", "*/30 * * * * *"},
                                         Scheduled{"Finer", "7m", "* * * * *"}, Scheduled{"Hours", "36h", "0 */12 * * *"}),
                         [](auto const& row) { return row.param.name; });

class UnusableInterval : public testing::TestWithParam<char const*> {};

TEST_P(UnusableInterval, LeavesTheScheduleAndIsTold) {
    World world;
    install(world, 1);
    configure(world, {{"spec", {{"pollInterval", "5m"}}}});
    resync(world, {.cause = Resync::Cause::Change});
    configure(world, {{"spec", {{"pollInterval", GetParam()}}}});
    EXPECT_EQ(resync(world).report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(schedule_of(world), "*/5 * * * *");
    auto const degraded = k8s::find_condition(provider_config_of(world), "Degraded");
    ASSERT_TRUE(degraded);
    EXPECT_EQ(degraded->status, "True");
    EXPECT_EQ(degraded->reason, "InvalidPollInterval");
    EXPECT_NE(degraded->message.find("spec.pollInterval"), std::string::npos);
    EXPECT_NE(degraded->message.find("*/5 * * * *"), std::string::npos) << degraded->message;
    configure(world, {{"spec", {{"pollInterval", "5m"}}}});
    resync(world);
    EXPECT_EQ(k8s::find_condition(provider_config_of(world), "Degraded")->status, "False");
}

INSTANTIATE_TEST_SUITE_P(, UnusableInterval, testing::Values("0", "0s", "999ms", "-5m", "1d", " 1m", "often"));

TEST(PingSource, ThatCantBePatchedIsToldAndStopsNothing) {
    World world;
    install(world, 2);
    drift(world, name_of(0));
    configure(world, {{"spec", {{"pollInterval", "5m"}}}});
    world.platform->fail_when(on(Verb::MergePatch, kro::kPingSources), k8s::answer_with(403));
    EXPECT_EQ(resync(world).report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(k8s::find_condition(provider_config_of(world), "Degraded")->reason, "ScheduleNotSet");
    EXPECT_FALSE(is_drifted(world, name_of(0)));
    resync(world);
    EXPECT_EQ(schedule_of(world), "*/5 * * * *");
}

TEST(PingSource, MayBeMissing) {
    World world;
    install(world, 1);
    world.platform->stop_serving(kro::kPingSources);
    EXPECT_EQ(resync(world).report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(k8s::find_condition(provider_config_of(world), "Degraded")->status, "False");
}

TEST(FinerTick, IsOneOfManyWhereNoneIsDue) {
    World world;
    install(world, 1);
    configure(world, {{"spec", {{"pollInterval", "7m"}}}});
    resync(world, {.cause = Resync::Cause::Change});
    int passes = 0;
    for (int minute = 1; minute <= 21; ++minute) {
        world.now += 1min;
        world.forget_requests();
        Pass const pass = resync(world);
        if (pass.report.requests > 2) ++passes;
    }
    EXPECT_EQ(passes, 3);
}

TEST(FinerTick, BringsAResyncWhereSeveralWereLost) {
    World world;
    install(world, 1);
    configure(world, {{"spec", {{"pollInterval", "7m"}}}});
    resync(world, {.cause = Resync::Cause::Change});
    drift(world, name_of(0));
    world.now += 22min;
    resync(world);
    EXPECT_FALSE(is_drifted(world, name_of(0)));
}

TEST(FinerTick, IsDueWhereAnOperatorAsksForAResync) {
    World world;
    install(world, 1);
    configure(world, {{"spec", {{"pollInterval", "7m"}}}});
    resync(world, {.cause = Resync::Cause::Change});
    drift(world, name_of(0));
    configure(world, {{"metadata", {{"annotations", {{kro::kOperationAnnotation, "reconcile"}}}}}});
    resync(world);
    EXPECT_FALSE(is_drifted(world, name_of(0)));
    EXPECT_EQ(k8s::annotation_of(provider_config_of(world), kro::kOperationAnnotation), "");
}

TEST(FrozenProviderConfig, ChangesNoTenantAndSaysSo) {
    World world;
    install(world, 2);
    drift(world, name_of(0));
    configure(world, {{"metadata", {{"annotations", {{kro::kOperationAnnotation, "ignore"}}}}}});
    resync(world, {.cause = Resync::Cause::Change});
    EXPECT_TRUE(is_drifted(world, name_of(0)));
    EXPECT_EQ(k8s::find_condition(provider_config_of(world), "Progressing")->reason, "Frozen");
    configure(world, {{"metadata", {{"annotations", {{kro::kOperationAnnotation, nullptr}}}}}});
    resync(world, {.cause = Resync::Cause::Change});
    EXPECT_FALSE(is_drifted(world, name_of(0)));
    EXPECT_NE(k8s::find_condition(provider_config_of(world), "Progressing")->reason, "Frozen");
}

// --- The ProviderConfig's status

TEST(ProviderConfigStatus, CountsTenantsAndTellsTheTime) {
    World world;
    install(world, 3);
    world.platform->hold_deletion_of(kro::kHelmReleases);
    ASSERT_TRUE(k8s::send_one(*world.onboarding,
                              k8s::remove(kro::kKros, {std::string{support::kOnboardingNamespace}, name_of(0)}, {}), kNever));
    drift(world, name_of(1));
    world.now += 1min;
    resync(world);
    Json const config = provider_config_of(world);
    EXPECT_EQ(config["status"]["tenants"], Json({{"total", 3}, {"ready", 1}, {"progressing", 1}, {"terminating", 1}}));
    EXPECT_EQ(config["status"]["lastResyncTime"], base::rfc3339(world.now));
    EXPECT_EQ(config["status"]["observedGeneration"], k8s::generation_of(config));
    EXPECT_EQ(k8s::find_condition(config, "Available")->status, "True");
    EXPECT_EQ(k8s::find_condition(config, "Progressing")->status, "True");
}

TEST(ProviderConfigStatus, IsWrittenOnceAnIntervalWhereNothingChanges) {
    World world;
    install(world, 1);
    std::size_t writes = 0;
    for (int i = 0; i < 6; ++i) {
        world.now += 20s;
        writes += resync(world).report.writes;
    }
    EXPECT_EQ(writes, 2U);
}

TEST(ProviderConfigStatus, LeavesTheConditionsOfOthers) {
    World world;
    install(world, 1);
    Json config = provider_config_of(world);
    config["status"]["conditions"].push_back({{"type", "Audited"},
                                              {"status", "True"},
                                              {"reason", "Checked"},
                                              {"message", ""},
                                              {"lastTransitionTime", base::rfc3339(world.now)}});
    world.put(std::move(config));
    world.now += 1h;
    resync(world);
    EXPECT_TRUE(k8s::find_condition(provider_config_of(world), "Audited"));
}

TEST(ProviderConfigStatus, SaysWhereTheConfigurationCantBeRead) {
    World world;
    install(world, 1);
    Json config = provider_config_of(world);
    config["spec"]["values"] = "no object";
    config["metadata"]["generation"] = k8s::generation_of(config) + 1;
    world.put(std::move(config));
    resync(world);
    auto const available = k8s::find_condition(provider_config_of(world), "Available");
    EXPECT_EQ(available->status, "False");
    EXPECT_NE(available->message.find("spec.values"), std::string::npos);
    EXPECT_EQ(world.ready_of(tenant_named(name_of(0))).reason, "ReconcileError");
}

TEST(ProviderConfigThatIsMissing, IsToldToEveryTenant) {
    World world;
    install(world, 2);
    world.platform->erase(kro::kProviderConfigs, {{}, "kro"});
    EXPECT_EQ(resync(world).report.outcome.kind, Outcome::Kind::Done);
    for (int i = 0; i < 2; ++i)
        EXPECT_NE(world.ready_of(tenant_named(name_of(i))).message.find("No ProviderConfig"), std::string::npos);
}

// --- Time

TEST(TimeThatIsOver, LeavesTheRestAndTellsHowMuch) {
    World world;
    install(world, 4);
    drift(world, name_of(1));
    world.forget_requests();
    Pass const pass = resync(world, {.deadline = std::chrono::steady_clock::now()});
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_TRUE(pass.report.outcome.retry_after);
    EXPECT_NE(pass.report.outcome.why.find("4 left"), std::string::npos) << pass.report.outcome.why;
    EXPECT_TRUE(world.writes().empty()) << "nor does the status say that all were looked at";
}

TEST(Retry, DoesNotRepeatWhatIsDone) {
    World world;
    install(world, 4);
    for (int i = 0; i < 4; ++i) drift(world, name_of(i));
    // The third one's write fails for now.
    world.platform->fail_when(on(Verb::JsonPatch, kro::kHelmReleases), k8s::answer_with(503, {}, "5"), 1);
    Pass const first = resync(world);
    EXPECT_EQ(first.report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_EQ(first.report.outcome.retry_after, 5s);
    Pass const second = resync(world);
    EXPECT_EQ(second.report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(second.found.size(), 1U);
}

// --- Fan-out

/// Keeps what is posted.
struct KeptEvents {
    std::vector<events::CloudEvent> events;
    bool answers = true;
    std::size_t calls = 0;

    kro::Sink sink() {
        return [this](std::vector<events::CloudEvent> const& posted, base::Deadline) {
            ++calls;
            if (answers) events.insert(events.end(), posted.begin(), posted.end());
            return std::vector<bool>(posted.size(), answers);
        };
    }
    std::set<std::string> ids() const {
        std::set<std::string> all;
        for (auto const& event : events) all.insert(event.id);
        return all;
    }
};

TEST(FanOut, HandsOnWhatIsAboveTheThreshold) {
    World world;
    install(world, 8);
    for (int i = 0; i < 8; ++i) drift(world, name_of(i));
    KeptEvents kept;
    Pass const pass = resync(world, {.options = {.parallel = 2, .fan_out_above = 3}, .sink = kept.sink()});
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done);
    ASSERT_EQ(kept.events.size(), 5U);
    for (auto const& event : kept.events) {
        EXPECT_EQ(event.type, "services.kro.reconcile");
        Tenant const tenant = kro::parse_tenant(event.subject.value()).value();
        EXPECT_TRUE(is_drifted(world, tenant.name)) << "whoever gets the event does it";
    }
    int repaired = 0;
    for (int i = 0; i < 8; ++i) repaired += is_drifted(world, name_of(i)) ? 0 : 1;
    EXPECT_EQ(repaired, 3);
}

TEST(FanOut, SendsTheSameNeedAsTheSameEvent) {
    World world;
    install(world, 6);
    for (int i = 0; i < 6; ++i) drift(world, name_of(i));
    KeptEvents first;
    KeptEvents second;
    Wanted wanted{.options = {.parallel = 2, .fan_out_above = 0}, .sink = first.sink()};
    resync(world, wanted);
    wanted.sink = second.sink();
    resync(world, wanted);
    EXPECT_EQ(first.ids().size(), 6U);
    EXPECT_EQ(first.ids(), second.ids());
    drift(world, name_of(0));
    Json const patch = {{"spec", {{"interval", "9m0s"}}}};
    k8s::ObjectKey const key = support::helm_release_key(tenant_named(name_of(0)));
    ASSERT_TRUE(k8s::send_one(*world.platform, k8s::merge_patch(kro::kHelmReleases, key, patch, "hand"), kNever));
    KeptEvents third;
    wanted.sink = third.sink();
    resync(world, wanted);
    EXPECT_NE(first.ids(), third.ids()) << "another need is another event";
}

TEST(FanOut, DoesItselfWhatTheSinkDoesNotTakeAndAsksItOnce) {
    World world;
    install(world, 8);
    for (int i = 0; i < 8; ++i) drift(world, name_of(i));
    KeptEvents kept{.events = {}, .answers = false};
    Pass const pass = resync(world, {.options = {.parallel = 2, .fan_out_above = 3}, .sink = kept.sink()});
    EXPECT_EQ(pass.report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(kept.calls, 1U) << "one that waits for us would cost its time for each";
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(is_drifted(world, name_of(i)));
}

TEST(FanOut, IsNotAskedForAFew) {
    World world;
    install(world, 5);
    for (int i = 0; i < 5; ++i) drift(world, name_of(i));
    KeptEvents kept;
    resync(world, {.options = {.parallel = 2, .fan_out_above = 5}, .sink = kept.sink()});
    EXPECT_EQ(kept.calls, 0U);
}

// --- A dry run

TEST(DryRun, SaysWhatIsNeededAndWritesNothing) {
    World world;
    install(world, 3);
    drift(world, name_of(1));
    configure(world, {{"spec", {{"pollInterval", "5m"}}}});
    lose_kro(world, tenant_named(name_of(2)));
    world.forget_requests();
    Pass const pass = resync(world, {.options = {.mode = Resync::Mode::DryRun, .ping_source = std::string{kPingSource}}});
    ASSERT_EQ(pass.found.size(), 2U);
    EXPECT_EQ(pass.found[0].done, Finding::Done::Planned);
    std::set<std::string> needs;
    for (auto const& finding : pass.found) needs.insert(finding.needs.begin(), finding.needs.end());
    EXPECT_TRUE(needs.contains("correct: the HelmRelease"));
    EXPECT_TRUE(world.writes().empty());
}

}  // namespace
