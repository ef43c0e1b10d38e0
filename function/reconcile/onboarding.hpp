#pragma once

#include "function/reconcile/clusters.hpp"
#include "k8s/kubeconfig.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace kro {

/// The name of our ClusterRequest and AccessRequest for the onboarding cluster, in the provider's own namespace.
std::string onboarding_request_name();

/// Asks the platform for access to the onboarding cluster, and keeps the connection once it is granted: contract section 5. Safe to use
/// from several threads.
class OnboardingAccess {
  public:
    /// Makes a client for a cluster, without sending anything.
    using Open = std::function<k8s::Result<SharedApi>(k8s::ClusterAccess const&)>;

    OnboardingAccess(SharedApi platform, std::string provider_namespace, Open open);

    /// The connection. Not granted yet is Unavailable: the request has been made, and another try may find it granted.
    k8s::Result<SharedApi> find(base::Deadline deadline);

  private:
    k8s::Result<k8s::Json> request_access(base::Deadline deadline);
    k8s::Result<k8s::ClusterAccess> read_access(k8s::ObjectKey const& secret, base::Deadline deadline);

    SharedApi platform_;
    std::string namespace_;
    Open open_;
    std::mutex mutex_;
    SharedApi connection_;
};

}  // namespace kro
