#pragma once

#include "base/result.hpp"
#include "events/cloud_event.hpp"
#include "events/json_format.hpp"

#include <string>
#include <utility>
#include <vector>

namespace events {

/// What matters of an HTTP request or answer. Header names in any case; a header may be there more than once.
struct HttpMessage {
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    bool operator==(HttpMessage const&) const = default;
};

/// The events of a message; the Content-Type alone decides about the mode: `application/cloudevents+json` is one event,
/// `application/cloudevents-batch+json` any number (none as well; one bad entry refuses all), and in both `ce-` headers say nothing.
/// Everything else is binary: one event from the `ce-` headers, with the body as data; a body of no type is of the type
/// `application/octet-stream`.
///
/// Refused as a media type: other `application/cloudevents` formats, JSON in another charset than UTF-8, form data, and, where there
/// is no `ce-` header, what is not JSON. Takes any bytes and never throws.
///
/// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
base::Result<std::vector<CloudEvent>, Malformed> parse_http(HttpMessage const& message);

/// Writers: what they write of an event that was parsed is parsed as the same event. Header names are in lower case.
HttpMessage to_binary(CloudEvent const& event);
HttpMessage to_structured(CloudEvent const& event);
HttpMessage to_batch(std::vector<CloudEvent> const& events);

}  // namespace events
