#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/reconcile/reconcile.hpp"

#include <vector>

namespace kro {

/// Reads all targets at once and puts what was found into `observed`. A failure is found there, too: what it means is the plan's to say.
void observe(Clusters& clusters, Observed& observed, std::vector<Target> const& targets, base::Deadline deadline, Report& report);

/// The Secret with the kubeconfig of the control plane, as far as it has been looked at; null otherwise.
k8s::Json const& kubeconfig_of(Observed const& observed);

}  // namespace kro
