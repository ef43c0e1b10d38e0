#include "events/archive_http.hpp"

#include "events/archive.hpp"
#include "events/media_type.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace events {
namespace {

using base::Failure;

/// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               kOthers.find(c) != std::string_view::npos;
    });
}

std::string_view without_line_end(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

/// RFC 9112 section 3.
bool is_request_line(std::string_view line) {
    line = without_line_end(line);
    auto const target = line.find(' ');
    auto const version = line.rfind(' ');
    return target != std::string_view::npos && version > target && is_token(line.substr(0, target)) &&
           line.substr(version + 1).starts_with("HTTP/");
}

std::optional<std::pair<std::string, std::string>> header_of(std::string_view line) {
    auto const colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
    return std::pair{std::string{line.substr(0, colon)}, std::string{trimmed(line.substr(colon + 1))}};
}

std::optional<std::string> header(HttpMessage const& message, std::string_view name) {
    for (auto const& [header, value] : message.headers) {
        if (lower_case(header) == name) return value;
    }
    return std::nullopt;
}

/// The next line without its end; none where the file ends before the line does, or the headers are too long.
std::optional<std::string_view> line_at(ArchiveText& text, std::size_t begin) {
    for (;;) {
        auto const end = text.view().find('\n', begin);
        if (end != std::string_view::npos) return text.view().substr(begin, end - begin);
        if (text.view().size() > kLongestHeaders || !text.more()) return std::nullopt;
    }
}

/// Of the body; the error as take_http's.
base::Result<std::size_t, std::string> length_of(HttpMessage const& message) {
    if (header(message, "transfer-encoding")) {
        return Failure{std::string{"is an HTTP message in chunks; only a body with a Content-Length is read"}};
    }
    auto const written = header(message, "content-length");
    if (!written && !header(message, "content-type")) return std::size_t{0};
    if (!written) return Failure{std::string{"is an HTTP message without Content-Length: where its body ends can't be told"}};
    std::size_t length = 0;
    auto const [end, fault] = std::from_chars(written->data(), written->data() + written->size(), length);
    if (fault == std::errc::result_out_of_range || length > kLongestEvent) {
        return Failure{"is an HTTP message with a body of more than " + std::to_string(kLongestEvent >> 20U) + " MiB"};
    }
    if (fault != std::errc{} || end != written->data() + written->size()) {
        return Failure{std::string{"is an HTTP message whose Content-Length is no number"}};
    }
    return length;
}

/// Request line and headers up to the empty line, which the text begins behind afterwards.
base::Result<HttpMessage, std::string> take_headers(ArchiveText& text) {
    HttpMessage message;
    std::size_t at = 0;
    for (;;) {
        auto const whole = line_at(text, at);
        bool const too_long = text.view().size() > kLongestHeaders;
        if (!whole) {
            text.pass(text.view().size());
            return Failure{
                std::string{too_long ? "has headers of more than 64 KiB" : "is cut short: the file ends in its headers"}};
        }
        auto const line = without_line_end(*whole);
        auto field = header_of(line);
        if (!line.empty() && !field && (at > 0 || !is_request_line(line))) {
            text.pass(at);
            bool const event = std::any_of(message.headers.begin(), message.headers.end(),
                                           [](auto const& one) { return lower_case(one.first).starts_with("ce-"); });
            return Failure{event ? "is an HTTP message that is cut short: line " + std::to_string(text.line()) + " is no header"
                                 : "is neither a CloudEvent in JSON nor an HTTP message"};
        }
        at += whole->size() + 1;
        if (field) message.headers.push_back(*std::move(field));
        if (line.empty()) break;
    }
    text.pass(at);
    return message;
}

}  // namespace

bool is_http(std::string_view line) { return is_request_line(line) || header_of(without_line_end(line)).has_value(); }

bool is_certainly_http(std::string_view line) {
    std::string const name = lower_case(line.substr(0, line.find(':')));
    bool const known = name.starts_with("ce-") || name == "content-type" || name == "content-length";
    return is_request_line(line) || (known && header_of(without_line_end(line)));
}

base::Result<HttpMessage, std::string> take_http(ArchiveText& text) {
    HttpMessage message = TRY(take_headers(text));
    std::size_t const length = TRY(length_of(message));
    if (!text.has(length)) {
        return Failure{"is cut short: of its body's " + std::to_string(length) + " bytes there are " +
                       std::to_string(text.view().size())};
    }
    message.body = text.view().substr(0, length);
    text.pass(length);
    return message;
}

}  // namespace events
