#pragma once

#include "base/clock.hpp"
#include "k8s/memory_api.hpp"

#include <functional>
#include <optional>
#include <string>

namespace kro {

/// Serves the kinds of the onboarding cluster (Kro) with the API server rules that matter.
void serve_onboarding_kinds(k8s::MemoryApi& api);
/// Serves the kinds of the platform cluster: ProviderConfig, AccessRequest, ClusterRequest, and Flux's OCIRepository and HelmRelease.
void serve_platform_kinds(k8s::MemoryApi& api);

/// The text of the kubeconfig that an AccessRequest is answered with.
using KubeconfigFor = std::function<std::string(k8s::Json const& request)>;

/// A kubeconfig that leads nowhere: for a control plane in memory, which is reached without one.
std::string pretended_kubeconfig(k8s::Json const& request);

/// Plays the openMCP platform and Flux on a platform cluster, in memory or real: grants ClusterRequests and AccessRequests, makes
/// OCIRepositories and HelmReleases ready, and lets HelmReleases go once they are uninstalled. It acts on the objects alone, as the
/// real ones do, never on what the function is doing.
class StandIn {
  public:
    StandIn(k8s::Api& platform, base::Clock clock, KubeconfigFor kubeconfig = pretended_kubeconfig)
        : platform_(platform), clock_(std::move(clock)), kubeconfig_(std::move(kubeconfig)) {}

    /// Does what the platform and Flux would do about one object's change. What it writes is a change again.
    void react(k8s::Change const& change);

  private:
    void grant_cluster(k8s::Json const& request);
    void grant(k8s::Json const& request);
    void fetch(k8s::Json const& repository);
    void install(k8s::Json const& release);

    std::optional<k8s::Json> find(k8s::Resource const& resource, k8s::ObjectKey key);
    void write(k8s::Request request);
    void write_status(k8s::Resource const& resource, k8s::Json const& object, k8s::Json status);
    k8s::Json ready_condition(k8s::Json const& object, std::string const& reason, std::string const& message) const;

    k8s::Api& platform_;
    base::Clock clock_;
    KubeconfigFor kubeconfig_;
};

}  // namespace kro
