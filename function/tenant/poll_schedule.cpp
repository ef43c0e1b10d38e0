#include "function/tenant/poll_schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kro {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

/// "*" for each, "*/n" for each n-th.
std::string each(std::int64_t n) { return n == 1 ? "*" : "*/" + std::to_string(n); }

std::string cron_of(std::int64_t tick) {
    if (tick == kDay) return "0 0 * * *";
    if (tick >= kHour) return "0 " + each(tick / kHour) + " * * *";
    if (tick >= kMinute) return each(tick / kMinute) + " * * * *";
    return each(tick) + " * * * * *";
}

/// Whether a cron line can say it: so many seconds of a minute, minutes of an hour or hours of a day.
bool is_expressible(std::int64_t tick) {
    auto const divides = [tick](std::int64_t unit, std::int64_t whole) { return tick % unit == 0 && whole % tick == 0; };
    return divides(1, kMinute) || divides(kMinute, kHour) || divides(kHour, kDay);
}

/// The longest tick that is expressible and fits.
template <class Fits>
std::int64_t longest(Fits const& fits) {
    for (std::int64_t const unit : {kHour, kMinute, std::int64_t{1}}) {
        for (std::int64_t count = 60; count > 0; --count) {
            if (is_expressible(unit * count) && fits(unit * count)) return unit * count;
        }
    }
    return 1;
}

}  // namespace

PollSchedule schedule_for(std::chrono::nanoseconds poll_interval) {
    // Not from nanoseconds, which can't count the second that the longest of all rounds up to.
    auto const about = std::chrono::floor<std::chrono::microseconds>(poll_interval);
    auto const interval = std::max<std::int64_t>(1, std::chrono::round<std::chrono::seconds>(about).count());
    std::int64_t const dividing = longest([&](std::int64_t tick) { return interval % tick == 0; });
    std::int64_t const fine_enough = longest([&](std::int64_t tick) { return tick * 10 <= interval; });
    std::int64_t const tick = std::max(dividing, fine_enough);
    return {cron_of(tick), std::chrono::seconds{tick}, tick != interval, std::chrono::seconds{interval}};
}

bool is_due(PollSchedule const& schedule, std::optional<base::Time> last_resync, base::Time now) {
    if (!schedule.last_resync_decides || !last_resync) return true;
    auto const passed = now - *last_resync;
    // A clock that was set back must not stop it for ever.
    return passed < std::chrono::seconds{0} || passed >= schedule.interval - std::chrono::milliseconds{schedule.tick} / 2;
}

}  // namespace kro
