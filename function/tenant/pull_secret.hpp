#pragma once

#include "k8s/object.hpp"

#include <optional>
#include <string>

namespace kro {

/// Which types of Secret are taken: the chart's registry needs the first alone, the kubelet takes both.
enum class PullSecretTypes { DockerConfigJson, DockerConfigJsonOrDockerCfg };

/// What is wrong with a pull secret, as a sentence that names it and never shows its contents; none where it can be copied.
/// An empty list of registries is no fault: the registry decides.
std::optional<std::string> pull_secret_fault(k8s::Json const& secret, PullSecretTypes taken);

}  // namespace kro
