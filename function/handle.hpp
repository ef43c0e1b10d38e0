#pragma once

#include "events/http_binding.hpp"
#include "function/echo.hpp"
#include "function/metrics.hpp"
#include "function/outcome.hpp"
#include "function/reconcile.hpp"
#include "function/resync.hpp"
#include "function/route.hpp"
#include "function/turnstile.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <functional>
#include <string>
#include <variant>

namespace kro {

/// What a handler is told about every event that it answered, beside the log line: for the timeline of the embedded control plane.
using Witness = std::function<void(events::CloudEvent const&, std::string const& whom, Report const&)>;

/// From a request to an answer: which events it holds, whom they concern, what came of it. One log line per event.
class EventHandler {
  public:
    struct Options {
        std::chrono::milliseconds budget = std::chrono::seconds{25};  ///< for one request, all its events together
        Resync::Options resync = {};                                  ///< where an event concerns many tenants
        Sink sink = nullptr;                                          ///< who gets what is too much for one pod; may be none
    };

    EventHandler(Clusters& clusters, Provider provider, Options options, base::Clock clock, Metrics& metrics,
                 std::shared_ptr<spdlog::logger> logger);

    /// Answers one HTTP message. Never throws.
    HttpAnswer handle(events::HttpMessage const& message);

    /// How many events that concern every tenant are being answered now.
    int waiting_for_everyone() const { return everyone_.waiting({}); }

    /// Asks to be told of every answered event; set before the first request.
    void set_witness(Witness witness) { witness_ = std::move(witness); }

  private:
    Report answer_event(events::CloudEvent const& event, base::Deadline deadline, std::string& whom);
    Report run_tenant(ForTenant const& route, base::Deadline deadline);
    Report run_namespace(ForNamespace const& route, base::Deadline deadline);
    Report run_everyone(std::string const& event_id, ForEveryone const& route, base::Deadline deadline);
    Report resync(std::string const& event_id, ForEveryone const& route, base::Deadline deadline);
    Report reconcile_seen(Observed observed, base::Deadline deadline);
    Report run_users_of(std::string const& event_id, ForUsersOf const& route, base::Deadline deadline);
    void log_finding(std::string const& event_id, Finding const& finding);
    void log_requests(std::string const& event_id, Report const& report);
    void log_event(events::CloudEvent const& event, std::string const& whom, Report const& report,
                   std::chrono::microseconds took);

    Clusters& clusters_;
    Provider provider_;
    Options options_;
    base::Clock clock_;
    Metrics& metrics_;
    std::shared_ptr<spdlog::logger> logger_;
    Witness witness_;
    Turnstile<Tenant, Report> turnstile_;
    Turnstile<std::monostate, Report> everyone_;
    Echo echo_;
};

}  // namespace kro
