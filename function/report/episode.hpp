#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/reconcile/outcome.hpp"

#include <string>
#include <vector>

namespace kro {

/// One field that is not what it was, as a person reads it.
struct Difference {
    std::string field;   ///< "spec.values.replicas", "metadata.annotations[openmcp.cloud/operation]"
    std::string before;  ///< its JSON text; "" where there was none
    std::string after;   ///< "" where there is none any more

    bool operator==(Difference const&) const = default;
};

/// What differs between two states of an object (null: none), field by field in the order of their names. Left out is what names it, and
/// what an API server keeps for itself (managedFields, resourceVersion, uid, generation, creationTimestamp).
std::vector<Difference> differences(k8s::Json const& before, k8s::Json const& after);

/// What one event led to, told for a person: what `replay` and `explain` are made of.
struct Episode {
    /// Something that was looked at.
    struct Look {
        Cluster cluster;
        std::string subject;  ///< "HelmRelease kro-helm-release", "Secrets" for a list
        std::string found;    ///< "present", "absent", "3 items", or the error's message
        bool failed = false;
    };
    /// Something that was written, or was going to be.
    struct Change {
        Cluster cluster;
        std::string request;  ///< "apply helmreleases.helm.toolkit.fluxcd.io mcp--.../kro-helm-release"
        std::string subject;  ///< "HelmRelease kro-helm-release"
        std::string why;      ///< the planned step's reason
        std::string error;    ///< "" where it went well
        std::vector<Difference> differences;
    };
    /// What was sent at once: either looks or changes.
    struct Round {
        std::vector<Look> looks;
        std::vector<Change> changes;
    };
    /// A tenant's part of it. An event about everyone has many.
    struct Part {
        std::string tenant;  ///< "team-a/acme"
        std::vector<Round> rounds;
        Outcome outcome;
        k8s::Json status;                 ///< of the Kro as it was last seen; null where it is gone
        std::vector<Difference> changes;  ///< of that status, since the event came
    };

    std::string id;
    std::string source;
    std::string type;
    std::string time;    ///< RFC 3339: when it was received, or else what the event says; "" where neither is known
    std::string where;   ///< "events.jsonl:17"
    std::string change;  ///< "added", "updated", "deleted"; "" where it is about no object
    std::string object;  ///< "Kro acme", ...
    std::string whom;    ///< "team-a/acme", "everyone", "nobody"
    std::string routed;  ///< why to them, in one line
    std::vector<Part> parts;
    Outcome outcome;
    int answer = 0;             ///< the HTTP status that the sender is told
    std::size_t requests = 0;   ///< to all clusters
    std::size_t writes = 0;     ///< those among them that may change something
    std::string recorded = {};  ///< what its recording says otherwise; "" where it came out the same, or nothing was recorded
};

/// The members as above, names in camelCase; empty ones are left out.
k8s::Json to_json(Episode const& episode);
k8s::Json to_json(Episode::Part const& part);

}  // namespace kro
