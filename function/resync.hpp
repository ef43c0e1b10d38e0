#pragma once

#include "function/reconcile.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kro {

/// Every tenant there is: the Kros of the onboarding cluster, page by page.
k8s::Result<std::vector<Tenant>> all_tenants(Clusters& clusters, base::Deadline deadline, Report& report);

/// Brings every tenant to its desired state, `parallel` at a time, by `run`. The report's outcome is the worst of theirs, and names the
/// first that needs another try.
Report resync(std::vector<Tenant> const& tenants, int parallel, std::function<Report(Tenant const&)> const& run);

}  // namespace kro
