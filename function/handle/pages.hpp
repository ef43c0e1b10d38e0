#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/reconcile/reconcile.hpp"

#include <functional>
#include <vector>

namespace kro {

inline constexpr int kKrosInAPage = 500;

/// Reads a list page by page. `visit` is called with each item as it is read, without managedFields, and may move from it; it sees an item
/// twice where a page had to be read again, and every item at least once where this succeeds. An item says its apiVersion and kind.
///
/// A continue token that has expired goes on with the token that the server gave, or from the start; an answer that broke off is asked
/// for again; three times in all for the whole list. Whatever else goes wrong ends it, and then nothing can be said about what was not
/// visited. `stop`, asked before each page, ends it as a success.
k8s::Result<void> read_pages(
    Clusters& clusters, Addressed const& list, int page_size, base::Deadline deadline, Report& report,
    std::function<void(k8s::Json&)> const& visit, std::function<bool()> const& stop = [] { return false; });

/// The same for the Kros, under whatever plural they are installed.
k8s::Result<void> read_kros(Clusters& clusters, k8s::Request::Contents contents, int page_size, base::Deadline deadline,
                            Report& report, std::function<void(k8s::Json&)> const& visit);

/// Every tenant there is, in the order of their names, each once.
k8s::Result<std::vector<Tenant>> all_tenants(Clusters& clusters, base::Deadline deadline, Report& report);

}  // namespace kro
