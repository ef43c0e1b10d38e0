#pragma once

#include "events/archive_text.hpp"
#include "events/http_binding.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace events {

/// The longest request line and headers of a stored HTTP message, together.
inline constexpr std::size_t kLongestHeaders = 65536;

/// Whether a line may be the first of an HTTP message: a request line, or a header.
bool is_http(std::string_view line);

/// The same, where that line can hardly be anything else: a request line, or a header that an event needs.
bool is_certainly_http(std::string_view line);

/// Takes the message that the text begins with: what there is of a request line, headers, an empty line, and as much of a body as
/// Content-Length says, none where neither it nor Content-Type is there. The error is one sentence; the text then goes on at the line that was wrong, or
/// behind the headers.
base::Result<HttpMessage, std::string> take_http(ArchiveText& text);

}  // namespace events
