#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

using base::Json;

/// One object out of a text, or why it can't be read.
struct Manifest {
    std::size_t line = 1;  ///< where its document begins, counted from 1
    base::Result<Json, std::string> object;
};

/// The objects of a manifest as kubectl takes and prints it: YAML documents with `---` between them, or JSON; a List is its items. What
/// can't be read is an error of its own, a sentence that never quotes the text, and the rest is read all the same.
///
/// A scalar without quotes is a number where JSON would spell it so, true, false or null; anything else is text.
std::vector<Manifest> read_manifests(std::string_view text);

}  // namespace k8s
