#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "events/cloud_event.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kro {

/// Posts events, all at once, and says for each whether it was taken: answered 2xx in time. Whatever else happened to one counts as not
/// sent, though it may arrive all the same.
using Sink = std::function<std::vector<bool>(std::vector<events::CloudEvent> const&, base::Deadline)>;

/// What a SinkBinding puts into the environment.
struct SinkAddress {
    std::string url;           ///< K_SINK
    std::string ca;            ///< K_CA_CERTS: PEM, "" for the system's
    std::string ce_overrides;  ///< K_CE_OVERRIDES: {"extensions": {...}}, set on every event; "" for none
};

/// A Sink over HTTP, in the structured mode; nothing is sent yet. The error is a sentence that names the variable.
/// Source: https://knative.dev/docs/eventing/custom-event-source/sinkbinding/
base::Result<Sink, std::string> open_sink(SinkAddress const& address, std::chrono::milliseconds timeout);

}  // namespace kro
