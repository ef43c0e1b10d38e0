#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kro {

/// Where answered events are written.
struct RecordSettings {
    std::string file;  ///< "" for nowhere
    std::uintmax_t max_size = std::uintmax_t{64} << 20U;
    std::chrono::nanoseconds max_age = std::chrono::hours{24};
    std::size_t keep = 8;
};

}  // namespace kro
