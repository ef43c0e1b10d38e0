#pragma once

#include "base/clock.hpp"
#include "function/tenant/poll_schedule.hpp"
#include "k8s/object.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// How many tenants there are, as their own status says.
struct TenantCounts {
    std::int64_t total = 0;
    std::int64_t ready = 0;
    std::int64_t progressing = 0;  ///< not Ready and not Terminating, whatever they are called
    std::int64_t terminating = 0;

    /// Counts one more, by its `status.phase`.
    void add(std::string_view phase);
};

/// What a whole resync found out about the ProviderConfig itself. The faults are sentences.
struct ProviderFindings {
    TenantCounts tenants;
    std::string config_fault;    ///< it can't be read; "" where it can
    std::string interval_fault;  ///< its pollInterval can't be used; "" where it can
    std::string schedule_fault;  ///< the PingSource can't be given the schedule; "" where it was
};

/// The `status` that is applied to a ProviderConfig: observedGeneration, lastResyncTime, tenants, and the conditions Available (tenants are
/// served), Progressing (some are not as they should be yet) and Degraded (an operator has something to put right).
k8s::Json desired_provider_status(k8s::Json const& provider_config, ProviderFindings const& findings, base::Time now);

/// Whether `desired` is worth a write: it says something new, or lastResyncTime is an interval old. Conditions of others don't count.
bool provider_status_differs(k8s::Json const& provider_config, k8s::Json const& desired, PollSchedule const& schedule,
                             base::Time now);

/// `status.lastResyncTime`; none where there is none.
std::optional<base::Time> last_resync_of(k8s::Json const& provider_config);

}  // namespace kro
