#pragma once

#include "base/clock.hpp"
#include "function/reconcile/observed.hpp"
#include "k8s/api.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kro {

using SharedApi = std::shared_ptr<k8s::Api>;

/// Makes a client from a kubeconfig's text that came out of a Secret.
using Connect = std::function<k8s::Result<SharedApi>(std::string const& kubeconfig)>;

/// Finds the onboarding cluster. Called for every event; keeps what it found.
using FindOnboarding = std::function<k8s::Result<SharedApi>(base::Deadline deadline)>;

/// A request and where it goes.
struct Addressed {
    Cluster cluster;
    k8s::Request request;
};

/// The API servers that one pod talks to. Connections are kept; nothing that was read is. Safe to use from several threads.
class Clusters {
  public:
    /// How a round goes to several clusters.
    enum class Sending {
        AtOnce,  ///< to all of them in parallel
        InTurn,  ///< to one after the other: API servers in memory answer at once
    };

    Clusters(SharedApi platform, FindOnboarding onboarding, Connect connect, Sending sending = Sending::AtOnce);

    /// Sends all of them at once and returns the answers in the same order. `kubeconfig` is the Secret for
    /// the control plane, or null: then requests to it fail as Unusable.
    std::vector<k8s::Answer> send(std::span<Addressed const> round, k8s::Json const& kubeconfig, base::Deadline deadline);

    /// Forgets the connection that this Secret led to.
    void forget(k8s::Json const& kubeconfig);

    /// The Kro resource with the plural that is installed, `kros` until something else was discovered.
    k8s::Resource kros() const;
    /// Asks the onboarding cluster for the plural of the kind Kro. Whether it is another one than before.
    bool rediscover_kros(base::Deadline deadline);

    /// `text`, for as long as this lives: what a Resource that is made at run time points to.
    std::string_view keep(std::string text);

  private:
    k8s::Result<SharedApi> control_plane(k8s::Json const& kubeconfig);
    k8s::Result<SharedApi> find(Cluster cluster, k8s::Json const& kubeconfig, base::Deadline deadline);

    SharedApi platform_;
    FindOnboarding find_onboarding_;
    Connect connect_;
    Sending sending_;

    mutable std::mutex mutex_;
    std::set<std::string> kept_;  ///< Resources point into it
    std::string_view plural_;
    std::list<std::pair<std::string, SharedApi>> control_planes_;  ///< by the Secret's uid and resourceVersion, newest first
};

}  // namespace kro
