#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <string>

namespace k8s {

using base::Json;

/// `document` after the operations of a JSON patch (RFC 6902), or the first one that can't be carried out; then nothing has
/// happened. `test` compares as same_json does.
base::Result<Json, std::string> json_patched(Json document, Json const& patch);

}  // namespace k8s
