#include "function/replay_command.hpp"

#include "base/base64.hpp"
#include "events/json_format.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/overlay_api.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using base::Json;
using base::member;
using kro::OutputForm;
using kro::ReplaySettings;
using support::kro_named;
using support::tenant_named;
using support::World;
using namespace std::chrono_literals;

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t count_of(std::string const& text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// An event about an object as an ApiServerSource sends it; `seconds` after noon.
Json event(std::string const& id, Json const& object, std::string const& change = "update", int seconds = 0) {
    return {{"specversion", "1.0"},
            {"id", id},
            {"source", "https://10.96.0.1:443"},
            {"type", "dev.knative.apiserver.resource." + change},
            {"time", base::rfc3339(support::kNoon + std::chrono::seconds{seconds})},
            {"datacontenttype", "application/json"},
            {"apiversion", object["apiVersion"]},
            {"kind", object["kind"]},
            {"name", k8s::name_of(object)},
            {"namespace", k8s::namespace_of(object)},
            {"data", object}};
}

Json in_version(Json object, int version) {
    object["metadata"]["resourceVersion"] = std::to_string(version);
    return object;
}

std::string line(Json const& one) { return base::dump_json(one) + "\n"; }

/// The ProviderConfig, and two tenants that are ordered one after the other.
std::string two_orders() {
    return line(event("config", in_version(support::provider_config(), 10), "add", 0)) +
           line(event("acme", in_version(kro_named("acme"), 11), "add", 10)) +
           line(event("globex", in_version(kro_named("globex"), 12), "add", 30));
}

/// Archives, a state, and what came of a replay.
struct Command {
    kro::Settings settings;
    support::Folder folder;
    kro::Audience audience = kro::Audience::Program;
    std::chrono::milliseconds progress_after = 1h;
    int events_before_interrupt = -1;
    std::vector<std::chrono::nanoseconds> waits;
    std::string out;
    std::string err;

    ReplaySettings& asked() { return settings.replay; }

    Command& with(std::string const& archive) {
        std::string const name = "events-" + std::to_string(asked().archives.size()) + ".jsonl";
        folder.write(name, archive);
        asked().archives.push_back((folder / name).string());
        return *this;
    }
    Command& with_state(std::string const& name, std::string const& manifests) {
        folder.write("state/" + name, manifests);
        asked().state = (folder / "state").string();
        return *this;
    }

    int run(std::function<int(kro::ReplayIo const&)> const& replay) {
        std::ostringstream to_out;
        std::ostringstream to_err;
        int asked_for = 0;
        kro::ReplayIo const io{
            .out = to_out,
            .err = to_err,
            .audience = audience,
            .progress_after = progress_after,
            .interrupted = [&] { return events_before_interrupt >= 0 && asked_for++ >= events_before_interrupt; },
            .wait = [&](std::chrono::nanoseconds duration) { waits.push_back(duration); }};
        int const status = replay(io);
        out = to_out.str();
        err = to_err.str();
        return status;
    }
    int run() {
        return run([&](kro::ReplayIo const& io) { return kro::replay_offline(settings, io); });
    }
    /// Its lines as JSON.
    std::vector<Json> run_to_json() {
        asked().output = OutputForm::JsonLines;
        run();
        std::vector<Json> lines;
        std::istringstream text{out};
        for (std::string one; std::getline(text, one);) lines.push_back(base::parse_json(one).value());
        return lines;
    }
    /// The ids of the events that it tells, in their order.
    std::vector<std::string> ids() {
        std::vector<std::string> ids;
        for (auto const& one : run_to_json()) {
            if (one.contains("episode")) ids.push_back(base::text_of(one["episode"]["id"]));
        }
        return ids;
    }
};

using Ids = std::vector<std::string>;

TEST(ReplayCommand, TellsWhatEachEventLedToAndWhatItAllCameTo) {
    Command command;
    EXPECT_EQ(command.with(two_orders()).run(), 0);
    for (auto const* part :
         {"Replay of ", "Offline: ", "add ProviderConfig kro  (everyone)\n", "add Kro acme  (project-a--ws-b/acme)\n",
          "events-0.jsonl:2, id acme\n", "because it is the tenant's Kro\n",
          "look at Kro acme, ProviderConfig kro, AccessRequest kro.services.openmcp.cloud--acme--mcp (absent)\n",
          "patch Kro acme on the onboarding cluster: set the finalizer, so that nothing is left behind\n",
          "+ metadata.finalizers[0]: \"kro.services.openmcp.cloud/finalizer\"\n",
          "=> Waiting: Waiting for access to the control plane; answered 204\n",
          "status: Progressing, Ready=False, Reconciling, \"Waiting for access to the control plane\"\n",
          "+ phase: \"Progressing\"\n", "project-a--ws-b/globex   Progressing   2026-11-30T12:00:30Z   1        4        Waiting",
          "3 events: 1 Done, 2 Waiting; "}) {
        EXPECT_TRUE(contains(command.out, part)) << part << "\n" << command.out;
    }
    EXPECT_EQ(command.err, "");
}

TEST(ReplayCommand, IsTheSameToTheByteEachTime) {
    for (auto const form : {OutputForm::Text, OutputForm::JsonLines, OutputForm::Html}) {
        std::string first;
        Command command;
        command.with(two_orders() +
                     line({{"specversion", "1.0"}, {"id", "tick"}, {"source", "/s"}, {"type", "dev.knative.sources.ping"}}));
        command.asked().output = form;
        command.run();
        first = command.out;
        command.run();
        EXPECT_EQ(command.out, first);
        EXPECT_GT(first.size(), 1000U);
    }
}

TEST(ReplayCommand, PassesOverWhatCannotBeReadAndNamesIt) {
    std::string const good = line(event("3", in_version(kro_named("acme"), 11), "add"));
    Command command;
    command.with(line(event("1", in_version(support::provider_config(), 10), "add")) + good + good.substr(0, good.size() / 2) +
                 "\n" + "{\"specversion\":\"1.0\",\"id\":\"\xC3\x28\"}\n" +
                 line({{"event", event("5", kro_named("acme"))}, {"error", "sink"}}) +
                 line(event("6", in_version(kro_named("globex"), 12), "add")));
    EXPECT_EQ(command.ids(), (Ids{"1", "3", "6"}));
    EXPECT_EQ(command.run(), 1);
    std::vector<std::string> reasons;
    std::istringstream text{command.err};
    for (std::string one; std::getline(text, one);) reasons.push_back(one);
    ASSERT_EQ(reasons.size(), 3U) << command.err;
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(contains(reasons[i], "events-0.jsonl:" + std::to_string(i + 3) + ": ")) << reasons[i];
    }
    EXPECT_TRUE(contains(reasons[2], "wrapper")) << reasons[2];
    Json const summary = command.run_to_json().back()["summary"];
    EXPECT_EQ(summary["unreadable"], 3);
    EXPECT_EQ(summary["unreadableEntries"].size(), 3U);
    EXPECT_EQ(summary["events"], 3);
}

/// Everything that the clusters have, as kubectl would print it.
std::string dump_of(World const& world) {
    Json items = Json::array();
    for (auto& kro : world.onboarding->all(kro::kKros)) items.push_back(std::move(kro));
    for (auto const& resource :
         {kro::kProviderConfigs, kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases, k8s::kSecrets}) {
        for (auto& object : world.platform->all(resource)) items.push_back(std::move(object));
    }
    return base::dump_json({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

TEST(ReplayCommand, LeavesAsItIsWhatIsAheadOfTheEvents) {
    World world;
    Json old = in_version(kro_named("acme", "0.9.1"), 1);
    old["metadata"]["uid"] = "u";
    world.install(kro_named("acme", "0.9.2"));
    Command command;
    command.with_state("dump.json", dump_of(world))
        .with(line(event("add", old, "add")) + line(event("update", in_version(kro_named("acme", "0.9.2"), 2), "update", 1)));
    EXPECT_EQ(command.run(), 0) << command.err;
    EXPECT_TRUE(contains(command.out, "Ready   ")) << command.out;
    EXPECT_TRUE(contains(command.out, " 0 of them writes\n")) << command.out;
    EXPECT_FALSE(contains(command.out, "~")) << command.out;
}

TEST(ReplayCommand, TakesAStateInSeveralFilesAndNamesWhatItCannotRead) {
    Command command;
    command
        .with_state(
            "b.yaml",
            "apiVersion: kro.services.openmcp.cloud/v1alpha1\nkind: ProviderConfig\nmetadata: {name: kro}\n---\nspec: [\n")
        .with_state("deeper/a.yml", base::dump_json(kro_named("acme")))
        .with_state("README.md", "no manifest")
        .with_state("other.json", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"one of many kinds"}})")
        .with(line({{"specversion", "1.0"},
                    {"id", "r"},
                    {"source", "/s"},
                    {"type", "services.kro.reconcile"},
                    {"subject", "project-a--ws-b/acme"}}));
    EXPECT_EQ(command.run(), 1) << "something could not be read";
    EXPECT_TRUE(contains(command.out, "Waiting for access to the control plane")) << command.out;
    EXPECT_TRUE(contains(command.err, "state/b.yaml:4: is no YAML: line 6")) << command.err;
    EXPECT_EQ(count_of(command.err, "\n"), 1U) << command.err;
}

TEST(ReplayCommand, EndsWhereTheStateIsMissing) {
    Command command;
    command.asked().state = "/nowhere";
    EXPECT_EQ(command.with(two_orders()).run(), 1);
    EXPECT_EQ(command.err, "kro-function: --state /nowhere: there is no such file or folder\n");
    EXPECT_EQ(command.out, "");
}

TEST(ReplayCommand, SaysThatNoProviderConfigIsKnown) {
    Command command;
    EXPECT_EQ(command.with(line(event("acme", in_version(kro_named("acme"), 11), "add"))).run(), 0);
    EXPECT_TRUE(contains(command.out, "No ProviderConfig found: create the ProviderConfig \"kro\"")) << command.out;
    EXPECT_TRUE(contains(command.out, "neither --state nor an event has the ProviderConfig \"kro\"")) << command.out;
}

TEST(ReplayCommand, DoesNotTakeAKroForGoneThatNothingHasToldOf) {
    World world;
    world.install(kro_named("acme"));
    Json const release = world.helm_release_of(tenant_named("acme"));
    Command command;
    EXPECT_EQ(command.with(line(event("flux", release))).run(), 0);
    EXPECT_TRUE(contains(command.out, "left out: nothing has told how Kro project-a--ws-b/acme is; --state can")) << command.out;
    EXPECT_TRUE(contains(command.out, "1 event: 1 Done; 0 requests")) << command.out;
    EXPECT_TRUE(contains(command.out, "1 events were left out")) << command.out;

    command.with_state("config.yaml", base::dump_json(support::provider_config()));
    command.run();
    EXPECT_TRUE(contains(command.out, "the Kro is gone")) << "the state is all that there is\n" << command.out;
}

TEST(ReplayCommand, AssumesWhatReferencesAloneTellOf) {
    World world;
    world.put(support::pull_secret("pull"));
    world.put(support::provider_config({{"imagePullSecret", {{"name", "pull"}}}}));
    world.install(kro_named("acme"));
    Command command;
    command.with(line(event("1", world.object(kro::kProviderConfigs, {{}, "kro"}), "add")) +
                 line(event("2", world.access_request_of(tenant_named("acme")))) +
                 line(event("3", world.kro(tenant_named("acme")))));
    EXPECT_EQ(command.run(), 0);
    EXPECT_TRUE(contains(command.out, "Secret kro.services.openmcp.cloud--acme--mcp.kubeconfig (assumed)")) << command.out;
    EXPECT_TRUE(contains(command.out, "Secret pull (assumed)")) << command.out;
    EXPECT_TRUE(contains(command.out, "Assumed to be there, since others name them: Secret mcp--")) << command.out;
}

TEST(ReplayCommand, EndsWhereItIsTold) {
    Command command;
    command.with(two_orders());
    command.asked().until = "acme";
    EXPECT_EQ(command.ids(), (Ids{"config", "acme"}));
    command.asked().until = "";
    command.asked().until_time = support::kNoon + 10s;
    EXPECT_EQ(command.ids(), (Ids{"config", "acme"}));
    command.asked().until_time = std::nullopt;
    command.asked().until = "another";
    command.asked().output = OutputForm::Text;
    EXPECT_EQ(command.run(), 1);
    EXPECT_TRUE(contains(command.out, "No event has the id that --until names.")) << command.out;
}

TEST(ReplayCommand, HandlesTheEventsOfOneTenantAlone) {
    Command command;
    command.with(two_orders());
    command.asked().tenant = tenant_named("globex");
    EXPECT_EQ(command.ids(), (Ids{"config", "globex"})) << "the ProviderConfig concerns everyone";
    Json const summary = command.run_to_json().back()["summary"];
    ASSERT_EQ(summary["tenants"].size(), 1U);
    EXPECT_EQ(summary["tenants"][0]["tenant"], "project-a--ws-b/globex");
    EXPECT_EQ(summary["tenants"][0]["phase"], "Progressing") << "the others' objects are known all the same";
}

TEST(ReplayCommand, HandlesTheEventsOfOneTypeAlone) {
    Command command;
    command.with(two_orders() +
                 line({{"specversion", "1.0"}, {"id", "tick"}, {"source", "/s"}, {"type", "dev.knative.sources.ping"}}));
    command.asked().type = "dev.knative.sources.ping";
    EXPECT_EQ(command.ids(), (Ids{"tick"}));
    EXPECT_EQ(command.run_to_json().back()["summary"]["tenants"].size(), 2U) << "the tick found the Kros that were only told of";
}

TEST(ReplayCommand, WaitsAsLongAsItTookDividedByTheSpeed) {
    Command command;
    command.with(two_orders());
    command.run();
    EXPECT_TRUE(command.waits.empty());
    command.asked().speed = 10;
    command.run();
    EXPECT_EQ(command.waits, (std::vector<std::chrono::nanoseconds>{1s, 2s}));
}

TEST(ReplayCommand, HandlesEachEventTwice) {
    Command command;
    command.with(two_orders());
    std::size_t const once = command.run_to_json().back()["summary"]["writes"];
    command.asked().duplicate = true;
    EXPECT_EQ(command.ids(), (Ids{"config", "config", "acme", "acme", "globex", "globex"}));
    EXPECT_EQ(command.run_to_json().back()["summary"]["writes"], once);
}

TEST(ReplayCommand, ShufflesByItsSeedAlone) {
    Command command;
    command.with(two_orders());
    std::set<Ids> orders;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        command.asked().shuffle = seed;
        Ids const order = command.ids();
        EXPECT_EQ(command.ids(), order);
        orders.insert(order);
        EXPECT_EQ(command.run_to_json().back()["summary"]["tenants"].size(), 2U);
    }
    EXPECT_GT(orders.size(), 3U);
}

TEST(ReplayCommand, LeavesSomeOutAndShowsWhatATickRepairs) {
    Command command;
    command.with(two_orders());
    command.asked().drop = 3;
    Ids const ids = command.ids();
    ASSERT_EQ(ids.size(), 3U);
    EXPECT_EQ(ids.back(), "tick");
    Json const summary = command.run_to_json().back()["summary"];
    ASSERT_EQ(summary["tenants"].size(), 2U);
    for (auto const& tenant : summary["tenants"]) EXPECT_EQ(tenant["phase"], "Progressing");
}

TEST(ReplayCommand, TellsTheSumsAlone) {
    Command command;
    command.with(two_orders());
    command.asked().summary = true;
    EXPECT_EQ(command.run(), 0);
    EXPECT_FALSE(contains(command.out, "look at")) << command.out;
    EXPECT_TRUE(contains(command.out, "3 events: 1 Done, 2 Waiting; ")) << command.out;
    EXPECT_TRUE(contains(command.out, "project-a--ws-b/acme")) << command.out;
}

TEST(ReplayCommand, TellsWhatWasDoneUntilItWasInterrupted) {
    Command command;
    // Events are read ahead, so that they can be put into the order of their receipt.
    std::string many = two_orders();
    for (int i = 0; i < 100; ++i) many += line(event(std::to_string(i), in_version(kro_named("acme"), 20 + i), "update", 40 + i));
    command.with(many);
    command.events_before_interrupt = 60;
    EXPECT_EQ(command.run(), kro::kInterrupted);
    EXPECT_TRUE(contains(command.out, "; ended before the archives did\n")) << command.out.substr(command.out.size() - 200);
    EXPECT_GT(count_of(command.out, "answered 204"), 10U);
    EXPECT_LT(count_of(command.out, "answered 204"), 61U);
}

TEST(ReplayCommand, FailsWhereAnEventWasRefused) {
    Command command;
    command.with(line({{"specversion", "1.0"}, {"id", "1"}, {"source", "/s"}, {"type", "dev.knative.apiserver.resource.add"}}));
    EXPECT_EQ(command.run(), 1);
    EXPECT_TRUE(contains(command.out, "=> Rejected: ")) << command.out;
    EXPECT_TRUE(contains(command.out, "answered 400")) << command.out;
}

TEST(ReplayCommand, ShowsHowFarItIsWhereItTakesLong) {
    Command command;
    command.with(two_orders());
    command.progress_after = 0ms;
    command.asked().summary = true;
    command.run();
    EXPECT_TRUE(contains(command.err, "3 events replayed, 100 %\n")) << command.err;
    command.audience = kro::Audience::Person;
    command.run();
    EXPECT_TRUE(contains(command.err, "########] 3 events\n")) << command.err;
}

TEST(ReplayCommand, ShowsNoSecretOfAnEventOrAState) {
    std::string const canary = "cAnAry7-Zq3xW";
    Json config = in_version(
        support::provider_config({{"imagePullSecret", {{"name", "pull"}}}, {"values", {{"db", {{"password", canary}}}}}}), 10);
    Json secret = support::secret("pull", "kubernetes.io/dockerconfigjson",
                                  {{".dockerconfigjson", base::dump_json({{"auths", {{"r.test", {{"password", canary}}}}}})}});
    World world;
    world.put(secret);
    world.put(config);
    world.install(kro_named("acme"));
    for (auto const form : {OutputForm::Text, OutputForm::JsonLines, OutputForm::Html}) {
        Command command;
        command.asked().output = form;
        command.with(
            line(event("1", config, "add")) + line(event("2", in_version(secret, 11), "add")) +
            line(event("3", in_version(kro_named("acme"), 12), "add", 1)) +
            line(event("4", in_version(support::granted(support::access_request(tenant_named("acme"))), 13), "update", 2)));
        command.run();
        EXPECT_TRUE(contains(command.out, "the HelmRelease")) << command.out;
        EXPECT_TRUE(contains(command.out, "redacted-")) << command.out;
        EXPECT_FALSE(contains(command.out, canary.substr(0, 6)));
        EXPECT_FALSE(contains(command.out, base::encode_base64(canary).substr(0, 8)));
    }
}

// --- Posted to a function

TEST(ReplayCommand, PostsTheEventsAsASourceDoesAndTellsTheAnswers) {
    std::vector<int> const statuses{204, 503, 400};
    std::atomic<std::size_t> at{0};
    support::HttpServer function{[&](support::Received const&) { return support::Reply{statuses.at(at++), ""}; }};
    Command command;
    command.with(two_orders());
    command.settings.replay.to = function.url() + "/events";
    EXPECT_EQ(command.run([&](kro::ReplayIo const& io) { return kro::replay_to(command.settings, io); }), 1);
    auto const requests = function.requests();
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(requests[1].method, "POST");
    EXPECT_EQ(requests[1].target, "/events");
    EXPECT_EQ(support::header_of(requests[1], "ce-id"), "acme");
    EXPECT_EQ(support::header_of(requests[1], "ce-kind"), "Kro");
    EXPECT_EQ(support::header_of(requests[1], "content-type"), "application/json");
    EXPECT_EQ(base::parse_json(requests[1].body).value(), in_version(kro_named("acme"), 11));
    EXPECT_TRUE(contains(command.out, "=> Retry: answered 503; answered 503\n")) << command.out;
    EXPECT_TRUE(contains(command.out, "3 events: 1 Done, 1 Retry, 1 Rejected")) << command.out;
}

TEST(ReplayCommand, PostsAnEventWithoutData) {
    support::HttpServer function{[](support::Received const&) { return support::Reply{204, ""}; }};
    Command command;
    command.with(line({{"specversion", "1.0"}, {"id", "tick"}, {"source", "/s"}, {"type", "dev.knative.sources.ping"}}));
    command.settings.replay.to = function.url();
    EXPECT_EQ(command.run([&](kro::ReplayIo const& io) { return kro::replay_to(command.settings, io); }), 0);
    auto const requests = function.requests();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].body, "");
    EXPECT_EQ(support::header_of(requests[0], "ce-type"), "dev.knative.sources.ping");
}

TEST(ReplayCommand, SaysWhereNobodyAnswers) {
    Command command;
    command.with(two_orders());
    command.settings.replay.to = "http://127.0.0.1:1";
    EXPECT_EQ(command.run([&](kro::ReplayIo const& io) { return kro::replay_to(command.settings, io); }), 1);
    EXPECT_TRUE(contains(command.out, "=> Retry: no answer: ")) << command.out;
    command.settings.replay.to = "nowhere";
    EXPECT_EQ(command.run([&](kro::ReplayIo const& io) { return kro::replay_to(command.settings, io); }), 1);
    EXPECT_EQ(command.err, "kro-function: --to must begin with https:// or http://\n");
}

// --- On real clusters, as dry runs

struct Viewed {
    World world;
    std::shared_ptr<k8s::OverlayApi> onboarding;
    std::shared_ptr<k8s::OverlayApi> platform;
    std::unique_ptr<kro::Clusters> clusters;

    void view() {
        auto const of = [&](std::shared_ptr<k8s::MemoryApi> server) {
            return std::make_shared<k8s::OverlayApi>(std::move(server), world.clock(), k8s::OverlayApi::Writes::DryRun);
        };
        onboarding = of(world.onboarding);
        platform = of(world.platform);
        clusters = std::make_unique<kro::Clusters>(
            platform, [this](base::Deadline) { return k8s::Result<kro::SharedApi>{onboarding}; },
            [of, this](std::string const&) { return k8s::Result<kro::SharedApi>{of(world.control_plane)}; });
    }
    int run(Command& command) {
        return command.run([&](kro::ReplayIo const& io) {
            auto const forget = [&] {
                onboarding->forget();
                platform->forget();
            };
            return kro::replay_on(*clusters, forget, command.settings, world.clock(), io);
        });
    }
};

TEST(ReplayCommand, OnClustersTellsWhatWouldBeChangedNowAndWritesNothing) {
    Viewed viewed;
    World& world = viewed.world;
    world.install(kro_named("acme"));
    Json kro = world.kro(tenant_named("acme"));
    kro["spec"]["version"] = "0.9.2";
    world.put(kro, kro::Cluster::Onboarding);
    world.forget_requests();
    viewed.view();
    Command command;
    // The event knows of neither version.
    command.with(line(event("old", in_version(kro_named("acme", "0.8.0"), 3), "add")));
    command.asked().duplicate = true;
    EXPECT_EQ(viewed.run(command), 0);
    EXPECT_EQ(count_of(command.out, "~ spec.ref.tag: \"0.9.1\" -> \"0.9.2\"\n"), 2U) << "nothing was changed by the first\n"
                                                                                     << command.out;
    EXPECT_FALSE(contains(command.out, "0.8.0")) << command.out;
    EXPECT_TRUE(world.writes().empty());
    auto const requests = world.platform->requests();
    EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [](k8s::SeenRequest const& one) {
        return one.request.dry_run && one.request.resource == kro::kOciRepositories;
    }));
}

}  // namespace
