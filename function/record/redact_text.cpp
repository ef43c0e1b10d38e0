#include "function/record/redact_text.hpp"

#include "base/base64.hpp"
#include "events/media_type.hpp"
#include "function/tenant/secret_names.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace kro {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

std::size_t run(std::string_view text, std::size_t at, bool (*is_in)(char)) {
    while (at < text.size() && is_in(text[at])) ++at;
    return at;
}

/// A text in which some pieces are being replaced, from left to right. Nothing is copied before the first of them.
class Edit {
  public:
    explicit Edit(std::string_view text) : text_(text) {}

    void replace(std::size_t begin, std::size_t end, std::string const& with) {
        if (text_.substr(begin, end - begin) == with) return;
        out_.append(text_.substr(copied_, begin - copied_));
        out_ += with;
        copied_ = end;
        changed_ = true;
    }

    std::string result() && {
        if (!changed_) return std::string{text_};
        out_.append(text_.substr(copied_));
        return std::move(out_);
    }

  private:
    std::string_view text_;
    std::string out_;
    std::size_t copied_ = 0;
    bool changed_ = false;
};

// --- PEM

/// The placeholder that this block has already; none where it has something else in it.
std::optional<std::string> placeholder_in(std::string_view block, std::string_view label) {
    std::size_t const begin = kBegin.size() + label.size() + kDashes.size();
    if (block.size() < begin + 1) return std::nullopt;
    auto const inside = block.substr(begin + 1, block.find('\n', begin + 1) - begin - 1);
    auto const decoded = base::decode_base64(inside);
    if (!decoded || !Placeholders::is_one(*decoded)) return std::nullopt;
    return block == pem_placeholder(label, *decoded) ? decoded : std::nullopt;
}

std::string without_private_keys(std::string_view text, Placeholders const& placeholders) {
    Edit edit{text};
    for (std::size_t at = text.find(kBegin); at != kNone; at = text.find(kBegin, at)) {
        std::size_t const name = at + kBegin.size();
        std::size_t const name_end = text.find(kDashes, name);
        auto const label = text.substr(name, name_end == kNone ? kNone : name_end - name);
        if (label.find("PRIVATE KEY") == kNone || label.size() > 64) {
            at = name;
            continue;
        }
        std::size_t const last = text.find(kEnd, name);
        std::size_t const dashes = last == kNone ? kNone : text.find(kDashes, last + kEnd.size());
        std::size_t const end = dashes == kNone ? text.size() : dashes + kDashes.size();
        auto const block = text.substr(at, end - at);
        if (!placeholder_in(block, label)) edit.replace(at, end, pem_placeholder(label, placeholders.of(block)));
        at = end;
    }
    return std::move(edit).result();
}

// --- URLs

/// Where the user information of the authority at `at` ends, at its `@`; `at` where there is none. Source: RFC 3986 section 3.2.1. A
/// password that a person wrote may hold a `/` that should have been encoded.
std::size_t user_end(std::string_view text, std::size_t at) {
    std::size_t const url_end = std::min(text.find_first_of(" \t\r\n\"'<>\\,", at), text.size());
    std::size_t authority_end = std::min(text.find_first_of("/?#", at), url_end);
    std::size_t const colon = text.find(':', at);
    bool const port = colon >= authority_end || run(text, colon + 1, is_digit) == authority_end;
    if (!port) authority_end = url_end;
    std::size_t const sign = text.substr(0, authority_end).rfind('@');
    return sign == kNone || sign < at ? at : sign;
}

std::string without_users(std::string_view text, Placeholders const& placeholders) {
    constexpr std::string_view kSlashes = "://";
    Edit edit{text};
    for (std::size_t at = text.find(kSlashes); at != kNone; at = text.find(kSlashes, at)) {
        at += kSlashes.size();
        std::size_t const sign = user_end(text, at);
        if (sign == at) continue;
        std::size_t const colon = std::min(text.find(':', at), sign);
        edit.replace(at, colon, placeholders.of(text.substr(at, colon - at)));
        if (colon < sign) edit.replace(colon + 1, sign, placeholders.of(text.substr(colon + 1, sign - colon - 1)));
        at = sign;
    }
    return std::move(edit).result();
}

// --- name=value

/// The name that ends before `at`, with or without quotes; "" where there is none, or where it is a path's end.
std::string_view name_before(std::string_view text, std::size_t at) {
    while (at > 0 && is_space(text[at - 1])) --at;
    bool const quoted = at > 0 && is_quote(text[at - 1]);
    if (quoted) --at;
    if (quoted && at > 0 && text[at - 1] == '\\') --at;
    std::size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    bool const path = begin > 0 && text[begin - 1] == '/';
    return path ? std::string_view{} : text.substr(begin, at - begin);
}

struct Value {
    std::size_t begin;
    std::size_t end;
    bool quoted;
};

Value value_after(std::string_view text, std::size_t at) {
    at = run(text, at, is_space);
    if (at + 1 < text.size() && text[at] == '\\' && is_quote(text[at + 1])) {
        std::string const closing{text.substr(at, 2)};
        return {at + 2, std::min(text.find(closing, at + 2), text.size()), true};
    }
    if (at < text.size() && is_quote(text[at])) {
        std::size_t end = at + 1;
        while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
        return {at + 1, std::min(end, text.size()), true};
    }
    return {at, std::min(text.find_first_of(" \t\r\n,;&|\"'(){}[]<>\\", at), text.size()), false};
}

/// "token: has no value" is a sentence and no secret.
bool is_prose(std::string_view text, Value const& value) {
    auto const word = text.substr(value.begin, value.end - value.begin);
    bool const letters = std::all_of(word.begin(), word.end(), is_letter);
    return letters && value.end + 1 < text.size() && text[value.end] == ' ' && is_letter(text[value.end + 1]);
}

bool is_scheme(std::string_view word) {
    std::string const lower = events::lower_case(word);
    return lower == "bearer" || lower == "basic" || lower == "digest" || lower == "negotiate";
}

/// A header's value goes on to the end of its line, or of the text in quotes around it.
std::size_t header_end(std::string_view text, Value const& value) {
    return value.quoted ? value.end : std::min(text.find_first_of("\r\n\"'\\", value.begin), text.size());
}

std::string without_named(std::string_view text, Placeholders const& placeholders) {
    Edit edit{text};
    std::size_t done = 0;
    for (std::size_t at = text.find_first_of("=:"); at != kNone; at = text.find_first_of("=:", at + 1)) {
        if (at < done) continue;
        auto const name = name_before(text, at);
        bool const header = is_secret_header(name);
        if (!header && !names_secret(name)) continue;
        Value value = value_after(text, at + 1);
        if (!value.quoted && text[at] == ':' && text.substr(at).starts_with("://")) continue;
        if (header) value.end = header_end(text, value);
        auto const word = text.substr(value.begin, value.end - value.begin);
        if (word.empty() || (!header && text[at] == ':' && !value.quoted && (is_prose(text, value) || is_scheme(word)))) continue;
        edit.replace(value.begin, value.end, placeholders.of(word));
        done = value.end;
    }
    return std::move(edit).result();
}

/// `--password hunter2`, as command lines are written.
std::string without_options(std::string_view text, Placeholders const& placeholders) {
    Edit edit{text};
    for (std::size_t at = text.find("--"); at != kNone; at = text.find("--", at)) {
        std::size_t const name = at + 2;
        std::size_t const end = run(text, name, is_word);
        at = std::max(end, name);
        if (end == name || end >= text.size() || !is_space(text[end]) || !names_secret(text.substr(name, end - name))) continue;
        Value const value = value_after(text, end);
        auto const word = text.substr(value.begin, value.end - value.begin);
        if (word.empty() || word.starts_with('-') || is_prose(text, value)) continue;
        edit.replace(value.begin, value.end, placeholders.of(word));
        at = value.end;
    }
    return std::move(edit).result();
}

// --- Tokens

bool is_token(char c) { return is_word(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='; }

/// "a bearer token" is a sentence.
bool is_said_of_tokens(std::string_view word) {
    constexpr std::array<std::string_view, 8> kWords{"token",         "tokens", "auth",   "authentication",
                                                     "authorization", "realm",  "scheme", "credentials"};
    std::string const lower = events::lower_case(word.substr(0, word.find_first_of("=.")));
    return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

/// What follows this word and one blank or more, where it is as a token of that kind is.
std::string without_scheme(std::string_view text, std::string_view scheme, bool (*is_secret)(std::string_view),
                           Placeholders const& placeholders) {
    std::string const lower = events::lower_case(text);
    Edit edit{text};
    for (std::size_t at = lower.find(scheme); at != kNone; at = lower.find(scheme, at + 1)) {
        std::size_t const after = at + scheme.size();
        std::size_t const begin = run(text, after, is_space);
        if (begin == after || (at > 0 && is_word(text[at - 1]))) continue;
        std::size_t const end = run(text, begin, is_token);
        auto const token = text.substr(begin, end - begin);
        if (is_secret(token)) edit.replace(begin, end, placeholders.of(token));
    }
    return std::move(edit).result();
}

/// RFC 6750 section 2.1.
bool is_bearer(std::string_view token) { return token.size() >= 5 && !is_said_of_tokens(token); }

/// RFC 7617 section 2.
bool is_basic(std::string_view token) {
    auto const decoded = base::decode_base64(token);
    return decoded && decoded->find(':') != std::string::npos;
}

struct Prefix {
    std::string_view text;
    std::size_t least;  ///< how many characters must follow
};

constexpr std::array kPrefixes{Prefix{"ghp_", 16},      Prefix{"gho_", 16},        Prefix{"ghu_", 16},   Prefix{"ghs_", 16},
                               Prefix{"ghr_", 16},      Prefix{"github_pat_", 16}, Prefix{"glpat-", 16}, Prefix{"xoxb-", 10},
                               Prefix{"xoxp-", 10},     Prefix{"xoxa-", 10},       Prefix{"AKIA", 16},   Prefix{"ASIA", 16},
                               Prefix{"sha256~", 20},   Prefix{"hvs.", 16},        Prefix{"npm_", 20},   Prefix{"pypi-", 20},
                               Prefix{"dckr_pat_", 16}, Prefix{"eyJ", 10}};

/// RFC 7519: two parts in base64url at least, of which the first is a JSON object. Its end, or `at` where it is none.
std::size_t web_token_end(std::string_view text, std::size_t at) {
    std::size_t end = run(text, at, is_word);
    if (end - at < 13 || end + 1 >= text.size() || text[end] != '.' || !is_word(text[end + 1])) return at;
    while (end + 1 < text.size() && text[end] == '.' && is_word(text[end + 1])) end = run(text, end + 1, is_word);
    return end;
}

std::string without_tokens(std::string_view text, Placeholders const& placeholders) {
    Edit edit{text};
    std::size_t at = 0;
    while (at < text.size()) {
        if (!is_word(text[at])) {
            ++at;
            continue;
        }
        auto const rest = text.substr(at);
        auto const found =
            std::find_if(kPrefixes.begin(), kPrefixes.end(), [&](auto const& prefix) { return rest.starts_with(prefix.text); });
        std::size_t end = run(text, at, is_word);
        if (found == kPrefixes.end()) {
            at = end;
            continue;
        }
        if (found->text == "eyJ") {
            end = web_token_end(text, at);
        } else {
            end = run(text, at + found->text.size(), is_word);
            if (end - at < found->text.size() + found->least) end = at;
        }
        if (end > at) edit.replace(at, end, placeholders.of(text.substr(at, end - at)));
        at = std::max(end, run(text, at, is_word));
    }
    return std::move(edit).result();
}

}  // namespace

std::string pem_placeholder(std::string_view label, std::string_view placeholder) {
    return std::string{kBegin} + std::string{label} + "-----\n" + base::encode_base64(placeholder) + "\n" + std::string{kEnd} +
           std::string{label} + "-----";
}

std::string without_secrets(std::string_view text, Placeholders const& placeholders) {
    std::string clean{text};
    if (clean.size() < 6 || Placeholders::is_one(clean)) return clean;
    if (clean.find(kBegin) != std::string::npos) clean = without_private_keys(clean, placeholders);
    if (clean.find("://") != std::string::npos) clean = without_users(clean, placeholders);
    if (clean.find_first_of("=:") != std::string::npos) clean = without_named(clean, placeholders);
    if (clean.find("--") != std::string::npos) clean = without_options(clean, placeholders);
    clean = without_scheme(clean, "bearer", is_bearer, placeholders);
    clean = without_scheme(clean, "basic", is_basic, placeholders);
    return without_tokens(clean, placeholders);
}

}  // namespace kro
