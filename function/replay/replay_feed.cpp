#include "function/replay/replay_feed.hpp"

#include "function/record/recording.hpp"
#include "function/replay/replay.hpp"

#include <algorithm>
#include <ostream>
#include <random>

namespace kro {
namespace {

using std::chrono::steady_clock;

/// So many events may be answered while another one is.
constexpr std::size_t kWindow = 32;

/// The same on every machine, which the distributions of the standard library are not.
std::size_t below(std::size_t limit, std::mt19937_64& chance) { return static_cast<std::size_t>(chance() % limit); }

void shuffle(std::vector<events::StoredEvent>& events, std::mt19937_64& chance) {
    for (std::size_t left = events.size(); left > 1; --left) std::swap(events[left - 1], events[below(left, chance)]);
}

/// One of every `of` is left out, which one being chance's choice.
void drop(std::vector<events::StoredEvent>& events, std::size_t of, std::mt19937_64& chance) {
    std::vector<events::StoredEvent> kept;
    for (std::size_t begin = 0; begin < events.size(); begin += of) {
        std::size_t const dropped = begin + below(of, chance);
        for (std::size_t i = begin; i < std::min(begin + of, events.size()); ++i) {
            if (i != dropped) kept.push_back(std::move(events[i]));
        }
    }
    events = std::move(kept);
}

}  // namespace

ReplayFeed::ReplayFeed(ReplaySettings const& settings, ReplayIo const& io, ReplayTally& tally)
    : settings_(settings),
      io_(io),
      tally_(tally),
      reader_(settings.archives, io.standard_input),
      progress_(io.err, io.audience),
      begun_(steady_clock::now()) {}

/// How much standard input has is not known.
void ReplayFeed::show(std::uintmax_t done, std::uintmax_t total) {
    if (total == 0 || steady_clock::now() - begun_ < io_.progress_after || !progress_.is_due(done, total)) return;
    std::string const events = std::to_string(tally_.events()) + " events";
    progress_.show(done, total, events, events + " replayed, " + std::to_string(done * 100 / total) + " %");
}

/// None at the end, and where it was interrupted.
std::optional<events::StoredEvent> ReplayFeed::read() {
    while (complete_) {
        if (io_.interrupted()) {
            complete_ = false;
            break;
        }
        auto entry = reader_.next();
        if (!entry) break;
        if (auto* const stored = std::get_if<events::StoredEvent>(&*entry)) return std::move(*stored);
        auto const& unreadable = std::get<events::Unreadable>(*entry);
        io_.err << events::to_string(unreadable.place) << ": " << unreadable.reason << std::endl;
        tally_.add(unreadable);
    }
    return std::nullopt;
}

/// Puts one more into the window. Whether there was one.
bool ReplayFeed::read_unit() {
    std::optional<events::StoredEvent> beside;
    while (auto stored = read()) {
        if (stored->event.type == kObservedType) {
            beside = std::move(stored);
            continue;
        }
        // Of unknown time: after what was read before it.
        base::Time const received = stored->received.value_or(window_.empty() ? base::Time{} : window_.back().received);
        auto const at = std::upper_bound(window_.begin(), window_.end(), received,
                                         [](base::Time time, Unit const& unit) { return time < unit.received; });
        window_.insert(at, Unit{received, std::move(beside), *std::move(stored)});
        return true;
    }
    return false;
}

std::optional<ReplayFeed::Unit> ReplayFeed::next() {
    if (ended_) return std::nullopt;
    while (!read_to_the_end_ && window_.size() <= kWindow) read_to_the_end_ = !read_unit();
    if (window_.empty() || !complete_) return std::nullopt;
    Unit unit = std::move(window_.front());
    window_.pop_front();
    auto const time = time_of(unit.event);
    if (settings_.until_time && time && *time > *settings_.until_time) {
        ended_ = true;
        return std::nullopt;
    }
    ended_ = !settings_.until.empty() && unit.event.event.id == settings_.until;
    return unit;
}

void ReplayFeed::keep_pace(events::StoredEvent const& stored) {
    auto const time = time_of(stored);
    if (!time) return;
    if (settings_.speed > 0 && latest_ && *time > *latest_) {
        auto const gap = std::chrono::duration<double>(*time - *latest_) / settings_.speed;
        io_.wait(std::chrono::duration_cast<std::chrono::nanoseconds>(gap));
    }
    latest_ = std::max(latest_.value_or(*time), *time);
}

void ReplayFeed::hand_on(Unit unit, Take const& take) {
    if (unit.beside) take(*std::move(unit.beside));
    if (settings_.duplicate) take(unit.event);
    take(std::move(unit.event));
}

void ReplayFeed::stream(Take const& take) {
    while (auto unit = next()) {
        keep_pace(unit->event);
        hand_on(*std::move(unit), take);
        // The reader is ahead.
        auto const [done, total] = reader_.progress();
        bool const is_last = read_to_the_end_ && window_.empty();
        show(is_last ? total : std::min(done, std::max<std::uintmax_t>(total, 1) - 1), total);
    }
}

void ReplayFeed::run(Take const& take) { settings_.leaves_to_chance() ? hand_on(read_all(), take) : stream(take); }

std::vector<events::StoredEvent> ReplayFeed::read_all() {
    std::vector<events::StoredEvent> all;
    while (auto unit = next()) {
        if (unit->beside) all.push_back(*std::move(unit->beside));
        all.push_back(std::move(unit->event));
    }
    return all;
}

void ReplayFeed::hand_on(std::vector<events::StoredEvent> events, Take const& take) {
    std::erase_if(events, [](events::StoredEvent const& stored) { return stored.event.type == kObservedType; });
    if (settings_.duplicate) {
        std::vector<events::StoredEvent> twice;
        for (auto& stored : events) twice.insert(twice.end(), {stored, stored});
        events = std::move(twice);
    }
    std::mt19937_64 chance{settings_.shuffle.value_or(0)};
    if (settings_.shuffle) shuffle(events, chance);
    if (settings_.drop > 0) drop(events, settings_.drop, chance);
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (io_.interrupted()) {
            complete_ = false;
            return;
        }
        take(std::move(events[i]));
        show(i + 1, events.size());
    }
}

}  // namespace kro
