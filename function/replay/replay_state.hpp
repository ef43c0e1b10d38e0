#pragma once

#include "base/result.hpp"
#include "events/archive.hpp"
#include "k8s/object.hpp"

#include <functional>
#include <string>

namespace kro {

/// Reads how things are from a file or a folder of manifests, in YAML or JSON (k8s/manifest.hpp), as `kubectl get --output yaml` prints
/// them or a repository holds them. Of a folder all files that end in .yaml, .yml or .json, in those below it too, in the order of their
/// names. What can't be read is named and does no harm to the rest. The error is that there is nothing at `path`.
base::Result<void, std::string> read_state(std::string const& path, std::function<void(k8s::Json)> const& object,
                                           std::function<void(events::Unreadable)> const& unreadable);

}  // namespace kro
