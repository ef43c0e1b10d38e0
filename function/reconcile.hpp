#pragma once

#include "base/clock.hpp"
#include "function/clusters.hpp"
#include "function/outcome.hpp"
#include "function/plan.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kro {

/// One request as it went: for the log, for metrics and for a person who asks what happened.
struct Exchange {
    Cluster cluster;
    std::string request;  ///< "apply helmreleases.helm.toolkit.fluxcd.io mcp--.../kro-helm-release"
    std::string why;      ///< of a write: the step's reason; "" of a read
    bool write = false;
    std::optional<k8s::Error> error;
    std::chrono::microseconds duration{0};
    std::string subject;  ///< "HelmRelease kro-helm-release", or "Secrets" for a list
};

/// The exchange for a request and its answer.
Exchange exchange_of(Addressed const& asked, k8s::Answer const& answer);

/// Requests that were sent at once.
using Round = std::vector<Exchange>;

/// An object of ours as one of our writes left it: how an event about that very write is told from news.
struct Written {
    std::string object;  ///< resource and key
    std::string resource_version;
};

struct Report {
    Outcome outcome;
    std::vector<Round> rounds;  ///< of one tenant; a report about many has the sums alone
    std::size_t requests = 0;   ///< all of them, to any cluster
    std::size_t writes = 0;     ///< those among them that may change something
    std::vector<Written> written;
    k8s::Json status;  ///< of the Kro, as last seen; null where it is gone
};

/// Adds a round to the report and its sums.
void add_round(Report& report, Round round);

/// What is the same for every tenant and every event.
struct Context {
    Clusters& clusters;
    Provider const& provider;
};

/// Whether the event was about a Flux object: a hint that saves a round.
enum class About { Anything, FluxObject };

/// One tenant, brought as far as it gets without waiting: observes, plans and acts until the plan is empty. Somebody else's change in
/// between (a conflict) starts it over. Ends before `deadline`, give or take one request's answer.
Report reconcile(Context const& context, Tenant const& tenant, About about, base::Time now, base::Deadline deadline);

/// The same, beginning with what has been observed already; after a conflict, with nothing but the tenant and the hints.
Report reconcile(Context const& context, Observed observed, base::Time now, base::Deadline deadline);

}  // namespace kro
