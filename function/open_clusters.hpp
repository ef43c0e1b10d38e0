#pragma once

#include "function/clusters.hpp"
#include "function/settings.hpp"

#include <memory>

namespace kro {

/// The clusters of a real installation, as the settings say. Nothing has been sent yet; a kubeconfig file that can't be used fails.
k8s::Result<std::unique_ptr<Clusters>> open_clusters(Settings const& settings);

}  // namespace kro
