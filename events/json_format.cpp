#include "events/json_format.hpp"

#include "base/base64.hpp"
#include "events/media_type.hpp"

#include <cstdint>
#include <limits>

namespace events {
namespace {

using Int32 = std::numeric_limits<std::int32_t>;

bool is_core(std::string_view name) {
    return name == "id" || name == "source" || name == "type" || name == "specversion" || name == "subject" || name == "time" ||
           name == "datacontenttype" || name == "dataschema";
}

/// Section 2.2, and the core specification's type system for the range of an integer.
base::Result<std::string, Malformed> attribute_text(std::string const& name, Json& value) {
    if (value.is_string()) return std::move(value.get_ref<std::string&>());
    if (is_core(name)) return refused(name, "must be a string");
    if (value.is_boolean()) return std::string{value.get<bool>() ? "true" : "false"};
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{Int32::max()}) return value.dump();
    if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= Int32::min())
        return value.dump();
    return refused(name, "must be a string, a boolean or an integer of 32 bits");
}

/// Takes them out of the event.
base::Result<Attributes, Malformed> take_attributes(Json& json) {
    Attributes attributes;
    for (auto& [name, value] : json.get_ref<Json::object_t&>()) {
        if (name == "data" || name == "data_base64" || value.is_null()) continue;
        attributes.emplace_hint(attributes.end(), name, TRY(attribute_text(name, value)));
    }
    return attributes;
}

/// Section 3.1.2, the `data` member.
base::Result<Data, Malformed> plain_data(Json value, std::string_view datacontenttype) {
    auto const media = parse_media_type(datacontenttype);
    if (!media) return refused("datacontenttype", "is no media type");
    if (is_json(*media)) {
        if (!is_utf8(*media)) return not_taken("datacontenttype", "JSON is read in UTF-8 only");
        return Data{std::in_place_type<Json>, std::move(value)};
    }
    if (!value.is_string()) return refused("data", "must be a string where datacontenttype is not JSON");
    return data_of(value.get<std::string>(), datacontenttype, "data");
}

/// Section 3.1.2, the `data_base64` member.
base::Result<Data, Malformed> base64_data(Json const& value, std::string_view datacontenttype) {
    if (!value.is_string()) return refused("data_base64", "must be a string");
    auto bytes = base::decode_base64(value.get_ref<std::string const&>(), base::WhiteSpace::Refused);
    if (!bytes) return refused("data_base64", "is no base64");
    return data_of(std::move(*bytes), datacontenttype, "data_base64");
}

}  // namespace

base::Result<CloudEvent, Malformed> from_json(Json json) {
    if (!json.is_object()) return refused("body", "an event is a JSON object");
    Attributes attributes = TRY(take_attributes(json));
    CloudEvent event = TRY(event_of(std::move(attributes)));
    auto const data = json.find("data");
    bool const has_base64 = !base::member(json, "data_base64").is_null();
    if (data == json.end() && !has_base64) return event;
    if (data != json.end() && has_base64) return refused("data", "and data_base64 exclude each other");
    if (!event.datacontenttype) event.datacontenttype = "application/json";
    event.data = has_base64 ? TRY(base64_data(json["data_base64"], *event.datacontenttype))
                            : TRY(plain_data(std::move(*data), *event.datacontenttype));
    return event;
}

Json to_json(CloudEvent const& event) {
    Json json(event.extensions);
    json["specversion"] = event.specversion;
    json["id"] = event.id;
    json["source"] = event.source;
    json["type"] = event.type;
    auto const add = [&](char const* name, std::optional<std::string> const& text) {
        if (text) json[name] = *text;
    };
    add("subject", event.subject);
    add("time", event.time);
    add("dataschema", event.dataschema);
    add("datacontenttype", content_type_of(event));
    if (auto const* data = std::get_if<Json>(&event.data)) json["data"] = *data;
    if (auto const* data = std::get_if<Bytes>(&event.data)) json["data_base64"] = base::encode_base64(data->bytes);
    return json;
}

std::optional<std::string> content_type_of(CloudEvent const& event) {
    if (event.datacontenttype) return event.datacontenttype;
    if (std::holds_alternative<Json>(event.data)) return "application/json";
    if (std::holds_alternative<Bytes>(event.data)) return "application/octet-stream";
    return std::nullopt;
}

}  // namespace events
