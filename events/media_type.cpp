#include "events/media_type.hpp"

#include <algorithm>

namespace events {
namespace {

/// RFC 9110 section 5.6.2.
bool in_token(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos);
}

std::string_view take_token(std::string_view& text) {
    auto const end = std::find_if_not(text.begin(), text.end(), in_token);
    auto const token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(token.size());
    return token;
}

bool take(std::string_view& text, char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
}

/// RFC 9110 section 5.6.4, printable ASCII only. The opening quote has been taken.
std::optional<std::string> take_quoted(std::string_view& text) {
    std::string value;
    while (!text.empty() && !text.starts_with('"')) {
        if (text.starts_with('\\')) text.remove_prefix(1);
        if (text.empty() || text.front() < 0x20 || text.front() > 0x7e) return std::nullopt;
        value += text.front();
        text.remove_prefix(1);
    }
    if (!take(text, '"')) return std::nullopt;
    return value;
}

std::optional<std::string> take_value(std::string_view& text) {
    if (take(text, '"')) return take_quoted(text);
    auto const token = take_token(text);
    return token.empty() ? std::nullopt : std::optional<std::string>{token};
}

}  // namespace

std::optional<MediaType> parse_media_type(std::string_view text) {
    text = trimmed(text);
    auto const type = take_token(text);
    if (type.empty() || !take(text, '/')) return std::nullopt;
    auto const subtype = take_token(text);
    if (subtype.empty()) return std::nullopt;
    MediaType media{lower_case(type) + "/" + lower_case(subtype), {}};
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        if (!take(text, ';')) return std::nullopt;
        text = trimmed(text);
        if (text.empty() || text.starts_with(';')) continue;
        auto const name = take_token(text);
        if (name.empty() || !take(text, '=')) return std::nullopt;
        auto const value = take_value(text);
        if (!value) return std::nullopt;
        if (lower_case(name) == "charset") media.charset = lower_case(*value);
    }
    return media;
}

bool is_json(MediaType const& media) { return media.name.ends_with("/json") || media.name.ends_with("+json"); }

bool is_utf8(MediaType const& media) {
    return media.charset.empty() || media.charset == "utf-8" || media.charset == "utf8" || media.charset == "us-ascii";
}

std::string lower_case(std::string_view text) {
    std::string out{text};
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::string_view trimmed(std::string_view text) {
    auto const blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace events
