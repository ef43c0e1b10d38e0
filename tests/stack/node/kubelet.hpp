#pragma once

#include "tests/stack/node/pods.hpp"

#include <chrono>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace node {

/// A line of the node's own log, on standard output.
void say(std::string_view text);

/// How pods are run here.
struct KubeletOptions {
    std::filesystem::path folder;                     ///< a folder for each pod
    std::filesystem::path logs;                       ///< NAMESPACE.WORKLOAD.log
    std::string proxy;                                ///< the URL of the node's HTTP proxy
    std::optional<std::chrono::milliseconds> window;  ///< in the place of what Knative Services say
    std::string way;                                  ///< of functions to the API server, "" for its own URL
    int max_scale = 1;                                ///< pods of one Knative Service
};

/// Starts and ends processes, so that they are what the workloads want. As many pods of a Knative Service as requests wait for,
/// none when its window has passed without one.
class Kubelet {
  public:
    Kubelet(Pods& pods, Cluster const& cluster, Images const& images, KubeletOptions options);
    ~Kubelet();
    Kubelet(Kubelet const&) = delete;
    Kubelet& operator=(Kubelet const&) = delete;

    /// Returns after SIGTERM or SIGINT, when all processes have ended. The calling thread must be the one that lives longest:
    /// processes are killed when it ends. Both signals, and SIGCHLD, must be blocked in all threads.
    void run();

    /// Something has changed; from any thread.
    void wake();

  private:
    using Time = Pod::Time;

    void wait_for_events(int signals);
    void answer_binds(std::vector<std::shared_ptr<Pod>> const& pods, std::vector<int> const& ready);
    std::uint16_t choose_port(Pod& pod, std::uint16_t port);
    void reap();
    void note_end(Pod& pod, int status, Time now);

    void arrange(Time now);
    void arrange_deployment(WorkloadKey const& key, Workload& workload, Time now);
    void arrange_service(WorkloadKey const& key, Workload& workload, Time now);
    void advance(std::shared_ptr<Pod> const& pod, Time now);
    void start_process(Pod& pod, Time now);
    void make_pod(WorkloadKey const& key, Workload& workload, Time now);
    std::vector<std::shared_ptr<Pod>> pods_of(WorkloadKey const& key) const;
    void end_everything();

    void prepare_pods();
    void prepare(Pod& pod);

    Pods& pods_;
    Cluster const& cluster_;
    Images const& images_;
    KubeletOptions const options_;
    int wake_ = -1;
    bool ending_ = false;
    int addresses_ = 0;

    std::deque<std::shared_ptr<Pod>> to_prepare_;  ///< under the lock of pods_
    std::condition_variable more_to_prepare_;
    bool done_ = false;
    std::vector<std::thread> preparers_;
};

/// A duration as Knative's annotations spell it: `15s`, `1m30s`, `6h`.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace node
