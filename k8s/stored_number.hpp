#pragma once

#include "base/json.hpp"

namespace k8s {

using base::Json;

/// Whether an API server takes this number for an integer: `3`, `3.0`, `3e2`.
bool is_integral(Json const& number);

/// Every number in `value` as an API server spells it after storing: integers in 64 bits, everything else the shortest text of
/// its double (`1.0` is 1, `1e3` is 1000, 18446744073709551615 is 18446744073709552000). False where one is no double (`1e400`):
/// it stays. Source: k8s.io/apimachinery, util/json; Go's encoding/json for float64.
bool respell_numbers(Json& value);

/// The same for the body of a server-side apply, which is read as YAML: a number that is no double becomes a string.
void respell_numbers_as_yaml(Json& value);

}  // namespace k8s
