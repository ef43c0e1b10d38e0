#pragma once

#include "k8s/kubeconfig.hpp"
#include "k8s/memory_api.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace integration {

/// One resource of one cluster, watched from a moment on, as an ApiServerSource watches it: nothing is told of what was there
/// before.
struct Watched {
    k8s::ClusterAccess access;
    k8s::Resource resource;
    std::string namespace_;        ///< "" for all
    std::string resource_version;  ///< of the list that says what was there before
};

/// Watches resources on real API servers and tells every change, in the order in which each server tells it.
class Watcher {
  public:
    /// `tell` is called on one thread, the watcher's own.
    Watcher(std::vector<Watched> const& watched, std::function<void(k8s::Change)> tell);
    ~Watcher();
    Watcher(Watcher const&) = delete;
    Watcher& operator=(Watcher const&) = delete;

    /// Why a watch has ended, "" while all of them go on.
    std::string broken() const;

  private:
    struct Stream;
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace integration
