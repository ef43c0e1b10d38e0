#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

template class nlohmann::basic_json<>;

namespace base {
namespace {

/// Marks, while nlohmann/json parses, a string that stands for a number; a string that starts with it by itself gets a second one.
/// DEL may stand raw in a JSON string, so the marked text is still JSON.
constexpr char kMark = '\x7f';

struct Scanned {
    std::string text;  ///< the text with odd numbers marked; empty where there are none
};

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E'; }

/// Whether nlohmann/json would write the number back as it is spelled.
bool keeps_its_spelling(std::string_view number) {
    if (number == "-0" || number.find_first_of(".eE") != std::string_view::npos) return false;
    bool const negative = number.front() == '-';
    auto const digits = number.size() - (negative ? 1 : 0);
    if (digits < 19) return true;
    if (negative) {
        std::int64_t value = 0;
        return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc{};
    }
    std::uint64_t value = 0;
    return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc{};
}

/// RFC 8259 section 6.
bool is_number(std::string_view text) {
    std::size_t at = 0;
    auto const digits = [&] {
        std::size_t const from = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
        return at - from;
    };
    if (at < text.size() && text[at] == '-') ++at;
    if (at < text.size() && text[at] == '0') {
        ++at;
    } else if (digits() == 0) {
        return false;
    }
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (digits() == 0) return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (digits() == 0) return false;
    }
    return at == text.size();
}

/// Whether the string that ends before `at` is the name of a member.
bool is_name(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) ++at;
    return at < text.size() && text[at] == ':';
}

/// One pass over the bytes before a tree is built: refuses what nests too deep and marks the numbers that would lose their spelling.
Result<Scanned, std::string> scan(std::string_view text) {
    Scanned scanned;
    std::size_t copied = 0;
    std::size_t depth = 0;
    auto const copy_until = [&](std::size_t end) {
        scanned.text.append(text.substr(copied, end - copied));
        copied = end;
    };
    bool const may_collide = text.find(kMark) != std::string_view::npos || text.find("\\u007") != std::string_view::npos;
    for (std::size_t at = 0; at < text.size();) {
        char const c = text[at];
        if (c == '"') {
            std::size_t end = at + 1;
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            auto const inside = text.substr(at + 1, 6);
            bool const collides = may_collide && (inside.starts_with(kMark) || inside == "\\u007f" || inside == "\\u007F");
            if (collides && !is_name(text, end + 1)) {
                copy_until(at + 1);
                scanned.text += kMark;
            }
            at = end + 1;
        } else if (c == '[' || c == '{') {
            if (++depth > kJsonDepth) return Failure{"JSON nested deeper than " + std::to_string(kJsonDepth) + " levels"};
            ++at;
        } else if (c == ']' || c == '}') {
            if (depth > 0) --depth;
            ++at;
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            std::size_t end = at;
            while (end < text.size() && in_number(text[end])) ++end;
            auto const number = text.substr(at, end - at);
            if (!is_number(number)) return Failure{std::string{"not JSON: malformed number"}};
            if (!keeps_its_spelling(number)) {
                copy_until(at);
                scanned.text += '"';
                scanned.text += kMark;
                scanned.text += number;
                scanned.text += '"';
                copied = end;
            }
            at = end;
        } else {
            ++at;
        }
    }
    if (copied > 0) copy_until(text.size());
    return scanned;
}

void unmark(Json& value) {
    if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        if (text.empty() || text.front() != kMark) return;
        if (text.size() > 1 && text[1] == kMark) {
            text.erase(0, 1);
        } else {
            value = Json::binary({text.begin() + 1, text.end()}, kNumberText);
        }
    } else if (value.is_structured()) {
        for (auto& inner : value) unmark(inner);
    }
}

/// The length of the UTF-8 character at the front (RFC 3629), 0 where there is none.
std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto const continues = [&](std::size_t from, std::size_t count) {
        if (text.size() < from + count) return false;
        for (std::size_t i = from; i < from + count; ++i) {
            if ((byte(i) & 0xC0U) != 0x80U) return false;
        }
        return true;
    };
    unsigned char const lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(1, 1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (!continues(1, 2)) return 0;
        if (lead == 0xE0 && byte(1) < 0xA0) return 0;
        if (lead == 0xED && byte(1) > 0x9F) return 0;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (!continues(1, 3)) return 0;
        if (lead == 0xF0 && byte(1) < 0x90) return 0;
        if (lead == 0xF4 && byte(1) > 0x8F) return 0;
        return 4;
    }
    return 0;
}

void write_escape(std::string& out, unsigned code) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", code);
    out += text.data();
}

void write_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        auto const byte = static_cast<unsigned char>(text.front());
        if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
            std::size_t plain = 1;
            while (plain < text.size() && static_cast<unsigned char>(text[plain]) >= 0x20 &&
                   static_cast<unsigned char>(text[plain]) < 0x7f && text[plain] != '"' && text[plain] != '\\') {
                ++plain;
            }
            out.append(text.substr(0, plain));
            text.remove_prefix(plain);
            continue;
        }
        std::size_t const length = utf8_length(text);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            text.remove_prefix(1);
            continue;
        }
        auto const second = length > 1 ? static_cast<unsigned char>(text[1]) : 0U;
        auto const third = length > 2 ? static_cast<unsigned char>(text[2]) : 0U;
        switch (byte) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            default:
                if (byte < 0x20 || byte == 0x7f) {
                    write_escape(out, byte);
                } else if (byte == 0xC2 && second <= 0x9F) {
                    write_escape(out, second);
                } else if (byte == 0xEF && second == 0xBF && third >= 0xBE) {
                    write_escape(out, third == 0xBE ? 0xFFFE : 0xFFFF);
                } else {
                    out.append(text.substr(0, length));
                }
        }
        text.remove_prefix(length);
    }
    out += '"';
}

void write(std::string& out, Json const& value) {
    switch (value.type()) {
        case Json::value_t::object: {
            out += '{';
            bool first = true;
            for (auto const& [name, inner] : value.items()) {
                if (!first) out += ',';
                first = false;
                write_string(out, name);
                out += ':';
                write(out, inner);
            }
            out += '}';
            break;
        }
        case Json::value_t::array: {
            out += '[';
            bool first = true;
            for (auto const& inner : value) {
                if (!first) out += ',';
                first = false;
                write(out, inner);
            }
            out += ']';
            break;
        }
        case Json::value_t::string: write_string(out, value.get_ref<std::string const&>()); break;
        case Json::value_t::binary: {
            auto const& text = value.get_binary();
            out.append(text.begin(), text.end());
            break;
        }
        case Json::value_t::discarded: out += "null"; break;
        default: out += value.dump(); break;
    }
}

bool is_numeric(Json const& value) { return value.is_number() || value.is_binary(); }

std::string number_text(Json const& value) {
    if (!value.is_binary()) return value.dump();
    auto const& text = value.get_binary();
    return {text.begin(), text.end()};
}

bool same_number(Json const& left, Json const& right) {
    if (left.is_number_integer() && right.is_number_integer()) return left == right;
    std::string const a = number_text(left);
    std::string const b = number_text(right);
    if (a == b) return true;
    double const x = std::strtod(a.c_str(), nullptr);
    double const y = std::strtod(b.c_str(), nullptr);
    return std::isfinite(x) && x == y;
}

}  // namespace

Result<Json, std::string> parse_json(std::string_view text) {
    Scanned const scanned = TRY(scan(text));
    std::string_view const source = scanned.text.empty() ? text : std::string_view{scanned.text};
    Json value = Json::parse(source, nullptr, false);
    if (value.is_discarded()) return Failure{std::string{"not JSON"}};
    if (!scanned.text.empty()) unmark(value);
    return value;
}

std::string dump_json(Json const& value) {
    std::string out;
    write(out, value);
    return out;
}

bool same_json(Json const& left, Json const& right) {
    if (is_numeric(left) && is_numeric(right)) return same_number(left, right);
    if (left.type() != right.type()) return false;
    if (left.is_object()) {
        return left.size() == right.size() &&
               std::equal(left.items().begin(), left.items().end(), right.items().begin(),
                          [](auto const& a, auto const& b) { return a.key() == b.key() && same_json(a.value(), b.value()); });
    }
    if (left.is_array()) return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_json);
    return left == right;
}

bool contains_json(Json const& whole, Json const& part) {
    if (!part.is_object() || !whole.is_object()) return same_json(whole, part);
    return std::all_of(part.items().begin(), part.items().end(), [&](auto const& item) {
        auto const found = whole.find(item.key());
        return found != whole.end() && contains_json(*found, item.value());
    });
}

std::string text_of(Json const& value) { return value.is_string() ? value.get<std::string>() : std::string{}; }

void put_text(Json& object, std::string_view name, std::string_view text) {
    if (!text.empty()) object[std::string{name}] = text;
}

std::int64_t integer_of(Json const& value, std::int64_t otherwise) {
    return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t const length = utf8_length(text);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            text.remove_prefix(1);
        } else {
            out.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return out;
}

std::string cut_utf8(std::string text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    return text;
}

}  // namespace base
