#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

/// RFC 4648 section 4, with padding and without line breaks.
std::string encode_base64(std::string_view bytes);

/// Whether white space may stand between the characters of a base64 text, as in the fields of a kubeconfig.
enum class WhiteSpace { Skipped, Refused };

/// The bytes of a base64 text. None where it is not base64, where the padding is missing, and where bits are left over.
std::optional<std::string> decode_base64(std::string_view text, WhiteSpace white_space = WhiteSpace::Skipped);

}  // namespace base
