#include "function/replay/replay.hpp"
#include "function/record/recorder.hpp"
#include "function/record/recording.hpp"
#include "function/replay_command.hpp"
#include "tests/component/simulation.hpp"
#include "tests/support/folder.hpp"

#include "events/json_format.hpp"
#include "function/tenant/kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

/// From what happened live to what its replay makes of it.
namespace {

using base::member;
using base::text_of;
using component::Json;
using component::Pod;
using component::Simulation;
using events::StoredEvent;
using namespace std::chrono_literals;

/// What was written, in its order: "HelmRelease kro-helm-release: create: the HelmRelease".
using Writes = std::vector<std::string>;

void add_writes(Writes& writes, kro::Report const& report) {
    for (auto const& round : report.rounds) {
        for (auto const& one : round) {
            if (one.write) writes.push_back(one.subject + ": " + one.why + (one.error ? " (! " + one.error->message + ")" : ""));
        }
    }
}

Writes writes_of(kro::Handled const& handled) {
    Writes writes;
    if (handled.report.shared) return writes;
    add_writes(writes, handled.report);
    // Tenants of a resync are brought up to date several at a time; whoever is done first is told first.
    auto findings = handled.findings;
    std::sort(findings.begin(), findings.end(), [](auto const& a, auto const& b) { return a.tenant < b.tenant; });
    for (auto const& finding : findings) add_writes(writes, finding.report);
    return writes;
}

std::string kind_of(StoredEvent const& stored) { return events::extension(stored.event, "kind"); }

/// A simulation of which every answered event is kept: as a recorder beside the function sees them, without what was looked at.
class History {
  public:
    History() {
        simulation.pod->handler().set_witness([this](kro::Handled const& handled) {
            StoredEvent stored;
            stored.event = handled.event;
            stored.received = handled.received;
            events.push_back(std::move(stored));
            Writes const more = writes_of(handled);
            writes.insert(writes.end(), more.begin(), more.end());
        });
        simulation.deliver(component::resource_event(
            {k8s::Change::Kind::Added, kro::kProviderConfigs, simulation.world.object(kro::kProviderConfigs, {{}, "kro"})}));
    }

    std::vector<StoredEvent> events;
    Writes writes;
    Simulation simulation;
};

/// acme is installed, moved to 0.9.2 and settled.
void live_through_an_update(Simulation& simulation) {
    simulation.create(support::kro_named("acme"));
    simulation.settle();
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.settle();
}

/// As above for three tenants, with a pull secret that is rotated, a drift that is repaired, and one of them deleted.
void live_through_a_lot(Simulation& simulation) {
    simulation.create(support::pull_secret("pull"));
    for (auto const* name : {"acme", "globex", "initech"}) simulation.create(support::kro_named(name));
    simulation.settle();
    simulation.change_provider_config({{"spec", {{"imagePullSecret", {{"name", "pull"}}}}}});
    simulation.settle();
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.settle();
    simulation.change(k8s::kSecrets, {"openmcp-system", "pull"}, {{"data", support::pull_secret("pull", "other.test")["data"]}});
    simulation.settle();
    simulation.change(kro::kHelmReleases, support::helm_release_key(support::tenant_named("initech")),
                      {{"spec", {{"values", {{"by", "hand"}}}}}});
    simulation.settle();
    simulation.remove_kro("globex");
    simulation.settle();
}

/// A replay and all that it needs.
struct Offline {
    explicit Offline(bool takes_objects = true) {
        kro::Replay::Options options;
        options.takes_objects = takes_objects;
        replay.emplace(world, clock, options,
                       [this](kro::Handled const& handled, StoredEvent const&, std::string const& otherwise) {
                           Writes const more = writes_of(handled);
                           writes.insert(writes.end(), more.begin(), more.end());
                           outcomes.push_back(handled.report.outcome);
                           if (!otherwise.empty()) recorded_otherwise.push_back(handled.event.id + ": " + otherwise);
                       });
    }

    void take(std::vector<StoredEvent> const& events) {
        for (auto const& one : events) replay->take(one);
    }

    /// Without the Secrets' data and the ProviderConfig: events about Secrets are references, and a ProviderConfig tells of ticks.
    Json state() {
        Json state = component::state_of(world.onboarding(), world.platform(), {});
        return without_secrets(std::move(state));
    }
    static Json without_secrets(Json state) {
        for (auto& [name, object] : state.items()) {
            if (object["kind"] == "Secret") object.erase("data");
            object["metadata"].erase("managedFields");
            if (object["metadata"].contains("deletionTimestamp")) object["metadata"]["deletionTimestamp"] = "some time";
        }
        return state;
    }

    std::shared_ptr<kro::ReplayClock> clock = std::make_shared<kro::ReplayClock>();
    kro::ReplayWorld world{[this] { return clock->now(); }, {}};
    Writes writes;
    std::vector<kro::Outcome> outcomes;
    std::vector<std::string> recorded_otherwise;
    std::optional<kro::Replay> replay;
};

/// Whether `all` has every one of `some`, in the same order.
bool has_in_order(Writes const& all, Writes const& some) {
    auto at = all.begin();
    for (auto const& one : some) {
        at = std::find(at, all.end(), one);
        if (at == all.end()) return false;
        ++at;
    }
    return true;
}

TEST(Replay, OfEventsAloneWritesAllThatWasWrittenLive) {
    History live;
    live_through_an_update(live.simulation);
    ASSERT_GT(live.writes.size(), 8U);
    Offline offline;
    offline.take(live.events);
    // Live, the platform was ahead of the events; offline, what happens between two of them is told to the tenant as well.
    EXPECT_TRUE(has_in_order(offline.writes, live.writes)) << testing::PrintToString(offline.writes);
}

TEST(Replay, OfEventsAloneKnowsTheEchoesOfItsOwnWrites) {
    History live;
    live_through_an_update(live.simulation);
    Offline offline;
    offline.take(live.events);
    auto const echoes = std::count_if(offline.outcomes.begin(), offline.outcomes.end(),
                                      [](kro::Outcome const& outcome) { return outcome.why == kro::kEcho; });
    EXPECT_GT(echoes, 4);
}

/// What the platform does on its own account leaves no event.
Json ours(Json state) {
    Json of_ours = Json::object();
    for (auto& [name, object] : state.items()) {
        bool const kept = object["kind"] == "Kro" || object["kind"] == "HelmRelease" || object["kind"] == "OCIRepository" ||
                          object["kind"] == "AccessRequest";
        if (kept) of_ours[name] = std::move(object);
    }
    return of_ours;
}

TEST(Replay, OfEventsAloneEndsAsItEndedLive) {
    History live;
    live_through_a_lot(live.simulation);
    Offline offline;
    offline.take(live.events);
    Json const ended = ours(Offline::without_secrets(live.simulation.state()));
    EXPECT_EQ(ended.size(), 8U);
    EXPECT_EQ(ours(offline.state()), ended);
}

/// The last state of each object, known before the first event.
struct Hinted : Offline {
    explicit Hinted(std::vector<StoredEvent> const& events) : Offline(false) {
        for (auto const& one : events) kro::Replay::take_over(world, one);
    }
    void tick() {
        clock->advance(clock->now() + 24h * 7);
        StoredEvent stored;
        stored.event.id = "tick";
        stored.event.source = "/test";
        stored.event.type = events::kPingType;
        replay->take(stored);
    }
};

/// Of acme's installation the first event about the Kro, and the last about each kind of object, a Secret that nothing names among
/// them; and a change that nobody has acted on.
struct Seven {
    std::vector<StoredEvent> events;
    StoredEvent config;  ///< the ProviderConfig's last
};
Seven seven_events() {
    History live;
    live.simulation.create(support::pull_secret("pull"));
    live.simulation.create(support::kro_named("acme"));
    live.simulation.settle();
    live.simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    Seven seven;
    for (auto const& one : live.events) {
        if (kind_of(one) == "ProviderConfig") {
            seven.config = one;
            continue;
        }
        std::erase_if(seven.events, [&](StoredEvent const& other) { return kind_of(other) == kind_of(one); });
        seven.events.push_back(one);
    }
    auto const first =
        std::find_if(live.events.begin(), live.events.end(), [](auto const& one) { return kind_of(one) == "Kro"; });
    seven.events.insert(seven.events.begin(), *first);
    StoredEvent change;
    change.event = events::parse_http(live.simulation.take_events().at(0)).value().front();
    seven.events.push_back(std::move(change));
    return seven;
}

/// The orders that begin with one of the seven.
class EveryOrder : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryOrder, OfAHistoryEndsInTheSameState) {
    auto const [history, config] = seven_events();
    ASSERT_EQ(history.size(), 7U) << "Secret, Kro, AccessRequest, OCIRepository, HelmRelease, Kro, Kro";
    std::vector<std::size_t> order(history.size());
    std::iota(order.begin(), order.end(), 0);
    auto all = history;
    all.push_back(config);
    Hinted as_it_was{all};
    as_it_was.take(history);
    Writes const expected_writes{"OCIRepository kro-oci-repository: apply: the chart's OCIRepository",
                                 "Kro acme: tell the tenant: Waiting for managed resources to become ready"};
    EXPECT_EQ(as_it_was.writes, expected_writes);
    Json const expected = as_it_was.state();
    std::swap(order[0], order[GetParam()]);
    std::sort(order.begin() + 1, order.end());
    std::size_t orders = 0;
    do {
        Hinted replayed{all};
        for (auto const i : order) replayed.replay->take(history[i]);
        Json const state = replayed.state();
        ASSERT_EQ(state, expected) << testing::PrintToString(order) << ": " << Json::diff(expected, state);
        ++orders;
    } while (std::next_permutation(order.begin() + 1, order.end()));
    EXPECT_EQ(orders, 720U);
}

INSTANTIATE_TEST_SUITE_P(BeginningWith, EveryOrder, testing::Range<std::size_t>(0, 7));

/// A quarter of the seeds each.
class LeftToChance : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LeftToChance, AHistoryEndsInTheSameState) {
    History live;
    for (auto const* name : {"acme", "globex"}) live.simulation.create(support::kro_named(name));
    live.simulation.settle();
    live.simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    live.simulation.remove_kro("globex");
    // What nobody has acted on yet.
    for (auto const& message : live.simulation.take_events()) {
        StoredEvent stored;
        stored.event = events::parse_http(message).value().front();
        live.events.push_back(std::move(stored));
    }
    ASSERT_GT(live.events.size(), 20U);
    Hinted as_it_was{live.events};
    as_it_was.take(live.events);
    as_it_was.tick();
    ASSERT_GT(as_it_was.writes.size(), 4U);
    Json const expected = as_it_was.state();

    for (std::uint64_t seed = 250 * GetParam(); seed < 250 * (GetParam() + 1); ++seed) {
        std::mt19937_64 chance{seed};
        std::vector<StoredEvent> some;
        for (auto const& one : live.events) {
            // None, once or twice.
            for (auto times = chance() % 3; times > 0; --times) some.push_back(one);
        }
        std::shuffle(some.begin(), some.end(), chance);
        Hinted replayed{live.events};
        replayed.take(some);
        replayed.tick();
        Json const state = replayed.state();
        ASSERT_EQ(state, expected) << "seed " << seed << ": " << Json::diff(expected, state);
    }
}

INSTANTIATE_TEST_SUITE_P(Quarter, LeftToChance, testing::Range<std::uint64_t>(0, 4));

// --- A recording by the function itself

/// A simulation whose pod records what it answers, and what it looked at and wrote.
class Recorded {
  public:
    Recorded() {
        kro::Recorder::Options options;
        options.archive.file = archive();
        auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<component::KeptLines>());
        recorder_.emplace(std::move(options), base::system_clock(), metrics_, std::move(logger));
        auto& world = simulation.world;
        kro::EventHandler::Options handling;
        handling.keep = kro::Keep::Contents;
        simulation.pod = std::make_unique<Pod>(
            world.platform, world.onboarding,
            [&world](std::string const&) { return k8s::Result<kro::SharedApi>{world.control_plane}; }, world.clock(), handling);
        simulation.pod->handler().set_witness([this](kro::Handled const& handled) {
            recorder_->record(handled);
            writes.push_back(writes_of(handled));
        });
    }

    std::string archive() const { return (folder_ / "events.jsonl").string(); }
    /// Ends when all is written.
    void finish() { recorder_.reset(); }

    std::vector<Writes> writes;  ///< of each event
    Simulation simulation;

  private:
    support::Folder folder_;
    kro::Metrics metrics_;
    std::optional<kro::Recorder> recorder_;
};

std::vector<StoredEvent> read(std::string const& archive) {
    std::vector<StoredEvent> events;
    for (events::ArchiveReader reader{{archive}}; auto entry = reader.next();) {
        if (auto* stored = std::get_if<StoredEvent>(&*entry)) events.push_back(std::move(*stored));
    }
    return events;
}

TEST(Replay, OfARecordingWritesStepByStepWhatWasWrittenLive) {
    Recorded live;
    Simulation& simulation = live.simulation;
    simulation.create(support::pull_secret("pull"));
    simulation.change_provider_config({{"spec", {{"imagePullSecret", {{"name", "pull"}}}}}});
    simulation.settle();
    for (auto const* name : {"acme", "globex"}) simulation.create(support::kro_named(name));
    simulation.settle();
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.settle();
    simulation.change(k8s::kSecrets, {"openmcp-system", "pull"}, {{"data", support::pull_secret("pull", "other.test")["data"]}});
    simulation.settle();
    // Somebody is faster, an API server is not there, and a right is missing.
    simulation.world.platform->fail_when(k8s::on(k8s::Request::Verb::Apply, kro::kOciRepositories), k8s::conflict());
    simulation.world.platform->fail_when(k8s::on(k8s::Request::Verb::Get, kro::kAccessRequests), k8s::answer_with(503));
    simulation.change_kro("globex", {{"spec", {{"version", "0.9.3"}}}});
    simulation.settle();
    simulation.world.platform->fail_when(k8s::on(k8s::Request::Verb::Apply, kro::kHelmReleases), k8s::answer_with(403));
    simulation.change_provider_config({{"spec", {{"values", {{"replicas", 2}}}}}});
    simulation.settle();
    simulation.ping();
    simulation.remove_kro("globex");
    simulation.settle();
    live.finish();

    Offline offline;
    std::vector<Writes> writes;
    for (auto& stored : read(live.archive())) {
        bool const is_event = stored.event.type != kro::kObservedType;
        offline.writes.clear();
        offline.replay->take(std::move(stored));
        if (is_event) writes.push_back(offline.writes);
    }
    ASSERT_EQ(writes.size(), live.writes.size());
    auto const failed = [](Writes const& of_one) {
        return std::any_of(of_one.begin(), of_one.end(), [](auto const& one) { return one.find("(!") != std::string::npos; });
    };
    EXPECT_GE(std::count_if(writes.begin(), writes.end(), failed), 2) << "the conflict and the missing right";
    for (std::size_t i = 0; i < writes.size(); ++i) EXPECT_EQ(writes[i], live.writes[i]) << "event " << i;
    EXPECT_EQ(offline.recorded_otherwise, std::vector<std::string>{});
    EXPECT_EQ(ours(offline.state()), ours(Offline::without_secrets(simulation.state())));
}

}  // namespace
