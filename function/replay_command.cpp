#include "function/replay_command.hpp"

#include "base/text.hpp"
#include "events/knative.hpp"
#include "function/handle/event_poster.hpp"
#include "function/open_clusters.hpp"
#include "function/record/recording.hpp"
#include "function/replay/replay.hpp"
#include "function/replay/replay_feed.hpp"
#include "function/replay/replay_printer.hpp"
#include "function/replay/replay_state.hpp"
#include "function/replay/replay_tally.hpp"
#include "function/report/episode_of.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/overlay_api.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <thread>

namespace kro {
namespace {

constexpr int kFailed = 1;
/// What is assumed is named up to here.
constexpr std::size_t kNamed = 10;
/// How long after the last event a tick comes that is certain to be due.
constexpr std::chrono::hours kLater{24 * 7};

Provider provider_of(Settings const& settings) { return {.name = settings.provider_name, .namespace_ = settings.namespace_}; }

/// One replay: where its episodes go, and what they add up to.
class Telling {
  public:
    Telling(Settings const& settings, ReplayIo const& io, ReplayTally& tally, std::vector<std::string> notes)
        : asked_(settings.replay), io_(io), tally_(tally), printer_(asked_.output, io.out, head(std::move(notes))) {}

    void add(Handled const& handled, events::StoredEvent const& stored, std::string const& recorded) {
        tally_.add(handled);
        if (asked_.summary) return;
        Episode episode = episode_of(handled, &redactor(stored.event));
        episode.where = events::to_string(stored.place);
        episode.recorded = recorded;
        printer_.add(episode);
    }

    void add(events::StoredEvent const& stored, Posted const& posted) {
        Episode episode = episode_about(stored.event);
        episode.where = events::to_string(stored.place);
        if (auto const time = time_of(stored)) episode.time = base::rfc3339_nano(*time);
        episode.answer = posted.status;
        episode.outcome = outcome_of(posted);
        tally_.add(episode.outcome);
        if (!asked_.summary) printer_.add(episode);
    }

    /// Ends it. The exit status.
    int finish(
        ReplayFeed const& feed, std::vector<std::string> notes,
        std::function<bool(Tenant const&)> const& is_gone = [](Tenant const&) { return false; }) {
        if (feed.has_missed_its_end()) notes.push_back("No event has the id that --until names.");
        ReplaySummary summary = tally_.summary(feed.is_complete(), is_gone);
        summary.notes = std::move(notes);
        printer_.finish(summary);
        if (!io_.out) io_.err << "kro-function: the output can't be written" << std::endl;
        if (!feed.is_complete()) return kInterrupted;
        return tally_.is_clean() && !feed.has_missed_its_end() && io_.out ? 0 : kFailed;
    }

  private:
    ReplayHead head(std::vector<std::string> notes) const {
        return {"Replay of " + base::joined(asked_.archives), asked_.archives, asked_.options, std::move(notes)};
    }

    static Outcome outcome_of(Posted const& posted) {
        using Kind = Outcome::Kind;
        if (posted.status == 0) return {Kind::Retry, "no answer: " + posted.why};
        std::string const why = "answered " + std::to_string(posted.status);
        if (posted.status < 300) return {Kind::Done, why};
        return {posted.status < 500 && posted.status != 429 ? Kind::Rejected : Kind::Retry, why};
    }

    /// The key is the first event: whoever has the report alone can't guess it, and the same archive gives the same report.
    Redactor const& redactor(events::CloudEvent const& first) {
        if (!redactor_) redactor_.emplace(Placeholders{stable_uuid("replay " + events::to_structured(first).body)});
        return *redactor_;
    }

    ReplaySettings const& asked_;
    ReplayIo const& io_;
    ReplayTally& tally_;
    ReplayPrinter printer_;
    std::optional<Redactor> redactor_;
};

Replay::Options options_for(Settings const& settings) {
    Replay::Options options;
    options.provider = provider_of(settings);
    options.ping_source = settings.ping_source;
    options.tenant = settings.replay.tenant;
    options.type = settings.replay.type;
    options.keep = settings.replay.summary ? Keep::Sums : Keep::Contents;
    return options;
}

/// A tick of the PingSource.
events::StoredEvent tick() {
    events::StoredEvent stored;
    stored.event.id = "tick";
    stored.event.source = "/kro-function/replay";
    stored.event.type = events::kPingType;
    stored.place.file = "the tick after what was dropped";
    return stored;
}

/// Kinds that play no part are passed over: a dump of a cluster has many.
base::Result<void, std::string> give_state(ReplayWorld& world, std::string const& path, ReplayIo const& io, ReplayTally& tally) {
    if (path.empty()) return {};
    auto const object = [&](k8s::Json one) { world.take(std::move(one)); };
    auto const unreadable = [&](events::Unreadable const& entry) {
        io.err << events::to_string(entry.place) << ": " << entry.reason << std::endl;
        tally.add(entry);
    };
    return read_state(path, object, unreadable);
}

std::vector<std::string> offline_notes(ReplaySettings const& asked, bool chance) {
    std::vector<std::string> notes;
    if (chance) {
        notes.push_back(
            "Offline: each object is as the archive and --state have it last, before the first event is handled; events are "
            "hints.");
    } else {
        notes.push_back(
            "Offline: the order of the archive counts, and an object is from its event on as the event says. Live, an event is a "
            "hint.");
    }
    notes.push_back(asked.state.empty() ? "What no event has told of is not there; --state can tell how things were before."
                                        : "What neither --state nor an event has told of is not there.");
    return notes;
}

std::vector<std::string> found_out(ReplayWorld& world, Replay const& replay, Settings const& settings) {
    std::vector<std::string> notes;
    if (!world.find(Cluster::Platform, kProviderConfigs, {{}, settings.provider_name})) {
        notes.push_back("No ProviderConfig found: neither --state nor an event has the ProviderConfig \"" +
                        settings.provider_name + "\", and without it nothing is installed.");
    }
    if (replay.left_out() > 0) {
        notes.push_back(std::to_string(replay.left_out()) +
                        " events were left out, since nothing has told how their Kro is; --state can.");
    }
    if (!world.assumed().empty()) {
        std::vector<std::string> names;
        for (auto const& name : world.assumed()) {
            if (names.size() < kNamed) names.push_back(name);
        }
        std::size_t const more = world.assumed().size() - names.size();
        notes.push_back("Assumed to be there, since others name them: " + base::joined(names) +
                        (more > 0 ? " and " + std::to_string(more) + " more" : "") + ".");
    }
    return notes;
}

std::atomic<bool> interrupted{false};

/// The second one ends the program at once.
extern "C" void on_interrupt(int) {
    interrupted = true;
    std::signal(SIGINT, SIG_DFL);
}

void wait_or_be_interrupted(std::chrono::nanoseconds duration) {
    auto const end = std::chrono::steady_clock::now() + duration;
    while (!interrupted && std::chrono::steady_clock::now() < end) {
        auto const left = end - std::chrono::steady_clock::now();
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds{50}));
    }
}

int replay_on_clusters(Settings const& settings, ReplayIo const& io) {
    std::vector<std::shared_ptr<k8s::OverlayApi>> overlays;
    auto const clusters = open_clusters(settings, [&](SharedApi api) {
        overlays.push_back(
            std::make_shared<k8s::OverlayApi>(std::move(api), base::system_clock(), k8s::OverlayApi::Writes::DryRun));
        return SharedApi{overlays.back()};
    });
    if (!clusters) {
        io.err << "kro-function: " << clusters.error().message << std::endl;
        return kFailed;
    }
    auto const forget = [&] {
        for (auto const& overlay : overlays) overlay->forget();
    };
    return replay_on(**clusters, forget, settings, base::system_clock(), io);
}

}  // namespace

int replay_offline(Settings const& settings, ReplayIo const& io) {
    ReplaySettings const& asked = settings.replay;
    auto const clock = std::make_shared<ReplayClock>();
    ReplayWorld world{[clock] { return clock->now(); }, provider_of(settings)};
    bool const chance = asked.leaves_to_chance();
    ReplayTally tally;
    if (auto const given = give_state(world, asked.state, io, tally); !given) {
        io.err << "kro-function: --state " << given.error() << std::endl;
        return kFailed;
    }
    Telling telling{settings, io, tally, offline_notes(asked, chance)};
    ReplayFeed feed{asked, io, tally};

    Replay::Options options = options_for(settings);
    options.knows_all = !asked.state.empty();
    options.takes_objects = !chance;
    Replay replay{world, clock, options,
                  [&](Handled const& handled, events::StoredEvent const& stored, std::string const& recorded) {
                      telling.add(handled, stored, recorded);
                  }};
    auto const take = [&](events::StoredEvent stored) { replay.take(std::move(stored)); };
    if (chance) {
        auto events = feed.read_all();
        for (auto const& stored : events) Replay::take_over(world, stored);
        feed.hand_on(std::move(events), take);
    } else {
        feed.stream(take);
    }
    if (asked.drop > 0 && feed.is_complete()) {
        clock->advance(clock->now() + kLater);
        replay.take(tick());
    }
    return telling.finish(feed, found_out(world, replay, settings), [&](Tenant const& tenant) {
        return !world.find(Cluster::Onboarding, kKros, {tenant.namespace_, tenant.name});
    });
}

int replay_on(Clusters& clusters, std::function<void()> const& next, Settings const& settings, base::Clock const& clock,
              ReplayIo const& io) {
    ReplayTally tally;
    Telling telling{
        settings,
        io,
        tally,
        {"On the real clusters as they are now. An event is a hint; every write is a dry run, and nothing is changed."}};
    ReplayFeed feed{settings.replay, io, tally};
    Replay replay{
        clusters, clock, options_for(settings),
        [&](Handled const& handled, events::StoredEvent const& stored, std::string const&) { telling.add(handled, stored, {}); }};
    auto const take = [&](events::StoredEvent stored) {
        next();
        replay.take(std::move(stored));
    };
    feed.run(take);
    return telling.finish(feed, {});
}

int replay_to(Settings const& settings, ReplayIo const& io) {
    auto poster = EventPoster::open(settings.replay.to);
    if (!poster) {
        io.err << "kro-function: --to " << poster.error() << std::endl;
        return kFailed;
    }
    ReplayTally tally;
    Telling telling{settings, io, tally, {"Posted to " + settings.replay.to + ", which alone says what it makes of them."}};
    ReplayFeed feed{settings.replay, io, tally};
    Replay::Options const options = options_for(settings);
    auto const take = [&](events::StoredEvent const& stored) {
        if (stored.event.type == kObservedType || !Replay::is_wanted(stored.event, options)) return;
        telling.add(stored, poster->post(stored.event));
    };
    feed.run(take);
    return telling.finish(feed, {});
}

int replay_command(Settings const& settings) {
    std::ios::sync_with_stdio(false);
    std::signal(SIGINT, on_interrupt);
    ReplayIo const io{.out = std::cout,
                      .err = std::cerr,
                      .audience = ::isatty(STDERR_FILENO) == 1 ? Audience::Person : Audience::Program,
                      .standard_input = STDIN_FILENO,
                      .interrupted = [] { return interrupted.load(); },
                      .wait = wait_or_be_interrupted};
    if (settings.replay.cluster) return replay_on_clusters(settings, io);
    if (!settings.replay.to.empty()) return replay_to(settings, io);
    return replay_offline(settings, io);
}

}  // namespace kro
