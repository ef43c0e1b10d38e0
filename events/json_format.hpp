#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "events/cloud_event.hpp"

namespace events {

/// One event in the JSON format, on its own or as an entry of a batch.
/// A null attribute is an absent one, `data: null` is the value null; boolean and integer extensions are kept as text.
/// Data without a datacontenttype is JSON, and the event then says `application/json`; a JSON string as data stays a string.
/// `data_base64` of a JSON media type is read as JSON.
///
/// Refused: both data members, other base64 than RFC 4648's, an extension that is an object, a list, a fraction or beyond 32 bits, and
/// everything that event_of refuses.
///
/// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
base::Result<CloudEvent, Malformed> from_json(Json json);

/// The inverse: from_json(to_json(event)) is the event again, where a parser made it.
Json to_json(CloudEvent const& event);

/// The media type of the event's data: what datacontenttype says, else `application/json` or `application/octet-stream`; none
/// without data.
std::optional<std::string> content_type_of(CloudEvent const& event);

}  // namespace events
