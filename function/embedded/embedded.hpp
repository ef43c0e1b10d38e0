#pragma once

#include "base/clock.hpp"
#include "events/http_binding.hpp"
#include "events/knative.hpp"
#include "function/embedded/stand_in.hpp"
#include "function/reconcile/clusters.hpp"
#include "k8s/memory_api.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace kro {

/// A whole control plane in memory, to try the function without a cluster: onboarding, platform (with a stand-in for openMCP and Flux)
/// and one control plane for all tenants.
///
/// What a user does comes in as the CloudEvent that a source would send about it: an event about a Kro, a ProviderConfig, a Secret or a
/// ConfigMap is carried out here before it is handled. What the stand-in then does goes out as CloudEvents, one at a time and in order,
/// as an ApiServerSource sends them.
class Embedded {
  public:
    /// Takes one event and answers when it has been handled.
    using Deliver = std::function<void(events::CloudEvent const&)>;

    Embedded(base::Clock clock, std::string provider_namespace);
    ~Embedded();
    Embedded(Embedded const&) = delete;
    Embedded& operator=(Embedded const&) = delete;

    SharedApi platform() { return platform_; }
    SharedApi onboarding() { return onboarding_; }
    SharedApi control_plane() { return control_plane_; }

    /// Carries out what the events of an HTTP message say a user did. What can't be read is left for the handler to refuse.
    void take(events::HttpMessage const& message);

    /// Starts to send what happens. Ends with stop() or the destructor.
    void start(Deliver deliver);
    void stop();

    /// The Kros as `kubectl get kro -A` shows them, then how many there are.
    std::string table() const;

  private:
    void carry_out(events::ObjectEvent const& event);
    bool is_told(k8s::Change const& change);
    void pump();

    base::Clock clock_;
    std::shared_ptr<k8s::MemoryApi> onboarding_;
    std::shared_ptr<k8s::MemoryApi> platform_;
    std::shared_ptr<k8s::MemoryApi> control_plane_;
    StandIn stand_in_;
    Deliver deliver_;
    std::mutex told_mutex_;
    std::set<std::string> told_;  ///< states that an event from outside has told of already
    std::atomic<bool> stopping_{false};
    std::thread pump_;
};

}  // namespace kro
