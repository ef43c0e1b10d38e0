#pragma once

#include "events/http_binding.hpp"
#include "k8s/memory_api.hpp"
#include "worker.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace integration {

/// Posts one message to a function on this machine, once. The status of its answer, 0 for none.
int post(std::uint16_t port, events::HttpMessage const& message);

/// Sends CloudEvents to one function as Knative's receive adapter does: those about one resource one at a time and in order, each
/// tried again five times at most, after 100, 200, 400, 800 and 1600 ms, and only on a broken connection or on the answers 404,
/// 413, 425, 429, 502, 503 and 504. After that an event is lost. Source: Knative Eventing v0.50, pkg/adapter/apiserver.
class EventSource {
  public:
    explicit EventSource(std::uint16_t port) : port_(port) {}
    ~EventSource();

    /// Queues the event about a change. Secrets and ConfigMaps go in mode Reference, so that their contents don't travel.
    void offer(k8s::Change const& change);

    bool is_idle() const;

    /// What became of events that were not taken: "503 for kros default/acme".
    std::vector<std::string> lost() const;

    /// Every status that was ever answered.
    std::map<int, int> answers() const;

  private:
    void send(k8s::Change const& change);

    std::uint16_t const port_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    std::vector<std::string> lost_;
    std::map<int, int> answers_;
    std::map<std::string, std::unique_ptr<Worker<k8s::Change>>> workers_;  ///< by plural
};

}  // namespace integration
