#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace kro {

/// When a PingSource ticks, so that a resync comes every `pollInterval`.
struct PollSchedule {
    std::string cron;  ///< 5 fields, or 6 with the seconds first; never `@every`, which Knative refuses
    std::chrono::seconds tick{60};
    /// No cron line says the interval, so it ticks more often, and the time of the last resync decides which tick brings one.
    bool last_resync_decides = false;
    std::chrono::seconds interval{60};  ///< what is aimed at: the poll interval in whole seconds

    bool operator==(PollSchedule const&) const = default;
};

/// The schedule for a poll interval of at least a second. The interval itself where it divides a minute, an hour or a day; otherwise the
/// longest such tick that divides it, or that is at most a tenth of it: a tick more or less in an interval does not matter, and a tick
/// every second for an interval of 3,601 would never let the function sleep.
/// Source: robfig/cron, which PingSource uses; Knative Eventing's webhook for what it refuses.
PollSchedule schedule_for(std::chrono::nanoseconds poll_interval);

/// Whether this tick brings a resync. Ticks come late by up to a second, and times are kept in whole seconds, so half a tick is let go.
bool is_due(PollSchedule const& schedule, std::optional<base::Time> last_resync, base::Time now);

}  // namespace kro
