#include "events/http_binding.hpp"

#include "events/media_type.hpp"

#include <algorithm>
#include <optional>

namespace events {
namespace {

using Events = base::Result<std::vector<CloudEvent>, Malformed>;

constexpr std::string_view kPrefix = "ce-";
constexpr std::string_view kStructured = "application/cloudevents+json";
constexpr std::string_view kBatch = "application/cloudevents-batch+json";
constexpr std::string_view kHex = "0123456789ABCDEF";

std::optional<unsigned> hex_digit(char c) {
    auto const at = kHex.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
    return at == std::string_view::npos ? std::nullopt : std::optional{static_cast<unsigned>(at)};
}

/// RFC 9110 section 5.6.4; older senders quote what the binding now percent-encodes. What is no quoted string stands for itself.
std::string unquoted(std::string_view text) {
    if (!text.starts_with('"')) return std::string{text};
    std::string out;
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"' && at + 1 == text.size()) return out;
        if (text[at] == '"') break;
        if (text[at] == '\\' && ++at == text.size()) break;
        out += text[at];
    }
    return std::string{text};
}

/// A percent sign that encodes nothing stands for itself: sdk-go 2.16, with which Knative's sources send, writes values as they
/// are.
std::string percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        bool const enough = text[at] == '%' && text.size() - at >= 3;
        auto const high = enough ? hex_digit(text[at + 1]) : std::nullopt;
        auto const low = enough ? hex_digit(text[at + 2]) : std::nullopt;
        if (high && low) {
            out += static_cast<char>(*high << 4 | *low);
            at += 2;
        } else {
            out += text[at];
        }
    }
    return out;
}

std::string header_value(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (char const c : text) {
        if (c > 0x20 && c < 0x7f && c != '"' && c != '%') {
            out += c;
        } else {
            auto const byte = static_cast<unsigned char>(c);
            out += {'%', kHex[byte >> 4], kHex[byte & 0x0F]};
        }
    }
    return out;
}

/// "" where there is none.
base::Result<std::string, Malformed> content_type(HttpMessage const& message) {
    std::optional<std::string> found;
    for (auto const& [name, value] : message.headers) {
        if (lower_case(name) != "content-type") continue;
        if (found) return refused("content-type", "is there more than once");
        found = trimmed(value);
    }
    return found.value_or("");
}

bool has_attributes(HttpMessage const& message) {
    return std::any_of(message.headers.begin(), message.headers.end(),
                       [](auto const& header) { return lower_case(header.first).starts_with(kPrefix); });
}

base::Result<Attributes, Malformed> attributes_of(HttpMessage const& message) {
    Attributes attributes;
    for (auto const& [header, value] : message.headers) {
        std::string name = lower_case(header);
        if (!name.starts_with(kPrefix)) continue;
        name.erase(0, kPrefix.size());
        if (name == "datacontenttype") return refused(name, "belongs into Content-Type");  // section 3.1.1
        if (attributes.contains(name)) return refused(name, "is there more than once");
        // Section 3.1.3.2: quotes first, then one round of percent-decoding.
        attributes.emplace(std::move(name), percent_decoded(unquoted(trimmed(value))));
    }
    return attributes;
}

std::vector<CloudEvent> only(CloudEvent event) {
    std::vector<CloudEvent> events;
    events.push_back(std::move(event));
    return events;
}

/// Section 3.1. A body of no type is one of bytes (RFC 9110 section 8.3): a PingSource with `data` but no `contentType` sends it.
Events parse_binary(HttpMessage const& message, std::string type) {
    if (type.empty() && !message.body.empty()) type = "application/octet-stream";
    Attributes attributes = TRY(attributes_of(message));
    if (!type.empty()) attributes.emplace("datacontenttype", type);
    CloudEvent event = TRY(event_of(std::move(attributes)));
    if (!type.empty()) event.data = TRY(data_of(message.body, type, "data"));
    return only(std::move(event));
}

base::Result<Json, Malformed> json_body(HttpMessage const& message) {
    auto parsed = base::parse_json(message.body);
    if (!parsed) return refused("body", parsed.error());
    return std::move(parsed).value();
}

/// Section 3.2.
Events parse_structured(HttpMessage const& message) {
    Json json = TRY(json_body(message));
    return only(TRY(from_json(std::move(json))));
}

/// Section 3.3.
Events parse_batch(HttpMessage const& message) {
    Json batch = TRY(json_body(message));
    if (!batch.is_array()) return refused("body", "a batch is a JSON array");
    std::vector<CloudEvent> events;
    events.reserve(batch.size());
    for (auto& entry : batch) {
        auto event = from_json(std::move(entry));
        if (!event) {
            Malformed malformed = event.error();
            malformed.message += " (entry " + std::to_string(events.size()) + " of the batch, counted from 0)";
            return base::Failure{std::move(malformed)};
        }
        events.push_back(std::move(event).value());
    }
    return events;
}

/// What HTTP clients send when nobody told them a type; its bytes are never an event's data.
bool is_form(MediaType const& media) {
    return media.name == "application/x-www-form-urlencoded" || media.name == "multipart/form-data";
}

}  // namespace

Events parse_http(HttpMessage const& message) {
    std::string const type = TRY(content_type(message));
    if (type.empty() && !message.body.empty() && !has_attributes(message)) return not_taken("content-type", "is missing");
    if (type.empty()) return parse_binary(message, type);
    auto const media = parse_media_type(type);
    if (!media) return not_taken("content-type", "is no media type");
    bool const cloudevents = media->name.starts_with("application/cloudevents");
    if ((cloudevents || is_json(*media)) && !is_utf8(*media)) return not_taken("content-type", "JSON is read in UTF-8 only");
    if (media->name == kStructured) return parse_structured(message);
    if (media->name == kBatch) return parse_batch(message);
    if (cloudevents) return not_taken("content-type", "events are read in the JSON format only");
    if (is_form(*media)) return not_taken("content-type", "form data is no event");
    if (!is_json(*media) && !has_attributes(message)) return not_taken("content-type", "is neither a CloudEvent's nor JSON");
    return parse_binary(message, type);
}

HttpMessage to_binary(CloudEvent const& event) {
    HttpMessage message;
    auto const add = [&](std::string const& name, std::optional<std::string> const& text) {
        if (text) message.headers.emplace_back(std::string{kPrefix} + name, header_value(*text));
    };
    add("specversion", event.specversion);
    add("id", event.id);
    add("source", event.source);
    add("type", event.type);
    add("subject", event.subject);
    add("time", event.time);
    add("dataschema", event.dataschema);
    for (auto const& [name, text] : event.extensions) add(name, text);
    if (auto const type = content_type_of(event)) message.headers.emplace_back("content-type", *type);
    if (auto const* data = std::get_if<Json>(&event.data)) message.body = base::dump_json(*data);
    if (auto const* data = std::get_if<Bytes>(&event.data)) message.body = data->bytes;
    return message;
}

HttpMessage to_structured(CloudEvent const& event) {
    return {{{"content-type", std::string{kStructured}}}, base::dump_json(to_json(event))};
}

HttpMessage to_batch(std::vector<CloudEvent> const& events) {
    Json batch = Json::array();
    for (auto const& event : events) batch.push_back(to_json(event));
    return {{{"content-type", std::string{kBatch}}}, base::dump_json(batch)};
}

}  // namespace events
