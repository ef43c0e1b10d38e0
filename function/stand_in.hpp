#pragma once

#include "base/clock.hpp"
#include "k8s/memory_api.hpp"

#include <memory>
#include <string>

namespace kro {

/// Serves the kinds of the onboarding cluster (Kro) with the API server rules that matter.
void serve_onboarding_kinds(k8s::MemoryApi& api);
/// Serves the kinds of the platform cluster: ProviderConfig, AccessRequest, ClusterRequest, and Flux's OCIRepository and HelmRelease.
void serve_platform_kinds(k8s::MemoryApi& api);

/// Plays the openMCP platform and Flux on a platform cluster in memory: grants AccessRequests, makes OCIRepositories and HelmReleases
/// ready, and lets HelmReleases go once they are uninstalled. It acts on the objects alone, as the real ones do, never on what the
/// function is doing.
class StandIn {
  public:
    StandIn(k8s::MemoryApi& platform, base::Clock clock) : platform_(platform), clock_(std::move(clock)) {}

    /// Does what the platform and Flux would do about one object's change. What it writes is a change again.
    void react(k8s::Change const& change);

  private:
    void grant(k8s::Json const& request);
    void fetch(k8s::Json const& repository);
    void install(k8s::Json const& release);
    void write_status(k8s::Resource const& resource, k8s::Json const& object, k8s::Json status);
    k8s::Json ready_condition(k8s::Json const& object, std::string const& reason, std::string const& message) const;

    k8s::MemoryApi& platform_;
    base::Clock clock_;
};

}  // namespace kro
