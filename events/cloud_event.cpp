#include "events/cloud_event.hpp"

#include "base/clock.hpp"
#include "events/media_type.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace events {
namespace {

constexpr std::size_t kNameLimit = 64;
constexpr std::array<std::string_view, 4> kRequired{"specversion", "id", "source", "type"};
constexpr std::array<std::string_view, 4> kOptional{"subject", "time", "datacontenttype", "dataschema"};

std::string printable(std::string_view name) {
    std::string out{name.substr(0, kNameLimit)};
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return out;
}

/// Core specification, "Naming conventions".
bool is_attribute_name(std::string_view name) {
    return !name.empty() && name != "data" &&
           std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

/// How many bytes the character at `at` has where it may stand in no attribute, 0 where it may. `text` is UTF-8.
/// Core specification, "Type system", String: neither control characters nor Unicode's noncharacters.
std::size_t forbidden_at(std::string_view text, std::size_t at) {
    auto const byte = [&](std::size_t ahead) { return static_cast<unsigned char>(text[at + ahead]); };
    if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
    if (byte(0) == 0xC2 && byte(1) < 0xA0) return 2;                                         // U+0080 to U+009F
    if (byte(0) == 0xEF && byte(1) == 0xB7 && byte(2) >= 0x90 && byte(2) <= 0xAF) return 3;  // U+FDD0 to U+FDEF
    if (byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 3;                     // U+FFFE, U+FFFF
    bool const last_two = byte(0) >= 0xF0 && (byte(1) & 0x0F) == 0x0F && byte(2) == 0xBF && byte(3) >= 0xBE;
    return last_two ? 4 : 0;  // the same of other planes
}

/// Surrogates are no UTF-8 anyway.
bool is_attribute_text(std::string_view text) {
    if (base::valid_utf8(text) != text) return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (forbidden_at(text, at) > 0) return false;
    }
    return true;
}

base::Result<void, Malformed> check(Attributes const& attributes) {
    for (auto const& name : kRequired) {
        auto const found = attributes.find(name);
        if (found == attributes.end()) return refused(name, "is missing");
        if (found->second.empty()) return refused(name, "is empty");
    }
    if (attributes.find("specversion")->second != "1.0") return refused("specversion", "only 1.0 is taken");
    for (auto const& [name, text] : attributes) {
        if (!is_attribute_name(name)) return refused(name, "is no attribute name: these have lower-case letters and digits only");
        if (!is_attribute_text(text)) return refused(name, "has control characters or bytes that are no UTF-8");
    }
    for (auto const& name : kOptional) {
        auto const found = attributes.find(name);
        if (found != attributes.end() && found->second.empty()) return refused(name, "is empty");
    }
    if (auto const time = attributes.find("time"); time != attributes.end() && !base::parse_rfc3339(time->second)) {
        return refused("time", "is no RFC 3339 time");
    }
    if (auto const type = attributes.find("datacontenttype"); type != attributes.end() && !parse_media_type(type->second)) {
        return refused("datacontenttype", "is no media type");
    }
    return {};
}

}  // namespace

int http_status(Malformed const& malformed) {
    switch (malformed.kind) {
        case Malformed::Kind::Attribute: return 400;
        case Malformed::Kind::MediaType: return 415;
    }
    std::abort();
}

std::string to_string(Malformed const& malformed) { return malformed.attribute + ": " + malformed.message; }

base::Failure<Malformed> refused(std::string_view attribute, std::string message) {
    return {Malformed{Malformed::Kind::Attribute, printable(attribute), std::move(message)}};
}

base::Failure<Malformed> not_taken(std::string_view attribute, std::string message) {
    return {Malformed{Malformed::Kind::MediaType, printable(attribute), std::move(message)}};
}

base::Result<CloudEvent, Malformed> event_of(Attributes attributes) {
    if (auto const checked = check(attributes); !checked) return base::Failure{checked.error()};
    auto const take = [&](std::string_view name) -> std::optional<std::string> {
        auto const found = attributes.find(name);
        if (found == attributes.end()) return std::nullopt;
        return std::move(attributes.extract(found).mapped());
    };
    CloudEvent event;
    event.specversion = take("specversion").value_or("");
    event.id = take("id").value_or("");
    event.source = take("source").value_or("");
    event.type = take("type").value_or("");
    event.subject = take("subject");
    event.time = take("time");
    event.datacontenttype = take("datacontenttype");
    event.dataschema = take("dataschema");
    event.extensions = std::move(attributes);
    return event;
}

base::Result<Data, Malformed> data_of(std::string bytes, std::string_view datacontenttype, std::string_view attribute) {
    auto const media = parse_media_type(datacontenttype);
    if (!media) return refused("datacontenttype", "is no media type");
    if (is_json(*media) && !is_utf8(*media)) return not_taken("datacontenttype", "JSON is read in UTF-8 only");
    if (bytes.empty()) return Data{};
    if (!is_json(*media)) return Data{Bytes{std::move(bytes)}};
    auto parsed = base::parse_json(bytes);
    if (!parsed) return refused(attribute, parsed.error());
    return Data{std::in_place_type<Json>, std::move(parsed).value()};
}

std::string attribute_text(std::string_view text) {
    std::string clean = base::valid_utf8(text);
    for (std::size_t at = 0; at < clean.size(); ++at) {
        if (auto const size = forbidden_at(clean, at); size > 0) clean.replace(at, size, " ");
    }
    return clean;
}

std::string const& extension(CloudEvent const& event, std::string_view name) {
    static std::string const none;
    auto const found = event.extensions.find(name);
    return found == event.extensions.end() ? none : found->second;
}

Json const& json_data(CloudEvent const& event) {
    static Json const null;
    auto const* json = std::get_if<Json>(&event.data);
    return json == nullptr ? null : *json;
}

}  // namespace events
