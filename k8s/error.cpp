#include "k8s/error.hpp"

#include <algorithm>
#include <charconv>

namespace k8s {
namespace {

using base::Json;
using base::member;
using base::text_of;

constexpr std::size_t kMessageLimit = 1024;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A 422 that means that the object is no longer what the request was made for.
/// Source: kube-apiserver 1.34. A JSON patch whose test failed, or whose path is gone, is answered with the first text and no
/// cause; an update or apply that carries another uid than the object's with the last.
bool is_conflict(std::string_view message) {
    return has(message, "the server rejected our request due to an error in our request") || has(message, "testing value") ||
           (has(message, "metadata.uid: Invalid value") && has(message, "field is immutable"));
}

Error::Kind kind_of(int http_status, std::string_view reason, std::string_view message) {
    switch (http_status) {
        case 401: return Error::Kind::Unauthorized;
        case 403: return Error::Kind::Forbidden;
        case 404: return Error::Kind::NotFound;
        case 409: return reason == "AlreadyExists" ? Error::Kind::AlreadyExists : Error::Kind::Conflict;
        case 410: return Error::Kind::Expired;
        case 422: return is_conflict(message) ? Error::Kind::Conflict : Error::Kind::Invalid;
        case 429: return Error::Kind::Throttled;
        // An apply that does not fit the schema (a field that it does not know, another type) is answered 500 with this text.
        case 500: return has(message, "failed to create typed patch object") ? Error::Kind::Invalid : Error::Kind::Unavailable;
        default: break;
    }
    return http_status >= 400 && http_status < 500 ? Error::Kind::Invalid : Error::Kind::Unavailable;
}

/// A patch that breaks strict field validation is answered with the whole object in the text, a Secret's data too: without it.
std::string without_object(std::string message) {
    constexpr std::string_view kBefore = "patch: Invalid value: \"";
    constexpr std::string_view kAfter = "\": strict decoding error";
    auto const from = message.find(kBefore);
    if (from == std::string::npos) return message;
    auto const to = message.rfind(kAfter);
    bool const closed = to != std::string::npos && to >= from + kBefore.size();
    return message.replace(from + kBefore.size(), closed ? to - from - kBefore.size() : std::string::npos, "...");
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, base::Time now) {
    if (text.empty()) return std::nullopt;
    long value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc{} && end == text.data() + text.size()) return std::chrono::seconds{std::max(1L, value)};
    auto const date = base::parse_http_date(text);
    if (!date) return std::nullopt;
    return std::max(std::chrono::seconds{1}, std::chrono::ceil<std::chrono::seconds>(*date - now));
}

}  // namespace

bool may_pass(Error const& error) {
    return error.kind == Error::Kind::Unavailable || error.kind == Error::Kind::Throttled ||
           error.kind == Error::Kind::Conflict || error.kind == Error::Kind::Expired;
}

bool has_cause(Error const& error, std::string_view reason) {
    return std::find(error.causes.begin(), error.causes.end(), reason) != error.causes.end();
}

Error error_of(int http_status, std::string_view body, std::string_view what, std::string_view retry_after, base::Time now) {
    Error error;
    error.http_status = http_status;
    error.retry_after = parse_retry_after(retry_after, now);

    auto const parsed = base::parse_json(body);
    Json const status = parsed && text_of(member(*parsed, "kind")) == "Status" ? *parsed : Json();
    std::string const reason = text_of(member(status, "reason"));
    std::string said =
        status.is_null() ? base::valid_utf8(body.substr(0, kMessageLimit)) : without_object(text_of(member(status, "message")));
    said.resize(said.find_last_not_of(" \n\r\t") + 1);
    error.kind = kind_of(http_status, reason, said);

    if (auto const& causes = member(status, "details", "causes"); causes.is_array()) {
        for (auto const& cause : causes) error.causes.push_back(text_of(member(cause, "reason")));
    }
    if (!error.retry_after) {
        if (auto const seconds = base::integer_of(member(status, "details", "retryAfterSeconds")); seconds > 0) {
            error.retry_after = std::chrono::seconds{seconds};
        }
    }
    error.continue_token = text_of(member(status, "metadata", "continue"));
    error.type_not_served = http_status == 404 && text_of(member(status, "details", "name")).empty();
    error.message = std::string{what} + ": " + std::to_string(http_status);
    if (!reason.empty()) error.message += " " + reason;
    if (!said.empty()) error.message += ": " + said;
    error.message = base::cut_utf8(std::move(error.message), kMessageLimit);
    return error;
}

}  // namespace k8s
