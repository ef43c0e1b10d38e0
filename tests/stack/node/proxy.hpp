#pragma once

#include "tests/stack/node/http_stream.hpp"
#include "tests/stack/node/pods.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace node {

/// The way from a name in the cluster to a process: what DNS, kube-proxy and Knative's activator do. An HTTP proxy that takes
/// `http://SERVICE.NAMESPACE.svc.cluster.local/...` and sends it to a ready pod of the Service. A request to a Knative Service waits
/// until a pod has room for it, which may have to be started.
///
/// What it answers itself: 502 to a name that is not there, and when the process ended before it had answered; 503 when a Service
/// has no ready pod, or a Knative Service none in two minutes; 504 when a Knative Service's `timeoutSeconds` have passed.
class Proxy {
  public:
    /// Listens on loopback, where `port` is 0 at a port that the kernel chooses; throws where it can't. `wanted` is called when a
    /// request waits for a pod.
    Proxy(Pods& pods, std::uint16_t port, std::function<void()> wanted);
    ~Proxy();
    Proxy(Proxy const&) = delete;
    Proxy& operator=(Proxy const&) = delete;

    std::string url() const;

  private:
    /// A pod that was found for one request, and the request's place in it.
    struct Seat {
        std::shared_ptr<Pod> pod;
        std::uint16_t port = 0;  ///< of this machine
        std::optional<std::chrono::seconds> timeout;
    };
    /// What a host name stands for.
    struct Target {
        enum class Kind { Unknown, Service, KnativeService };
        Kind kind = Kind::Unknown;
        k8s::ObjectKey key;
        std::uint16_t port = 80;
    };

    void accept_all();
    void serve(int socket);
    HttpMessage answer(HttpMessage& request, HttpStream const& client, bool& abandoned);
    HttpMessage forward(Seat const& seat, HttpMessage const& request, HttpStream const& client, bool& abandoned);

    Target resolve(std::string host) const;
    std::optional<Seat> seat_in_service(Target const& target) const;
    std::optional<Seat> seat_in_knative_service(Target const& target);
    std::shared_ptr<Pod> pod_with_room(WorkloadKey const& key, Workload const& workload) const;
    void leave(Seat const& seat);

    HttpStream connection_to(std::uint16_t port);
    void keep(std::uint16_t port, HttpStream connection);

    Pods& pods_;
    std::function<void()> const wanted_;
    int listener_ = -1;
    std::mutex mutex_;
    std::map<std::uint16_t, std::vector<HttpStream>> kept_;  ///< idle connections, by port
    std::atomic<bool> stopping_{false};
    std::thread thread_;  ///< last: it uses everything above
};

}  // namespace node
