#pragma once

#include "events/http_binding.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// A request of tests/data/events.
events::HttpMessage sample(std::string const& name);

/// A binary event with all that is required, no data and these headers more.
inline events::HttpMessage binary(std::vector<std::pair<std::string, std::string>> more = {}, std::string body = {}) {
    events::HttpMessage message{{{"ce-specversion", "1.0"}, {"ce-id", "7"}, {"ce-source", "/x"}, {"ce-type", "t"}},
                                std::move(body)};
    message.headers.insert(message.headers.end(), more.begin(), more.end());
    return message;
}

/// A structured event; `more` are further members of the JSON object, each with a comma before it.
inline events::HttpMessage structured(std::string const& more) {
    return {{{"Content-Type", "application/cloudevents+json"}},
            R"({"specversion":"1.0","id":"7","source":"/x","type":"t")" + more + "}"};
}

/// The one event of a message; a test that is wrong about that fails with the reason.
inline events::CloudEvent parsed(events::HttpMessage const& message) {
    auto const events = events::parse_http(message);
    if (!events) throw std::runtime_error("refused: " + to_string(events.error()));
    if (events->size() != 1) throw std::runtime_error(std::to_string(events->size()) + " events");
    return events->front();
}

/// "400 specversion" for a message that is refused, "taken" for one that is not.
inline std::string answer_to(events::HttpMessage const& message) {
    auto const events = events::parse_http(message);
    if (events) return "taken";
    return std::to_string(http_status(events.error())) + " " + events.error().attribute;
}
