#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kro {

enum class GzipFault {
    Malformed,  ///< not gzip, cut short, or followed by something else
    TooLarge,   ///< more than the limit comes out
};

/// Undoes gzip (RFC 1952, one member or several) and stops as soon as more than `limit` bytes have come out.
base::Result<std::string, GzipFault> gunzip(std::string_view compressed, std::size_t limit);

}  // namespace kro
