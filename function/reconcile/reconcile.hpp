#pragma once

#include "base/clock.hpp"
#include "function/reconcile/clusters.hpp"
#include "function/reconcile/outcome.hpp"
#include "function/reconcile/plan.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kro {

/// Whether a report keeps what its requests held. It costs a copy of each, so only a recording and a person who asks want it.
enum class Keep { Sums, Contents };

/// What was sent and what came back.
struct Contents {
    k8s::Request request;  ///< without `visit`
    k8s::Json answer;      ///< the object or the list, as the API server has it now; null where it failed
};

/// One request as it went: for the log, for metrics and for a person who asks what happened.
struct Exchange {
    Cluster cluster;
    std::string request;  ///< "apply helmreleases.helm.toolkit.fluxcd.io mcp--.../kro-helm-release"
    std::string why;      ///< of a write: the step's reason; "" of a read
    bool write = false;
    std::optional<k8s::Error> error;
    std::chrono::microseconds duration{0};
    std::string subject;                                 ///< "HelmRelease kro-helm-release", or "Secrets" for a list
    std::shared_ptr<Contents const> contents = nullptr;  ///< none with Keep::Sums
};

/// The exchange for a request and its answer.
Exchange exchange_of(Addressed const& asked, k8s::Answer const& answer, Keep keep = Keep::Sums);

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
    k8s::Json status;                             ///< of the Kro, as last seen; null where it is gone
    std::optional<Tenant> tenant = std::nullopt;  ///< whose rounds these are; none where they are nobody's in particular

    Keep keep = Keep::Sums;
    std::map<Target, Seen> given = {};  ///< what lists had told before the first round; empty with Keep::Sums
    bool shared = false;                ///< the run was begun for another event, which has the same report
};

/// Adds a round to the report and its sums.
void add_round(Report& report, Round round);

/// What is the same for every tenant and every event.
struct Context {
    Clusters& clusters;
    Provider const& provider;
    Keep keep = Keep::Sums;
};

/// Whether the event was about a Flux object: a hint that saves a round.
enum class About { Anything, FluxObject };

/// One tenant, brought as far as it gets without waiting: observes, plans and acts until the plan is empty. Somebody else's change in
/// between (a conflict) starts it over. Ends before `deadline`, give or take one request's answer.
Report reconcile(Context const& context, Tenant const& tenant, About about, base::Time now, base::Deadline deadline);

/// The same, beginning with what has been observed already; after a conflict, with nothing but the tenant and the hints.
Report reconcile(Context const& context, Observed observed, base::Time now, base::Deadline deadline);

}  // namespace kro
