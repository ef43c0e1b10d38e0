#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace k8s {

using base::Json;

/// Reads the text of a list item by item, so that a page never stands in memory as one tree, and without what it is mostly made of and
/// nobody asks for: `metadata.managedFields` of the items. Returns the list with no items left in it.
/// A text that breaks off or is no JSON fails; what came before has been visited by then. The error is as parse_json's.
base::Result<Json, std::string> read_list(std::string_view text, std::function<void(Json&)> const& visit);

}  // namespace k8s
