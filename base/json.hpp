#pragma once

#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Its members are compiled once, in json.cpp, and optimised there in debug builds too.
extern template class nlohmann::basic_json<>;

namespace base {

/// A JSON value. A number whose spelling nlohmann/json would change (`1.0`, `1e3`, `-0`, `1e400`, more than 64 bits) is held as
/// its own text, in a binary value with the subtype kNumberText: JSON text never makes a binary value, so nothing else looks
/// like it. Everything that reads, compares or writes JSON here goes through the functions below, which know that.
using Json = nlohmann::json;

inline constexpr std::uint64_t kNumberText = 0x6e756d;

/// How deep arrays and objects may nest before a text is refused, so that no tree is built that could overflow a stack.
inline constexpr std::size_t kJsonDepth = 512;

/// Reads one JSON text (RFC 8259, UTF-8). The error is one short sentence that never quotes the text.
Result<Json, std::string> parse_json(std::string_view text);

/// Writes JSON on one line, every number as it was read. A YAML 1.2 reader takes it as well (the API server reads an apply's
/// body as YAML): characters outside the BMP are raw, U+007F to U+009F, U+FFFE and U+FFFF are escaped, `/` is not.
/// Bytes that are no UTF-8 become U+FFFD.
std::string dump_json(Json const& value);

/// Whether two values mean the same to an API server that stores integers in 64 bits and everything else as doubles:
/// `1`, `1.0` and `1e0` are the same, 9007199254740993 and 9007199254740992 are not.
bool same_json(Json const& left, Json const& right);

/// Whether `whole` has everything that `part` says: objects may have more members, anything else must be the same.
bool contains_json(Json const& whole, Json const& part);

/// The member at `path` (`"metadata", "name"`), or null where any step is missing or no object.
template <class... Names>
Json const& member(Json const& object, Names const&... path) {
    static Json const null;
    Json const* at = &object;
    auto const step = [&](std::string_view name) {
        auto const found = at->is_object() ? at->find(name) : at->end();
        at = at->is_object() && found != at->end() ? &*found : &null;
    };
    (step(path), ...);
    return *at;
}

/// The text of a JSON string, or nothing's: "" for any other value. It lives as long as the value does.
std::string const& text_of(Json const& value);

/// Sets the member, unless the text is empty: then it is left out.
void put_text(Json& object, std::string_view name, std::string_view text);

namespace detail {
inline void add_members(Json::object_t&) {}
template <class Value, class... Rest>
void add_members(Json::object_t& members, std::string_view name, Value&& value, Rest&&... rest) {
    members.emplace(name, std::forward<Value>(value));
    add_members(members, std::forward<Rest>(rest)...);
}
}  // namespace detail

/// The object {name: value, name: value, ...}. A list in braces says the same, but nlohmann/json makes an array of each of its pairs
/// first.
template <class... NamesAndValues>
Json object(NamesAndValues&&... names_and_values) {
    Json made = Json::object();
    detail::add_members(made.get_ref<Json::object_t&>(), std::forward<NamesAndValues>(names_and_values)...);
    return made;
}

/// A 64-bit integer, or `otherwise` for any other value.
std::int64_t integer_of(Json const& value, std::int64_t otherwise = 0);

/// `text` with every byte that is no UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// `text` cut to at most `limit` bytes, never inside a character. `text` is UTF-8.
std::string cut_utf8(std::string text, std::size_t limit);

}  // namespace base
