#pragma once

#include "function/handle/pages.hpp"
#include "function/reconcile/clusters.hpp"
#include "function/reconcile/plan.hpp"
#include "function/reconcile/reconcile.hpp"

#include <functional>
#include <string>

namespace kro {

/// Looks at every tenant with few requests: pages of Kros, and of what is labelled as ours on the platform cluster (AccessRequests,
/// OCIRepositories, HelmReleases, Secrets), put together by the tenant's namespace.
///
/// What it puts into an Observed is only what it has seen. That something is not in a list is never taken for its absence: it is left out,
/// so that the plan asks for it by name. A list may be cut short, start again or be in any order, and the worst that comes of it is a
/// request more.
///
/// Memory: of each Kro what a plan reads of it, as text (about 1 KB); of all else a page of text per list and a few objects. The lists come
/// in the order of the tenants' namespaces, so that one pass over each is enough.
class Survey {
  public:
    /// How a copy of ours is looked at.
    enum class Copies {
        Names,  ///< metadata alone: enough to find one that no setting names any more
        Whole,  ///< with data, to be compared with its source; only ours are asked for, and a page of them is in memory
    };

    struct Visitor {
        /// How many Kros there are, before the first of them is visited.
        std::function<void(std::size_t)> counted;
        /// One tenant; may be moved from. Whether to go on.
        std::function<bool(Observed&)> tenant;
        /// Something of ours lies in a namespace that belongs to no Kro that was listed. Whether there is one must still be asked.
        std::function<void(Tenant const&)> orphan;
    };

    /// `shared` is what is the same for everybody: the ProviderConfig, and the sources that it names.
    Survey(Clusters& clusters, std::map<Target, Seen> shared, Copies copies, int page_size = kKrosInAPage)
        : clusters_(clusters), shared_(std::move(shared)), copies_(copies), page_size_(page_size) {}

    /// Fails where a list could not be read to its end; tenants that were visited by then have been seen rightly.
    k8s::Result<void> run(Visitor const& visitor, base::Deadline deadline, Report& report);

  private:
    Clusters& clusters_;
    std::map<Target, Seen> shared_;
    Copies copies_;
    int page_size_;
};

}  // namespace kro
