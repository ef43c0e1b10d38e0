#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace events {

/// Base64 with padding, as RFC 4648 section 4 has it.
std::string to_base64(std::string_view bytes);

/// The bytes of canonical base64; none for anything else: white space, missing padding, the URL alphabet, bits left over.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace events
