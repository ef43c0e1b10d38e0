#pragma once

#include "tests/stack/node/pods.hpp"

#include <atomic>
#include <functional>
#include <thread>

namespace node {

/// Finds out which pods are ready, by the readiness probes of their templates. Other than a kubelet it does not wait out
/// `initialDelaySeconds`, and looks many times a second at what is not ready yet.
class Prober {
  public:
    /// `changed` is called on the prober's own thread.
    Prober(Pods& pods, std::function<void()> changed);
    ~Prober();
    Prober(Prober const&) = delete;
    Prober& operator=(Prober const&) = delete;

  private:
    void run();
    bool look_at(std::shared_ptr<Pod> const& pod);

    Pods& pods_;
    std::function<void()> const changed_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;  ///< last: it uses everything above
};

}  // namespace node
