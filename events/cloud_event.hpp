#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace events {

using base::Json;

/// Data that is not JSON, as it came.
struct Bytes {
    std::string bytes;

    bool operator==(Bytes const&) const = default;
};

/// An event's data: absent, a JSON value (where datacontenttype says JSON), or bytes. An explicit JSON null is a value, not
/// absence.
using Data = std::variant<std::monostate, Json, Bytes>;

/// Attribute name to its canonical text.
using Attributes = std::map<std::string, std::string, std::less<>>;

/// One CloudEvent, checked: whoever holds one that was parsed need not ask whether `id` is there, or whether `time` is a time.
/// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
struct CloudEvent {
    std::string id;
    std::string source;
    std::string type;
    std::string specversion = "1.0";
    std::optional<std::string> subject;
    std::optional<std::string> time;             ///< RFC 3339, as it was spelled
    std::optional<std::string> datacontenttype;  ///< a media type; never absent where a parser found data
    std::optional<std::string> dataschema;
    Attributes extensions;  ///< booleans and integers of the JSON format as their text: `true`, `-7`
    Data data;

    bool operator==(CloudEvent const&) const = default;
};

/// Why something is no event that can be taken. The same bytes can never be taken later.
struct Malformed {
    enum class Kind {
        Attribute,  ///< an attribute, the data or the body breaks a rule
        MediaType,  ///< the media type or its charset is none that is read here
    };
    Kind kind = Kind::Attribute;

    /// What is wrong: an attribute's name, `data`, or `body` and `content-type` for the HTTP message as a whole. Printable ASCII.
    std::string attribute;

    /// One line in valid UTF-8 that never quotes a value.
    std::string message;

    bool operator==(Malformed const&) const = default;
};

/// 400, or 415 for a media type.
int http_status(Malformed const& malformed);

/// "specversion: is missing"
std::string to_string(Malformed const& malformed);

/// A failure about an attribute. `attribute` may be any bytes.
base::Failure<Malformed> refused(std::string_view attribute, std::string message);

/// A failure about a media type.
base::Failure<Malformed> not_taken(std::string_view attribute, std::string message);

/// An event without data from all its attributes, extensions among them. Refuses what the specification forbids: a missing or
/// empty required attribute, another specversion than 1.0, names with other characters than a-z and 0-9, text with control
/// characters or bytes that are no UTF-8, an empty optional attribute, a time that is not RFC 3339, a datacontenttype that is no
/// media type.
base::Result<CloudEvent, Malformed> event_of(Attributes attributes);

/// The bytes as data: nothing where they are empty, JSON where `datacontenttype` says JSON, Bytes otherwise.
/// `attribute` is what to name when they can't be read.
base::Result<Data, Malformed> data_of(std::string bytes, std::string_view datacontenttype, std::string_view attribute);

/// Any bytes as an attribute may have them: what it may not have is a blank, or U+FFFD where it is no UTF-8.
std::string attribute_text(std::string_view text);

/// The value of an extension attribute, "" where it is absent.
std::string const& extension(CloudEvent const& event, std::string_view name);

/// The data where it is JSON, null otherwise.
Json const& json_data(CloudEvent const& event);

}  // namespace events
