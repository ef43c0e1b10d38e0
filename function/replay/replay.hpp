#pragma once

#include "events/archive.hpp"
#include "function/handle/handle.hpp"
#include "function/handle/metrics.hpp"
#include "function/replay/replay_world.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kro {

/// The time of a replay: that of the event that is being handled. It never goes backwards.
class ReplayClock {
  public:
    base::Time now() const { return now_; }
    void advance(base::Time time) { now_ = std::max(now_, time); }

  private:
    base::Time now_{std::chrono::seconds{946'684'800}};  ///< 2000-01-01T00:00:00Z, until an event tells one
};

/// When an event happened: when it was received, or else what it says itself; none where neither is known.
std::optional<base::Time> time_of(events::StoredEvent const& stored);

/// Hands stored events to the real event handler, one after the other and on one thread.
///
/// Offline that is done on a ReplayWorld, each event at its own time. What an event says of its object is taken over before it is handled;
/// where a recording has what the live run looked at, it is shown just that; where a recording says that an event was an echo, it is taken for
/// one, although the write may be none of this replay's. The same events give the same, to the byte.
///
/// On other clusters an event is what it is to the function: a hint that something has changed.
class Replay {
  public:
    struct Options {
        Provider provider = {};
        std::string ping_source = {};
        std::optional<Tenant> tenant = std::nullopt;  ///< only events that concern this one are handled, ...
        std::string type = {};      ///< ... and only those of this type; "" for any. The others only say how things are.
        bool takes_objects = true;  ///< offline: whether the events say how their objects are, or the world knows that already
        bool knows_all = false;     ///< offline: a Kro that the world does not have is gone, and not just unknown
        Keep keep = Keep::Sums;
    };
    /// Told of every event that was handled, with what its recording says otherwise ("" for nothing).
    using Told = std::function<void(Handled const&, events::StoredEvent const&, std::string const& recorded)>;

    Replay(ReplayWorld& world, std::shared_ptr<ReplayClock> clock, Options options, Told told);
    Replay(Clusters& clusters, base::Clock clock, Options options, Told told);

    /// Takes the next event of an archive, or what a recording has beside the one that comes next.
    void take(events::StoredEvent stored);

    /// How many events were not handled, since nothing has told of their tenant's Kro.
    std::size_t left_out() const { return left_out_; }

    /// Whether an event is one of those that are handled.
    static bool is_wanted(events::CloudEvent const& event, Options const& options);
    /// Takes over what an entry of an archive says of objects: of its event's, or of those that were looked at.
    static void take_over(ReplayWorld& world, events::StoredEvent stored);

  private:
    static bool is_wanted(std::string const& type, Route const& route, Options const& options);
    Replay(Clusters& clusters, ReplayWorld* world, std::shared_ptr<ReplayClock> replay_clock, base::Clock clock, Options options,
           Told told);
    bool is_unknown(Route const& route) const;
    std::vector<RecordedPart> recorded_parts(events::CloudEvent const& event);
    void follow_recording(events::StoredEvent const& stored, Route& route, bool was_run);
    void answer_without_run(events::StoredEvent const& stored, Route const& route, Outcome outcome);
    void tell(Handled const& handled);

    ReplayWorld* world_;                         ///< none on other clusters
    std::shared_ptr<ReplayClock> replay_clock_;  ///< likewise
    base::Clock clock_;
    Options options_;
    Told told_;
    Metrics metrics_;
    EventHandler handler_;
    std::optional<events::CloudEvent> beside_;      ///< what a recording has beside the event that comes next
    events::StoredEvent const* current_ = nullptr;  ///< while it is handled
    std::size_t left_out_ = 0;
};

}  // namespace kro
