#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/reconcile/reconcile.hpp"

#include <optional>
#include <vector>

namespace kro {

/// How a round of writes went.
enum class Acted {
    Well,      ///< what the API servers returned is in `observed`
    Conflict,  ///< somebody else was faster: what is observed is out of date
    Failed,    ///< `observed.failed_step` says which and why
    Gone,      ///< the Kro is gone, which is what a deletion wants and an update can't help
    Mute,      ///< the tenant can't be told: the write of the Kro's status failed; `observed.failed_step` says why
};

/// Sends all steps at once and puts what came back into `observed`.
Acted act(Clusters& clusters, Observed& observed, std::vector<Step> const& steps, base::Deadline deadline, Report& report);

}  // namespace kro
