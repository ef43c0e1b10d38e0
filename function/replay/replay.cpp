#include "function/replay/replay.hpp"

#include "base/text.hpp"
#include "events/knative.hpp"
#include "function/record/recording.hpp"

#include <spdlog/sinks/null_sink.h>

namespace kro {
namespace {

/// Nobody waits for an answer, and how fast the machine is may not matter.
constexpr std::chrono::hours kNoHurry{24 * 365};

std::shared_ptr<spdlog::logger> no_log() {
    auto logger = std::make_shared<spdlog::logger>("replay", std::make_shared<spdlog::sinks::null_sink_mt>());
    logger->set_level(spdlog::level::off);
    return logger;
}

EventHandler::Options handler_options(Replay::Options const& options) {
    EventHandler::Options of_handler;
    of_handler.budget = kNoHurry;
    of_handler.resync.parallel = 1;
    of_handler.resync.ping_source = options.ping_source;
    of_handler.keep = options.keep;
    return of_handler;
}

/// Which state of its object the event tells of.
void set_version(Route& route, std::string const& version) {
    if (auto* const one = std::get_if<ForTenant>(&route)) one->resource_version = version;
    if (auto* const all = std::get_if<ForEveryone>(&route)) all->resource_version = version;
}

/// How it went when it was recorded, where that was not the same.
std::string recorded_otherwise(events::StoredEvent const& stored, Outcome const& outcome, ReplayedApi::Strayed const& strayed) {
    std::string text;
    auto const add = [&](std::string const& part) { text += (text.empty() ? "" : "; ") + part; };
    if (!stored.outcome.empty() && stored.outcome != name_of(outcome.kind)) {
        add("recorded as " + stored.outcome + (stored.why.empty() ? "" : ": " + stored.why));
    }
    if (!strayed.missing.empty()) add("recorded but not done now: " + base::joined(strayed.missing));
    if (!strayed.added.empty()) add("done now but not recorded: " + base::joined(strayed.added));
    return text;
}

}  // namespace

std::optional<base::Time> time_of(events::StoredEvent const& stored) {
    if (stored.received) return stored.received;
    return stored.event.time ? base::parse_rfc3339(*stored.event.time) : std::nullopt;
}

Replay::Replay(ReplayWorld& world, std::shared_ptr<ReplayClock> clock, Options options, Told told)
    : Replay(
          world.clusters(), &world, clock, [clock] { return clock->now(); }, std::move(options), std::move(told)) {}

Replay::Replay(Clusters& clusters, base::Clock clock, Options options, Told told)
    : Replay(clusters, nullptr, nullptr, std::move(clock), std::move(options), std::move(told)) {}

Replay::Replay(Clusters& clusters, ReplayWorld* world, std::shared_ptr<ReplayClock> replay_clock, base::Clock clock,
               Options options, Told told)
    : world_(world),
      replay_clock_(std::move(replay_clock)),
      clock_(std::move(clock)),
      options_(std::move(options)),
      told_(std::move(told)),
      handler_(clusters, options_.provider, handler_options(options_), clock_, metrics_, no_log()) {
    handler_.set_witness([this](Handled const& handled) { tell(handled); });
}

void Replay::take(events::StoredEvent stored) {
    if (stored.event.type == kObservedType) {
        beside_ = std::move(stored.event);
        return;
    }
    auto const time = time_of(stored);
    if (replay_clock_ && time) replay_clock_->advance(*time);
    auto meaning = events::meaning_of(stored.event);
    auto const understood = route(stored.event, meaning, options_.provider);
    Route way = understood ? *understood : Route{ForNobody{}};
    auto const parts = recorded_parts(stored.event);
    bool const wanted = is_wanted(stored.event.type, way, options_);
    if (world_ != nullptr && options_.takes_objects) {
        if (auto* const about = meaning ? std::get_if<events::ObjectEvent>(&*meaning) : nullptr) {
            if (auto const own = world_->take(std::move(*about))) set_version(way, *own);
        }
        wanted ? world_->expect(parts) : world_->take(parts);
        follow_recording(stored, way, !parts.empty());
    }
    if (!wanted) return;
    bool const shared = std::any_of(parts.begin(), parts.end(), [](RecordedPart const& part) { return part.shared; });
    if (shared) {
        answer_without_run(stored, way, {Outcome::Kind::Done, "answered by the run for another event"});
    } else if (parts.empty() && is_unknown(way)) {
        ++left_out_;
        answer_without_run(stored, way,
                           {Outcome::Kind::Done, "left out: nothing has told how Kro " + whom_of(way) + " is; --state can"});
    } else {
        current_ = &stored;
        handler_.handle(stored.event, understood ? &way : nullptr);
        current_ = nullptr;
    }
}

/// Live, events come while others are answered; whether one was an echo by then is the recording's to say.
void Replay::follow_recording(events::StoredEvent const& stored, Route& route, bool was_run) {
    if (stored.outcome.empty()) return;
    if (was_run) return set_version(route, {});
    if (stored.why != kEcho) return;
    if (auto const* one = std::get_if<ForTenant>(&route)) handler_.remember({{one->object, one->resource_version}});
    if (auto const* all = std::get_if<ForEveryone>(&route)) handler_.remember({{all->object, all->resource_version}});
}

/// What a recording has beside this event; empty where it has nothing.
std::vector<RecordedPart> Replay::recorded_parts(events::CloudEvent const& event) {
    auto const beside = std::exchange(beside_, std::nullopt);
    if (!beside || world_ == nullptr) return {};
    events::Json const& data = events::json_data(*beside);
    events::Json const& whose = base::member(data, "event");
    bool const fits =
        base::text_of(base::member(whose, "id")) == event.id && base::text_of(base::member(whose, "source")) == event.source;
    return fits ? read_recorded_parts(data, world_->clusters()) : std::vector<RecordedPart>{};
}

bool Replay::is_wanted(std::string const& type, Route const& route, Options const& options) {
    if (!options.type.empty() && type != options.type) return false;
    if (!options.tenant) return true;
    if (auto const* one = std::get_if<ForTenant>(&route)) return one->tenant == *options.tenant;
    if (auto const* in = std::get_if<ForNamespace>(&route)) return in->namespace_ == tenant_namespace(*options.tenant);
    return !std::holds_alternative<ForNobody>(route);
}

bool Replay::is_wanted(events::CloudEvent const& event, Options const& options) {
    auto const way = route(event, events::meaning_of(event), options.provider);
    return is_wanted(event.type, way ? *way : Route{ForNobody{}}, options);
}

void Replay::take_over(ReplayWorld& world, events::StoredEvent stored) {
    if (stored.event.type == kObservedType) {
        return world.take(read_recorded_parts(events::json_data(stored.event), world.clusters()));
    }
    auto meaning = events::meaning_of(stored.event);
    if (auto* const about = meaning ? std::get_if<events::ObjectEvent>(&*meaning) : nullptr) {
        world.take(std::move(*about));
    }
}

bool Replay::is_unknown(Route const& route) const {
    auto const* one = std::get_if<ForTenant>(&route);
    return world_ != nullptr && !options_.knows_all && one != nullptr && !world_->knows(one->tenant);
}

void Replay::answer_without_run(events::StoredEvent const& stored, Route const& route, Outcome outcome) {
    Handled handled{stored.event, clock_()};
    handled.whom = whom_of(route);
    handled.routed = why_of(route);
    handled.report.outcome = std::move(outcome);
    if (world_ != nullptr) static_cast<void>(world_->conclude());
    told_(handled, stored, {});
}

void Replay::tell(Handled const& handled) {
    std::string recorded;
    if (world_ != nullptr && options_.takes_objects) {
        recorded = recorded_otherwise(*current_, handled.report.outcome, world_->conclude());
    }
    if (!options_.tenant || handled.findings.empty()) return told_(handled, *current_, recorded);
    Handled narrowed = handled;
    std::erase_if(narrowed.findings, [&](Finding const& finding) { return finding.tenant != *options_.tenant; });
    told_(narrowed, *current_, recorded);
}

}  // namespace kro
