#pragma once

#include "tests/component/pod.hpp"
#include "tests/component/source.hpp"
#include "tests/component/watched_api.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace component {

/// Everything on these clusters but Kubernetes Events, without what differs between two runs with the same result. By cluster and path:
/// "platform /api/v1/...", and for a control plane by the name that it has here.
Json state_of(k8s::MemoryApi const& onboarding, k8s::MemoryApi const& platform,
              std::map<std::string, std::shared_ptr<k8s::MemoryApi>> const& control_planes);

/// The whole way from an event on the wire to what is then on the API servers: a pod, the platform and Flux, a control plane for each
/// tenant, sources that deliver every change in order, and users. Each second passes with an event. Every request of the pod is held
/// against what may never be asked, whatever happened before.
class Simulation {
  public:
    explicit Simulation(spdlog::level::level_enum log_level = spdlog::level::off);

    /// Another world in the same state, with a pod that has seen nothing.
    std::unique_ptr<Simulation> copy() const;

    // --- What people do

    void create(Json object);
    /// A merge patch on an object, as a user or an operator; an object that is not there is left alone.
    void change(k8s::Resource const& resource, k8s::ObjectKey const& key, Json const& patch);
    void change_kro(std::string const& name, Json const& patch);
    void change_provider_config(Json const& patch);
    void remove(k8s::Resource const& resource, k8s::ObjectKey const& key);
    void remove_kro(std::string const& name);
    void annotate_kro(std::string const& name, std::string_view annotation, Json const& value);

    // --- What sources do

    /// Delivers one event, again after every 503.
    void deliver(events::HttpMessage const& message);
    /// Lets the platform and Flux react, and returns the events that a source would send about everything that has changed.
    std::vector<events::HttpMessage> take_events();
    /// Delivers everything in order until nothing changes any more.
    void settle();
    /// One tick, and what follows from it.
    void ping();
    /// One more pod, which has seen nothing. It must not outlive this.
    std::unique_ptr<Pod> make_pod();
    /// Another pod takes over.
    void replace_pod() { pod = make_pod(); }

    // --- What there is

    /// state_of() all clusters, each control plane by the tenant's namespace: "mcp--... /api/v1/...".
    Json state() const;
    /// Objects of ours whose Kro is gone, by cluster and path.
    std::vector<std::string> orphans() const;
    std::shared_ptr<k8s::MemoryApi> control_plane_of(std::string const& kro);
    /// What the pod has asked of all clusters since count_from_here().
    std::size_t requests() const;
    std::size_t writes() const;
    /// From here on requests are counted from 1.
    void count_from_here();
    Traffic& traffic(kro::Cluster cluster) { return traffic_.at(static_cast<std::size_t>(cluster)); }

    /// What was done that may never be done, one line each.
    std::vector<std::string> wrongs() const;

    support::World world;
    std::unique_ptr<Pod> pod;
    std::size_t most_tries = 2;  ///< so often an event is delivered at most: one fault costs one try
    std::vector<kro::HttpAnswer> answers;

  private:
    void inspect(kro::Cluster cluster, k8s::MemoryApi& server, k8s::Request const& request);
    void inspect_write(kro::Cluster cluster, k8s::MemoryApi& server, k8s::Request const& request);
    void inspect_deletion(kro::Cluster cluster, k8s::MemoryApi& server, k8s::Request const& request);
    void inspect_kro(k8s::Request const& request);
    void wrong(std::string what);
    std::shared_ptr<WatchedApi> watched(kro::Cluster cluster, std::shared_ptr<k8s::MemoryApi> server);
    k8s::Result<kro::SharedApi> connect(std::string const& kubeconfig);
    std::shared_ptr<k8s::MemoryApi> control_plane_in(std::string const& tenant_namespace);
    Json kro_of(std::string const& tenant_namespace) const;
    bool exists(k8s::Resource const& resource, k8s::ObjectKey const& key) const { return world.exists(resource, key); }

    spdlog::level::level_enum log_level_;
    std::array<Traffic, 3> traffic_;
    std::map<std::string, std::shared_ptr<k8s::MemoryApi>> control_planes_;  ///< by the tenant's namespace
    mutable std::mutex mutex_;
    std::vector<std::string> wrongs_;
};

}  // namespace component
