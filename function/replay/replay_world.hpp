#pragma once

#include "base/clock.hpp"
#include "events/knative.hpp"
#include "function/reconcile/clusters.hpp"
#include "function/reconcile/plan.hpp"
#include "function/replay/recorded_part.hpp"
#include "function/replay/replayed_api.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace kro {

/// The clusters that a replay runs on: API servers in memory, for the onboarding and the platform cluster, and for the control plane of each
/// tenant. They hold what the state and the events have told so far, and what the function writes.
///
/// What nobody has told is not there, with two exceptions. The kubeconfig of an AccessRequest that was granted, and what the
/// ProviderConfig names in the provider's own namespace, are assumed where nothing is known of them: sources send references to Secrets, if
/// that.
class ReplayWorld {
  public:
    ReplayWorld(base::Clock clock, Provider provider);
    ReplayWorld(ReplayWorld const&) = delete;
    ReplayWorld& operator=(ReplayWorld const&) = delete;

    Clusters& clusters() { return clusters_; }

    /// Takes over what somebody has seen of an object. Whether its kind plays a part; one that does not is left out.
    bool take(k8s::Json object);

    /// Takes over what an event says of its object. Where it tells of a state that one of our writes left here: the version that this write
    /// had here, by which it is known as an echo.
    std::optional<std::string> take(events::ObjectEvent event);

    /// Takes over everything that was looked at or written, as it was at the end.
    void take(std::vector<RecordedPart> const& parts);

    /// The run that follows is the recorded one: what it looked at first is as it was found, and what it was answered is answered again.
    void expect(std::vector<RecordedPart> const& parts);
    /// Ends it, and says where the two were not the same.
    ReplayedApi::Strayed conclude();

    /// Whether anything has told of this tenant's Kro: that it is there, or that it is gone.
    bool knows(Tenant const& tenant) const { return told_.contains(tenant); }
    /// "Secret openmcp-system/pull", ...
    std::set<std::string> const& assumed() const { return assumed_; }

    /// An object as it is now; none where there is none.
    std::optional<k8s::Json> find(Cluster cluster, k8s::Resource const& resource, k8s::ObjectKey const& key);
    k8s::MemoryApi& onboarding() { return onboarding_->memory(); }
    k8s::MemoryApi& platform() { return platform_->memory(); }
    /// By the tenant's namespace on the platform cluster.
    k8s::MemoryApi& control_plane(std::string const& tenant_namespace) { return control_plane_in(tenant_namespace)->memory(); }

  private:
    using SharedReplayed = std::shared_ptr<ReplayedApi>;

    SharedReplayed open();
    SharedReplayed control_plane_in(std::string const& tenant_namespace);
    k8s::Result<SharedApi> connect(std::string const& kubeconfig);
    SharedReplayed api_of(RecordedPart const& part, Cluster cluster);
    /// Whose word counts: the latest by its resourceVersion, or this one.
    enum class Word { Latest, This };

    std::optional<std::string> put(Placed const& place, k8s::Json object, Word word = Word::Latest);
    void lose(Placed const& place, k8s::ObjectKey const& key, std::string const& resource_version, Word word = Word::Latest);
    void take(RecordedPart const& part, RecordedPart::Entry const& entry, Word word);
    void take_list(RecordedPart const& part, RecordedPart::Entry const& entry, Word word);
    void note(Placed const& place, k8s::Json const& object);
    void assume_kubeconfig(k8s::Json const& access_request);
    void assume_sources(k8s::Json const& provider_config);
    void assume(k8s::Resource const& resource, k8s::Json object);

    base::Clock clock_;
    Provider provider_;
    std::shared_ptr<RecordedRun> run_ = std::make_shared<RecordedRun>();
    SharedReplayed onboarding_;
    SharedReplayed platform_;
    std::mutex mutex_;                                          ///< for what connect() needs
    std::map<std::string, SharedReplayed> control_planes_;      ///< by the tenant's namespace
    std::unordered_map<std::size_t, std::string> kubeconfigs_;  ///< a kubeconfig's hash to the namespace of its Secret
    std::set<Tenant> told_;
    std::set<std::string> assumed_;
    std::set<std::string> gone_;  ///< paths of Secrets and ConfigMaps that were deleted: not assumed again
    Clusters clusters_;
};

}  // namespace kro
