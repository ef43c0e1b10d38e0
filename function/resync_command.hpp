#pragma once

#include "function/handle/resync.hpp"
#include "function/reconcile/clusters.hpp"
#include "function/report/progress.hpp"
#include "function/settings.hpp"

#include <iosfwd>
#include <memory>

namespace kro {

/// `kro-function resync [--dry-run]`: what a tick does, until nothing is left. Progress goes to `err`; `out` gets a table of the tenants that
/// needed something, what, and what became of it, and a line with the sums. Ends with 0 when nothing is left, and with 1 otherwise.
int resync_command(Clusters& clusters, Settings const& settings, base::Clock const& clock, std::ostream& out, std::ostream& err,
                   Audience audience);

/// The same on the clusters that the settings name, with the process's own streams.
int resync_command(Settings const& settings);

}  // namespace kro
