#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

template class nlohmann::basic_json<>;

namespace base {
namespace {

/// Stands before the text of a number that is handed to nlohmann/json as a string, since it would be refused as a number. A string that
/// starts with it by itself gets a second one. DEL may stand raw in a JSON string, so the marked text is still JSON.
constexpr char kMark = '\x7f';

Failure<std::string> not_json() { return Failure{std::string{"not JSON"}}; }

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E'; }

/// Whether the number may be more than a double holds, which nlohmann/json refuses.
bool may_overflow(std::string_view number) {
    return number.size() > std::numeric_limits<double>::max_exponent10 || number.find_first_of("eE") != std::string_view::npos;
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

/// The text with the numbers marked that nlohmann/json might refuse.
Result<std::string, std::string> with_marked_numbers(std::string_view text) {
    std::string marked;
    std::size_t copied = 0;
    auto const copy_until = [&](std::size_t end) {
        marked.append(text.substr(copied, end - copied));
        copied = end;
    };
    for (std::size_t at = 0; at < text.size();) {
        char const c = text[at];
        if (c == '"') {
            std::size_t end = at + 1;
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            auto const inside = text.substr(at + 1, 6);
            bool const collides = inside.starts_with(kMark) || inside == "\\u007f" || inside == "\\u007F";
            if (collides && !is_name(text, end + 1)) {
                copy_until(at + 1);
                marked += kMark;
            }
            at = end + 1;
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            std::size_t end = at;
            while (end < text.size() && in_number(text[end])) ++end;
            auto const number = text.substr(at, end - at);
            if (!is_number(number)) return not_json();
            if (may_overflow(number)) {
                copy_until(at);
                marked.append("\"").append(1, kMark).append(number).append("\"");
                copied = end;
            }
            at = end;
        } else {
            ++at;
        }
    }
    copy_until(text.size());
    return marked;
}

/// Builds a tree from what nlohmann/json finds in a text (its SAX interface), and gives up as soon as the text nests too deep.
class TreeBuilder {
  public:
    enum class Numbers { Plain, Marked };
    explicit TreeBuilder(Numbers numbers) : numbers_(numbers) {}

    bool read(std::string_view text) { return whole_ = Json::sax_parse(text, this); }

    /// A number was refused for its size: with marked numbers it would go well.
    bool has_overflown() const { return overflown_; }
    Result<Json, std::string> result() && {
        if (whole_) return std::move(root_);
        if (too_deep_) return Failure{"JSON nested deeper than " + std::to_string(kJsonDepth) + " levels"};
        return not_json();
    }

    // --- For nlohmann/json

    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    // Only what is negative comes as one of these: a zero was a -0.
    bool number_integer(std::int64_t value) { return value == 0 ? number_float(0, "-0") : add(value); }
    bool number_unsigned(std::uint64_t value) { return add(value); }
    bool number_float(double, std::string const& text) { return add(Json::binary({text.begin(), text.end()}, kNumberText)); }
    bool string(std::string& text) {
        if (numbers_ == Numbers::Plain || !text.starts_with(kMark)) return add(std::move(text));
        text.erase(0, 1);
        return text.starts_with(kMark) ? add(std::move(text)) : number_float(0, text);
    }
    bool binary(Json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(Json::object()); }
    bool key(std::string& name) {
        auto& members = open_.back()->get_ref<Json::object_t&>();
        // API servers sort the names, more often than not.
        member_ = &members.emplace_hint(members.end(), std::move(name), nullptr)->second;
        return true;
    }
    bool end_object() { return close(); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_array() { return close(); }
    bool parse_error(std::size_t, std::string const&, Json::exception const& error) {
        constexpr int kNumberOverflow = 406;
        overflown_ = error.id == kNumberOverflow;
        return false;
    }

  private:
    bool add(Json value) {
        put(std::move(value));
        return true;
    }
    bool open(Json value) {
        too_deep_ = open_.size() == kJsonDepth;
        if (!too_deep_) open_.push_back(put(std::move(value)));
        return !too_deep_;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    Json* put(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        if (open_.back()->is_array()) return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
        *member_ = std::move(value);
        return member_;
    }

    Numbers numbers_;
    Json root_;
    std::vector<Json*> open_;  ///< the arrays and objects around
    Json* member_ = nullptr;   ///< of the innermost object, the one whose value comes next
    bool whole_ = false;
    bool too_deep_ = false;
    bool overflown_ = false;
};

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

Json::object_t const& members_of(Json const& object) { return object.get_ref<Json::object_t const&>(); }

void write(std::string& out, Json const& value) {
    switch (value.type()) {
        case Json::value_t::object: {
            out += '{';
            bool first = true;
            for (auto const& [name, inner] : members_of(value)) {
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
    TreeBuilder plain{TreeBuilder::Numbers::Plain};
    if (!plain.read(text) && plain.has_overflown()) {
        std::string const marked = TRY(with_marked_numbers(text));
        TreeBuilder builder{TreeBuilder::Numbers::Marked};
        builder.read(marked);
        return std::move(builder).result();
    }
    return std::move(plain).result();
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
        auto const& a = members_of(left);
        auto const& b = members_of(right);
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto const& one, auto const& other) {
                   return one.first == other.first && same_json(one.second, other.second);
               });
    }
    if (left.is_array()) return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_json);
    return left == right;
}

bool contains_json(Json const& whole, Json const& part) {
    if (!part.is_object() || !whole.is_object()) return same_json(whole, part);
    auto const& all = members_of(whole);
    auto const& wanted = members_of(part);
    return std::all_of(wanted.begin(), wanted.end(), [&](auto const& one) {
        auto const found = all.find(one.first);
        return found != all.end() && contains_json(found->second, one.second);
    });
}

std::string const& text_of(Json const& value) {
    static std::string const none;
    return value.is_string() ? value.get_ref<std::string const&>() : none;
}

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
