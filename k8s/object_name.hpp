#pragma once

#include "k8s/resource_rules.hpp"

#include <vector>

namespace k8s {

/// What an API server finds wrong with an object's name and labels.
/// Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ and .../labels/#syntax-and-character-set
std::vector<Violation> name_violations(Resource const& resource, Json const& object);

}  // namespace k8s
