#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace k8s {

/// RFC 4648 section 4, with padding and without line breaks, as a Secret's `data` is written.
std::string encode_base64(std::string_view bytes);

/// The bytes of a base64 text; white space between its characters is passed over. None where it is not base64, where the padding
/// is missing, and where bits are left over.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace k8s
