#pragma once

#include "tests/stack/node/pod_template.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace node {

/// Something that wants pods.
struct Workload {
    enum class Kind { Deployment, KnativeService };

    Kind kind = Kind::Deployment;
    Json object;           ///< as it was last seen
    bool deleted = false;  ///< it is kept until its pods have ended
    int made = 0;          ///< pods, each with a name of its own
    int starts = 0;        ///< processes
    int rollouts = 0;      ///< changes of the template
    int waiting = 0;       ///< requests to a Knative Service that no pod has yet
    std::string fault;     ///< why its last pod could not be started, "" after one was
};

using WorkloadKey = std::pair<Workload::Kind, k8s::ObjectKey>;

/// A pod, which is one process.
struct Pod {
    enum class State {
        New,        ///< to be started at `next`
        Preparing,  ///< what it takes from the cluster is being fetched
        Prepared,
        Running,
        Ended,
    };
    using Time = std::chrono::steady_clock::time_point;

    PodName name;
    WorkloadKey workload;
    Json pod_template;

    State state = State::New;
    Command command;
    Process process;
    std::map<std::uint16_t, std::uint16_t> ports;  ///< what it listens on: its own port, and that of this machine
    int starts = 0;
    int failures = 0;         ///< times that it ended by itself, soon
    bool stopping = false;    ///< nothing new is sent to it, and it is not started again
    bool terminated = false;  ///< it has been asked to end
    Time next{};              ///< when it is started; once it was asked to end, when it is killed
    Time started{};

    bool ready = false;
    int failed_probes = 0;
    Time probed_next{};

    int in_flight = 0;  ///< requests
    Time last_request{};
};

/// What all threads of the node know, under one lock.
struct Pods {
    std::mutex mutex;
    std::condition_variable changed;  ///< a pod has become ready or has ended, or is free for another request
    std::map<WorkloadKey, Workload> workloads;
    std::map<k8s::ObjectKey, Json> services;  ///< Kubernetes' own
    std::vector<std::shared_ptr<Pod>> pods;
};

Json const& template_of(Workload const& workload);

/// Pods that are wanted, of those whose number the object says.
int replicas_of(Workload const& workload);

/// Whether a pod is of the workload's template as it is now.
bool is_current(Pod const& pod, Workload const& workload);

/// The port that a Knative Service's container is told to listen on.
std::uint16_t serving_port(Json const& pod_template);

/// The pod's port of this machine, 0 while it does not listen.
std::uint16_t host_port(Pod const& pod, std::uint16_t port);

/// Whether every label of a Service's selector is on the pod.
bool is_selected(Pod const& pod, Json const& service);

/// The name of a Knative Service's revision.
std::string revision_of(Workload const& service);

}  // namespace node
