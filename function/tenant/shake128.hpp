#pragma once

#include <array>
#include <string_view>

namespace kro {

/// 16 bytes that stand for a text.
using Digest = std::array<unsigned char, 16>;

/// The first 16 bytes of SHAKE128 over `text`. Source: FIPS 202.
Digest shake128(std::string_view text);

}  // namespace kro
