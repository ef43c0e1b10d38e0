#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace events {

/// A media type as far as it matters here: type and subtype (`application/json`) and the charset, both in lower case.
struct MediaType {
    std::string name;
    std::string charset;  ///< "" where none is said
};

/// Reads `type/subtype; parameter=value; other="quoted"`; none where the text is something else.
/// Source: RFC 9110 section 8.3.1. A parameter's value is printable ASCII, so that it can always stand in a header.
std::optional<MediaType> parse_media_type(std::string_view text);

/// Whether it declares JSON: `*/json` or `*/*+json`.
/// Source: CloudEvents JSON format 1.0.2, section 3.1.1.
bool is_json(MediaType const& media);

/// Whether its text can be read as UTF-8.
bool is_utf8(MediaType const& media);

/// ASCII letters in lower case, everything else as it is; the locale has no say.
std::string lower_case(std::string_view text);

/// Without spaces and tabs at both ends (RFC 9110's OWS).
std::string_view trimmed(std::string_view text);

}  // namespace events
