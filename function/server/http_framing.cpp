#include "function/server/http_framing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kro {
namespace {

constexpr std::size_t kTargetLimit = std::size_t{8} << 10U;  // RFC 9112 section 3: at least 8000 octets
constexpr std::size_t kChunkSizeLimit = 256;
constexpr std::size_t kFieldLimit = 512;

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// RFC 9110 section 5.6.2: the signs of a method and of a field name.
bool is_token_sign(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-.^_`|~"); }
bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_sign); }

/// RFC 9110 section 5.5: visible, obs-text, space and tab; no control characters.
bool is_value_sign(char c) {
    auto const byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\t';
}

/// RFC 9112 section 3.2: visible signs; a fragment is never sent.
bool is_target_sign(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_one_of(text.front(), " \t")) text.remove_prefix(1);
    while (!text.empty() && is_one_of(text.back(), " \t")) text.remove_suffix(1);
    return text;
}

bool list_has(std::string_view list, std::string_view word) {
    for (;;) {
        auto const comma = list.find(',');
        if (same_word(trimmed(list.substr(0, comma)), word)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

std::vector<std::string_view> values_of(events::HttpMessage const& message, std::string_view name) {
    std::vector<std::string_view> values;
    for (auto const& [key, value] : message.headers) {
        if (same_word(key, name)) values.emplace_back(value);
    }
    return values;
}

/// RFC 9112 section 3.2: the path of an origin-form or absolute-form target, or `*`.
std::optional<std::string> path_of(std::string_view method, std::string_view target) {
    if (target == "*") return method == "OPTIONS" ? std::optional{std::string{target}} : std::nullopt;
    if (target.starts_with("http://") || target.starts_with("https://")) {
        target.remove_prefix(target.find("://") + 3);
        auto const end = std::min(target.find_first_of("/?"), target.size());
        if (end == 0) return std::nullopt;
        target.remove_prefix(end);
        if (target.empty() || target.front() == '?') return "/";
    }
    if (target.empty() || target.front() != '/') return std::nullopt;
    return std::string{target.substr(0, target.find('?'))};
}

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// RFC 9110 section 8.6: digits only. A number beyond 64 bits is kEndless.
std::optional<std::uint64_t> content_length(std::string_view text) {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    std::uint64_t length = 0;
    for (char const c : text) {
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (length > (kEndless - digit) / 10) return kEndless;
        length = length * 10 + digit;
    }
    return length;
}

std::optional<std::uint64_t> hex_digit(char c) {
    if (is_digit(c)) return static_cast<std::uint64_t>(c - '0');
    auto const letter = lower(c);
    if (letter >= 'a' && letter <= 'f') return static_cast<std::uint64_t>(letter - 'a' + 10);
    return std::nullopt;
}

/// RFC 9112 section 7.1: hexadecimal digits, then perhaps extensions, which are ignored. More than 16 digits are no size.
std::optional<std::uint64_t> chunk_size(std::string_view line) {
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; digits < line.size(); ++digits) {
        auto const digit = hex_digit(line[digits]);
        if (!digit) break;
        size = (size << 4U) | *digit;
    }
    if (digits == 0 || digits > 16) return std::nullopt;
    auto const rest = trimmed(line.substr(digits));
    bool const has_extension = !rest.empty() && rest.front() == ';' && std::all_of(rest.begin(), rest.end(), is_value_sign);
    return digits == line.size() || has_extension ? std::optional{size} : std::nullopt;
}

}  // namespace

bool same_word(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) { return lower(a) == lower(b); });
}

std::size_t RequestReader::read(std::string_view bytes) {
    std::size_t taken = 0;
    while (taken < bytes.size() && part_ != Part::Complete && part_ != Part::Refused) {
        auto const rest = bytes.substr(taken);
        bool const in_body = part_ == Part::SizedBody || part_ == Part::ChunkData;
        taken += in_body ? read_body(rest) : read_line(rest);
    }
    return taken;
}

RequestReader::State RequestReader::state() const {
    if (part_ == Part::Complete) return State::Complete;
    if (part_ == Part::Refused) return State::Refused;
    bool const nothing_yet = part_ == Part::RequestLine && (line_.empty() || line_ == "\r");
    return nothing_yet ? State::Empty : State::Begun;
}

HttpRequest RequestReader::take() {
    auto request = std::move(request_);
    *this = RequestReader{limits_};
    return request;
}

bool RequestReader::take_expectation() { return std::exchange(expectation_, false); }

std::size_t RequestReader::held() const { return header_bytes_ + line_.size() + request_.message.body.capacity(); }

/// Takes a line up to its CRLF. RFC 9112 section 2.2 lets a server take a bare LF as the end and a bare CR as a space; other
/// readers of the same bytes would then see other lines, so both are refused.
std::size_t RequestReader::read_line(std::string_view bytes) {
    if (part_ == Part::RequestLine && line_.empty() && !is_token_sign(bytes.front()) && bytes.front() != '\r') {
        refuse(400, "this is no HTTP/1.1 request");
        return 0;
    }
    auto const newline = bytes.find('\n');
    bool const at_end = newline != std::string_view::npos;
    auto const taken = at_end ? newline + 1 : bytes.size();
    if (line_.size() + taken > room()) {
        refuse_long_line();
        return 0;
    }
    auto const unchecked = line_.empty() ? 0 : line_.size() - 1;
    line_.append(bytes.substr(0, taken));
    auto const carriage_return = std::min(line_.find('\r', unchecked), line_.size());
    if (at_end ? carriage_return + 2 != line_.size() : carriage_return + 1 < line_.size()) {
        refuse(400, "a line does not end with CRLF");
        return 0;
    }
    if (at_end) line_ended();
    return taken;
}

std::size_t RequestReader::room() const {
    switch (part_) {
        case Part::RequestLine: return std::min(header_left_, kTargetLimit + 64);
        case Part::ChunkSize: return kChunkSizeLimit;
        case Part::ChunkEnd: return 2;
        default: return header_left_;
    }
}

void RequestReader::refuse_long_line() {
    switch (part_) {
        case Part::RequestLine: return refuse(414, "the request target is too long");
        case Part::ChunkSize: return refuse(400, "a chunk's size line is too long");
        case Part::ChunkEnd: return refuse(400, "a chunk is longer than its size says");
        default: return refuse(431, "the header is larger than " + std::to_string(limits_.header) + " bytes");
    }
}

void RequestReader::line_ended() {
    auto const whole = std::exchange(line_, {});
    auto const line = std::string_view{whole}.substr(0, whole.size() - 2);
    if (part_ == Part::RequestLine || part_ == Part::Fields || part_ == Part::Trailers) header_left_ -= whole.size();
    switch (part_) {
        case Part::RequestLine: return on_request_line(line);
        case Part::Fields: return line.empty() ? on_head_end() : on_field(line);
        case Part::Trailers: return line.empty() ? void(part_ = Part::Complete) : on_field(line);
        case Part::ChunkSize: return on_chunk_size(line);
        case Part::ChunkEnd:
            if (!line.empty()) return refuse(400, "a chunk is longer than its size says");
            part_ = Part::ChunkSize;
            return;
        case Part::SizedBody:
        case Part::ChunkData:
        case Part::Complete:
        case Part::Refused: return;
    }
}

/// RFC 9112 section 3, with exactly one space between the parts. Section 2.2: one empty line before it is skipped, which some
/// clients send after a body.
void RequestReader::on_request_line(std::string_view line) {
    if (line.empty() && !std::exchange(skipped_empty_line_, true)) return;
    auto const first = line.find(' ');
    auto const last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return refuse(400, "the request line is not understood");
    auto const method = line.substr(0, first);
    auto const target = line.substr(first + 1, last - first - 1);
    auto const version = line.substr(last + 1);
    bool const is_http =
        version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
    if (!is_token(method) || !std::all_of(target.begin(), target.end(), is_target_sign) || !is_http) {
        return refuse(400, "the request line is not understood");
    }
    if (version[5] != '1') return refuse(505, "only HTTP/1.1 is spoken here");  // RFC 9110 section 15.6.6
    auto path = path_of(method, target);
    if (!path) return refuse(400, "the request target is neither a path nor a URL");
    is_http_1_0_ = version[7] == '0';
    request_.method = method;
    request_.path = *std::move(path);
    part_ = Part::Fields;
}

/// RFC 9112 section 5.1: no white space before the colon. Section 5.2: no folded lines. A trailer is looked at and dropped
/// (RFC 9110 section 6.5.1).
void RequestReader::on_field(std::string_view line) {
    auto const colon = line.find(':');
    auto const name = line.substr(0, colon);
    if (is_one_of(line.front(), " \t")) return refuse(400, "a header line is folded");
    if (colon == std::string_view::npos || !is_token(name)) return refuse(400, "a header line has no proper name");
    auto const value = trimmed(line.substr(colon + 1));
    if (!std::all_of(value.begin(), value.end(), is_value_sign)) return refuse(400, "a header has a control character");
    if (part_ == Part::Trailers) return;
    if (request_.message.headers.size() == kFieldLimit)
        return refuse(431, "there are more than " + std::to_string(kFieldLimit) + " headers");
    request_.message.headers.emplace_back(name, value);
    header_bytes_ += line.size() + sizeof(request_.message.headers.back());
}

void RequestReader::on_head_end() {
    for (auto const check : {&RequestReader::check_host, &RequestReader::find_body_length, &RequestReader::meet_expectation}) {
        if (auto refusal = (this->*check)()) return refuse(refusal->status, std::move(refusal->reason));
    }
    request_.wants_close = is_http_1_0_;
    for (auto const value : values_of(request_.message, "connection")) request_.wants_close |= list_has(value, "close");
}

/// RFC 9112 section 3.2: HTTP/1.1 needs exactly one Host, and it is a name or address with a port at most.
std::optional<Refusal> RequestReader::check_host() {
    auto const hosts = values_of(request_.message, "host");
    bool const right_number = hosts.size() == 1 || (is_http_1_0_ && hosts.empty());
    bool const is_host = hosts.empty() || hosts.front().find_first_of(" \t,/?#@\\") == std::string_view::npos;
    return right_number && is_host ? std::nullopt
                                   : std::optional{Refusal{400, "there must be one Host header with a name in it"}};
}

/// RFC 9112 section 6.3: where the body ends. Sections 6.1 and 6.3 let a server refuse what could be smuggled: both lengths at
/// once, a transfer coding from HTTP/1.0, two different Content-Lengths.
std::optional<Refusal> RequestReader::find_body_length() {
    auto const lengths = values_of(request_.message, "content-length");
    auto const codings = values_of(request_.message, "transfer-encoding");
    if (!codings.empty()) {
        if (codings.size() != 1 || !same_word(codings.front(), "chunked"))
            return Refusal{400, "the only transfer coding is chunked"};
        if (!lengths.empty()) return Refusal{400, "there are both Content-Length and Transfer-Encoding"};
        if (is_http_1_0_) return Refusal{400, "HTTP/1.0 has no Transfer-Encoding"};
        part_ = Part::ChunkSize;
        return std::nullopt;
    }
    bool const agree = std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>{}) == lengths.end();
    auto const length = lengths.empty() ? std::optional<std::uint64_t>{0} : content_length(lengths.front());
    if (!agree || !length) return Refusal{400, "Content-Length is not one number"};
    if (*length > limits_.body) return Refusal{413, "the body is larger than " + std::to_string(limits_.body) + " bytes"};
    body_left_ = *length;
    part_ = body_left_ == 0 ? Part::Complete : Part::SizedBody;
    return std::nullopt;
}

/// RFC 9110 section 10.1.1. HTTP/1.0 clients do not know `100 Continue`.
std::optional<Refusal> RequestReader::meet_expectation() {
    for (auto const value : values_of(request_.message, "expect")) {
        if (is_http_1_0_) continue;
        if (!same_word(value, "100-continue")) return Refusal{417, "the only expectation that can be met is 100-continue"};
        expectation_ = part_ != Part::Complete;
    }
    return std::nullopt;
}

std::size_t RequestReader::read_body(std::string_view bytes) {
    auto const taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_));
    request_.message.body.append(bytes.substr(0, taken));
    expectation_ = false;
    body_left_ -= taken;
    if (body_left_ == 0) part_ = part_ == Part::SizedBody ? Part::Complete : Part::ChunkEnd;
    return taken;
}

void RequestReader::on_chunk_size(std::string_view line) {
    auto const size = chunk_size(line);
    if (!size) return refuse(400, "a chunk's size is not a hexadecimal number");
    expectation_ = false;
    if (*size > limits_.body - request_.message.body.size()) {
        return refuse(413, "the body is larger than " + std::to_string(limits_.body) + " bytes");
    }
    body_left_ = *size;
    part_ = *size == 0 ? Part::Trailers : Part::ChunkData;
}

void RequestReader::refuse(int status, std::string reason) {
    part_ = Part::Refused;
    refusal_ = {status, std::move(reason)};
    request_ = {};
    header_bytes_ = 0;
    line_ = {};
}

}  // namespace kro
