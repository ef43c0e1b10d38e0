#pragma once

#include "base/clock.hpp"
#include "function/tenant/kro.hpp"
#include "k8s/object.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// What is said to the tenant.
struct Verdict {
    enum class Phase { Progressing, Ready, Terminating };
    Phase phase = Phase::Progressing;
    std::string reason;   ///< of the condition `Ready`, which is True in the phase Ready alone
    std::string message;  ///< cause and next step
};

std::string_view name_of(Verdict::Phase phase);

/// Whether a Flux object has done what its present spec asks for, and if not, what it says about it.
struct Readiness {
    bool ready = false;
    std::string message;  ///< Flux's own, "" when ready
};

/// Ready is True, for the current generation.
Readiness readiness_of(k8s::Json const& flux_object);

/// As above, and it was this artifact that the HelmRelease last acted on: a new chart version changes only the OCIRepository.
Readiness helm_release_readiness(k8s::Json const& helm_release, k8s::Json const& oci_repository);

/// One entry of `status.resources`, for an object on the platform cluster.
k8s::Json resource_entry(k8s::Resource const& resource, k8s::ObjectKey const& key, std::string_view phase,
                         std::string const& message);

/// The whole `status` that we apply: observedGeneration, phase, resources and the one condition of ours. `before` is the status that the
/// Kro has; null where there is none.
k8s::Json desired_status(Kro const& kro, k8s::Json const& before, Verdict const& verdict, k8s::Json const& resources,
                         base::Time now);

/// Whether the Kro's status says something else than `desired`; conditions of others don't count.
bool status_differs(k8s::Json const& status, k8s::Json const& desired);

/// A Kubernetes Event about a Kro, of the type Warning. Its name follows from what it says and the Kro's resourceVersion, so that a
/// retry meets its own first attempt.
k8s::Json warning_event(Kro const& kro, std::string const& reason, std::string const& message, base::Time now);

}  // namespace kro
