#pragma once

#include "function/embedded/stand_in.hpp"
#include "function/handle/echo.hpp"
#include "function/reconcile/clusters.hpp"
#include "function/reconcile/reconcile.hpp"
#include "k8s/condition.hpp"
#include "k8s/memory_api.hpp"
#include "tests/support/builders.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// The three clusters in memory, with the kinds that they serve, the provider's namespace, and a clock that stands still.
struct World {
    explicit World(k8s::MemoryOptions const& options = {});
    World(World const&) = delete;
    World& operator=(World const&) = delete;

    base::Time now = kNoon;  ///< what the clock says
    std::shared_ptr<k8s::MemoryApi> onboarding;
    std::shared_ptr<k8s::MemoryApi> platform;
    std::shared_ptr<k8s::MemoryApi> control_plane;        ///< the same one for every tenant
    std::shared_ptr<std::vector<std::string>> connected;  ///< each kubeconfig that a connection was made with
    kro::Clusters clusters;
    kro::Provider provider;
    std::optional<kro::StandIn> stand_in;  ///< the platform and Flux; reset() for a world in which nothing is granted or ready
    kro::Echo echo;                        ///< what settle() takes for news

    base::Clock clock() const {
        return [this] { return now; };
    }
    k8s::MemoryApi& api_of(kro::Cluster cluster) const;

    // --- Runs

    kro::Report reconcile(kro::Tenant const& tenant, kro::About about = kro::About::Anything);

    /// How a change reaches the function.
    enum class Pace {
        Latest,  ///< the stand-in comes first: all that the platform and Flux do about a change is done before the next event
        Each,    ///< one event for every single change, as an ApiServerSource sends them
    };
    struct Settled {
        std::size_t events = 0;  ///< about a tenant and not an echo of our own write
        std::size_t requests = 0;
        std::size_t writes = 0;
        std::vector<kro::Report> reports;
    };
    /// Hands every change since the last call to the stand-in and, as events, to reconcile(), until nothing changes any more.
    /// Throws where that does not end.
    Settled settle(Pace pace = Pace::Latest);

    // --- Put, past all requests: a change by somebody else, in a new version. Each is known by its kind.

    Json put(Json object, kro::Cluster cluster = kro::Cluster::Platform) const;
    /// The Kro of that name, and a ProviderConfig where there is none.
    void put_kro(Json kro) const;
    /// A tenant that has been brought to Ready, its requests and changes forgotten.
    void install(Json kro);

    // --- Look

    bool exists(k8s::Resource const& resource, k8s::ObjectKey const& key, kro::Cluster cluster = kro::Cluster::Platform) const;
    Json object(k8s::Resource const& resource, k8s::ObjectKey const& key, kro::Cluster cluster = kro::Cluster::Platform) const;
    Json kro(kro::Tenant const& tenant) const;
    Json status_of(kro::Tenant const& tenant) const;
    std::string phase_of(kro::Tenant const& tenant) const;
    /// The condition Ready of the Kro; empty members where there is none.
    k8s::Condition ready_of(kro::Tenant const& tenant) const;
    Json access_request_of(kro::Tenant const& tenant) const;
    Json oci_repository_of(kro::Tenant const& tenant) const;
    Json helm_release_of(kro::Tenant const& tenant) const;
    /// Messages of the Kubernetes Events on the onboarding cluster.
    std::vector<std::string> event_messages() const;

    /// What the function asked of a cluster since forget_requests(): without what the stand-in wrote.
    std::vector<k8s::Request> requests(kro::Cluster cluster) const;
    /// The writes among them, to all clusters, as k8s::describe() says them.
    std::vector<std::string> writes() const;
    void forget_requests() const;
};

/// The resource type of an object in one of these worlds, by its kind.
k8s::Resource resource_of(Json const& object);

k8s::ObjectKey oci_repository_key(kro::Tenant const& tenant);
k8s::ObjectKey helm_release_key(kro::Tenant const& tenant);
k8s::ObjectKey access_request_key(kro::Tenant const& tenant);
k8s::ObjectKey kubeconfig_key(kro::Tenant const& tenant);
/// In the tenant's namespace on the platform cluster.
k8s::ObjectKey copy_key(kro::Tenant const& tenant, std::string const& name);
/// In kro-system on the control plane.
k8s::ObjectKey remote_key(std::string const& name);

}  // namespace support
