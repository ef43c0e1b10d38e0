#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace kro {

/// Go's duration syntax, all of it: a sign, then decimal numbers with a unit each (`1h30m`, `1.5h`, `1m0.5s`, `1µs`), or `0`.
/// None for anything else, and for what does not fit into 64 bits of nanoseconds.
/// Source: Go, time.ParseDuration.
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text);

}  // namespace kro
