#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/settings.hpp"

#include <functional>
#include <memory>

namespace kro {

/// What stands before each API server that is opened.
using Wrap = std::function<SharedApi(SharedApi)>;

/// The clusters of a real installation, as the settings say. Nothing has been sent yet; a kubeconfig file that can't be used fails.
k8s::Result<std::unique_ptr<Clusters>> open_clusters(
    Settings const& settings, Wrap const& wrap = [](SharedApi api) { return api; });

}  // namespace kro
