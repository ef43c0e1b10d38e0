#pragma once

#include "function/clusters.hpp"
#include "function/progress.hpp"
#include "function/resync.hpp"
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
