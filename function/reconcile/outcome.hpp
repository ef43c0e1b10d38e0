#pragma once

#include "k8s/error.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// How it ended, for the sender of the event.
struct Outcome {
    enum class Kind {
        Done,      ///< everything is as it should be
        Waiting,   ///< an event that will come, a change by a person or the next resync brings us back
        Retry,     ///< no event will announce it and another try may mend it
        Rejected,  ///< this event can never be understood
    };
    Kind kind = Kind::Done;
    std::string why;  ///< one line: what was found, or what is awaited

    /// When the sender should try again, for Retry.
    /// Unit: whole seconds, at least 1; none means "you decide", and the source's own backoff (3.1 s in all) applies.
    /// Source: RFC 9110 section 10.2.3; Knative triggers honour it only where delivery.retryAfterMax is set.
    std::optional<std::chrono::seconds> retry_after = std::nullopt;
};

std::string_view name_of(Outcome::Kind kind);

}  // namespace kro
