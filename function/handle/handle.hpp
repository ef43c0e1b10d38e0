#pragma once

#include "events/http_binding.hpp"
#include "function/handle/echo.hpp"
#include "function/handle/metrics.hpp"
#include "function/handle/resync.hpp"
#include "function/handle/route.hpp"
#include "function/handle/turnstile.hpp"
#include "function/reconcile/outcome.hpp"
#include "function/reconcile/reconcile.hpp"
#include "function/server/http_service.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace kro {

/// What to answer to the event's sender.
/// Source: Knative Eventing's retry rules. Never 500 (a source drops it), never 404 (a trigger retries it).
HttpAnswer answer_for(Outcome const& outcome);

/// One answered event with all that it led to.
struct Handled {
    events::CloudEvent const& event;
    base::Time received;
    std::string whom = {};    ///< as whom_of() says it; the tenant where a namespace led to one
    std::string routed = {};  ///< why to them, in one line
    Report report = {};
    std::vector<Finding> findings = {};  ///< of a pass about everyone: what became of each tenant that needed something
};

/// What a handler tells of every event that it answered, beside the log line. Called on the thread that answers, before it does.
using Witness = std::function<void(Handled const&)>;

/// From a request to an answer: which events it holds, whom they concern, what came of it. One log line per event.
class EventHandler {
  public:
    struct Options {
        std::chrono::milliseconds budget = std::chrono::seconds{25};  ///< for one request, all its events together
        Resync::Options resync = {};                                  ///< where an event concerns many tenants
        Sink sink = nullptr;                                          ///< who gets what is too much for one pod; may be none
        Keep keep = Keep::Sums;                                       ///< what the reports that a witness is told have in them
    };

    EventHandler(Clusters& clusters, Provider provider, Options options, base::Clock clock, Metrics& metrics,
                 std::shared_ptr<spdlog::logger> logger);

    /// Answers one HTTP message. Never throws.
    HttpAnswer handle(events::HttpMessage const& message);

    /// Answers one event that has been read already. `route`: its way, where that is known already.
    HttpAnswer handle(events::CloudEvent const& event, Route const* route = nullptr);

    /// Takes these for what an earlier run wrote: an event about one of them is an echo.
    void remember(std::vector<Written> const& written) { echo_.remember(written); }

    /// How many events that concern every tenant are being answered now.
    int waiting_for_everyone() const { return everyone_.waiting({}); }

    /// Asks to be told of every answered event; set before the first request.
    void set_witness(Witness witness) { witness_ = std::move(witness); }

  private:
    Context context() const { return {clusters_, provider_, options_.keep}; }
    Outcome answer_event(events::CloudEvent const& event, Route const* route, base::Deadline deadline);
    Report run(Handled& handled, base::Deadline deadline);
    Report run(Handled& handled, Route const& route, base::Deadline deadline);
    Report run_tenant(ForTenant const& route, base::Deadline deadline);
    Report run_namespace(Handled& handled, ForNamespace const& route, base::Deadline deadline);
    std::optional<Tenant> tenant_in(std::string const& namespace_);
    std::optional<Tenant> remember_namespaces(std::vector<Tenant> const& tenants, std::string const& wanted);
    Report run_everyone(Handled& handled, ForEveryone const& route, base::Deadline deadline);
    Report resync(Handled& handled, ForEveryone const& route, base::Deadline deadline);
    Report reconcile_seen(Observed observed, base::Deadline deadline);
    Report run_users_of(Handled& handled, ForUsersOf const& route, base::Deadline deadline);
    void log_finding(std::string const& event_id, Finding const& finding);
    void log_requests(std::string const& event_id, Report const& report);
    void log_event(Handled const& handled, std::chrono::microseconds took);

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
    std::mutex namespaces_mutex_;
    std::unordered_map<std::string, Tenant> namespaces_;  ///< whose they are: a namespace is never another tenant's
};

}  // namespace kro
