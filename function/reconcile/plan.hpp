#pragma once

#include "base/clock.hpp"
#include "function/reconcile/observed.hpp"
#include "function/reconcile/outcome.hpp"

#include <string>
#include <vector>

namespace kro {

/// Who is deciding: what is the same for every tenant.
struct Provider {
    std::string name = "kro";                   ///< the ProviderConfig's name that counts
    std::string namespace_ = "openmcp-system";  ///< POD_NAMESPACE: where the source secrets lie
};

/// One write, with its reason.
struct Step {
    Cluster cluster;
    k8s::Request request;
    std::string why;
    bool best_effort = false;  ///< its failure changes nothing (a Kubernetes Event)
};

/// What to do next for one tenant. Exactly one of three: look at something first, write something first, or stop with the outcome.
struct Plan {
    std::vector<Target> reads;  ///< nothing can be decided before these are known; they may be asked for all at once
    std::vector<Step> steps;    ///< may be sent all at once; then decide again on what they returned
    Outcome outcome;            ///< where it ends when there are neither reads nor steps
};

/// Decides what one tenant needs: contract sections 3 to 5, and nothing else decides it. Pure: the same Observed gives the same Plan.
/// Carried out and asked again until it neither reads nor writes, it always ends: every read is asked for once, every write is
/// planned only while what it changes is different.
Plan plan_for(Observed const& observed, Provider const& provider, base::Time now);

/// How to look at a target.
k8s::Request read_of(Target const& target);

/// Where the kubeconfig for the control plane is, as the AccessRequest says; none where there is no such word.
std::optional<Target> kubeconfig_target(Observed const& observed);

/// The kubeconfig's text in its Secret. The error is a sentence that names the Secret and the key.
base::Result<std::string, std::string> kubeconfig_text(k8s::Json const& secret);

}  // namespace kro
