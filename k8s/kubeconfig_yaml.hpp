#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

/// A YAML value as it was written: a scalar is its source text, whatever type a reader might see in it (`0123` is "0123", `yes`
/// is "yes"); only `~`, `null` and nothing at all are null.
struct YamlNode {
    enum class Kind { Null, Scalar, List, Map };
    Kind kind = Kind::Null;
    bool plain = false;   ///< a scalar without quotes
    bool tagged = false;  ///< carries a tag that would give it another meaning, like !!binary
    std::string text;     ///< of a scalar
    std::vector<std::shared_ptr<YamlNode const>> items;
    std::vector<std::pair<std::string, std::shared_ptr<YamlNode const>>>
        members;  ///< in the order of the text; keys may come twice
};

/// What a text may hold at most; a text from a stranger must cost little.
struct YamlLimits {
    std::size_t bytes = std::size_t{1} << 20U;
    std::size_t values = 20'000;
};

/// Reads the first document of a YAML 1.2 text in UTF-8. An alias shares its anchor's value, so that no text can grow by them.
/// Refused: what is beyond the limits, a nesting deeper than 100, UTF-16 and anything else that is not UTF-8.
/// A byte order mark is passed over, CRLF is a line end. The error is one sentence with line and column where there is one to
/// name, and never quotes the text.
base::Result<std::shared_ptr<YamlNode const>, std::string> parse_yaml(std::string_view text, YamlLimits const& limits = {});

}  // namespace k8s
