#include "tests/stack/node/reporter.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

namespace node {

using base::integer_of;
using base::member;
using base::text_of;

namespace {

constexpr std::chrono::milliseconds kTestsPause{20};
constexpr std::chrono::milliseconds kClusterPause{50};
constexpr std::string_view kManager = "stack-node";

/// How many pods of a workload there are, of which kind.
struct Counts {
    int all = 0;
    int current = 0;
    int ready = 0;
};

Counts count(Pods const& pods, WorkloadKey const& key, Workload const& workload) {
    Counts counts;
    for (auto const& pod : pods.pods) {
        if (pod->workload != key || pod->stopping) continue;
        ++counts.all;
        counts.current += is_current(*pod, workload) ? 1 : 0;
        counts.ready += pod->ready ? 1 : 0;
    }
    return counts;
}

Json condition(std::string_view type, bool holds, std::string const& reason, std::string const& message) {
    return {{"type", type}, {"status", holds ? "True" : "False"}, {"reason", reason}, {"message", message}};
}

/// As the Deployment controller writes it.
Json status_of_deployment(Workload const& workload, Counts const& counts) {
    int const wanted = replicas_of(workload);
    bool const available = counts.ready >= wanted;
    std::string const& fault = workload.fault;
    return {
        {"observedGeneration", k8s::generation_of(workload.object)},
        {"replicas", counts.all},
        {"updatedReplicas", counts.current},
        {"readyReplicas", counts.ready},
        {"availableReplicas", counts.ready},
        {"unavailableReplicas", std::max(0, wanted - counts.ready)},
        {"conditions",
         {condition("Available", available, available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable", fault),
          condition("Progressing", fault.empty(), fault.empty() ? "NewReplicaSetAvailable" : "FailedCreate", fault)}},
    };
}

/// As Serving's controllers write it.
Json status_of_service(Workload const& workload) {
    std::string const url =
        "http://" + k8s::name_of(workload.object) + "." + k8s::namespace_of(workload.object) + ".svc.cluster.local";
    std::string const revision = revision_of(workload);
    bool const good = workload.fault.empty();
    std::string const reason = good ? "" : "RevisionFailed";
    Json conditions = Json::array();
    for (auto const* const type : {"ConfigurationsReady", "Ready", "RoutesReady"}) {
        Json one = condition(type, good, reason, workload.fault);
        if (good) {
            one.erase("reason");
            one.erase("message");
        }
        conditions.push_back(std::move(one));
    }
    return {
        {"observedGeneration", k8s::generation_of(workload.object)},
        {"conditions", std::move(conditions)},
        {"address", {{"url", url}}},
        {"url", url},
        {"latestCreatedRevisionName", revision},
        {"latestReadyRevisionName", revision},
        {"traffic", {{{"latestRevision", true}, {"percent", 100}, {"revisionName", revision}}}},
    };
}

bool is_endpoint(Pod const& pod, Json const& service) {
    return pod.ready && pod.workload.first == Workload::Kind::Deployment && is_selected(pod, service);
}

/// All that a status is made of, to see cheaply whether there is something to tell.
std::string summary(Workload const& workload, Counts const& counts) {
    std::string text = workload.fault;
    for (std::int64_t const number : {k8s::generation_of(workload.object), std::int64_t{replicas_of(workload)},
                                      std::int64_t{counts.all}, std::int64_t{counts.current}, std::int64_t{counts.ready}}) {
        text += " " + std::to_string(number);
    }
    return text;
}

/// The same of a Service's endpoints.
std::string summary(Pods const& pods, Json const& service) {
    std::string text = k8s::resource_version_of(service);
    for (auto const& pod : pods.pods) {
        if (is_endpoint(*pod, service)) text += " " + pod->name.address;
    }
    return text;
}

/// The ready pods of a Service. A ready pod has an address; that nothing listens there matters to nobody, since whoever
/// connects does so through the node.
Json endpoint_slice(Pods const& pods, Json const& service) {
    Json endpoints = Json::array();
    Json ports = Json::array();
    for (auto const& pod : pods.pods) {
        if (!is_endpoint(*pod, service)) continue;
        endpoints.push_back({{"addresses", {pod->name.address}},
                             {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}},
                             {"nodeName", kManager}});
        ports = Json::array();
        for (auto const& port : member(service, "spec", "ports")) {
            auto const number = container_port(pod->pod_template, member(port, "targetPort"));
            if (number) ports.push_back({{"name", text_of(member(port, "name"))}, {"protocol", "TCP"}, {"port", *number}});
        }
    }
    return {
        {"apiVersion", "discovery.k8s.io/v1"},
        {"kind", "EndpointSlice"},
        {"metadata",
         {{"name", k8s::name_of(service) + "-node"},
          {"namespace", k8s::namespace_of(service)},
          {"labels",
           {{"kubernetes.io/service-name", k8s::name_of(service)}, {"endpointslice.kubernetes.io/managed-by", kManager}}}}},
        {"addressType", "IPv4"},
        {"endpoints", std::move(endpoints)},
        {"ports", std::move(ports)},
    };
}

/// The time of a condition's last change: that of before where its status is the same.
void add_times(Json& status, Json const& before, bool with_update_time) {
    std::string const now = base::rfc3339(std::chrono::system_clock::now());
    for (auto& one : status["conditions"]) {
        std::string since = now;
        for (auto const& old : member(before, "status", "conditions")) {
            bool const same = member(old, "type") == one["type"] && member(old, "status") == one["status"];
            if (same && member(old, "lastTransitionTime").is_string()) since = text_of(member(old, "lastTransitionTime"));
        }
        one["lastTransitionTime"] = since;
        if (with_update_time) one["lastUpdateTime"] = now;
    }
}

}  // namespace

Reporter::Reporter(Pods& pods, Cluster const& cluster, std::filesystem::path file, std::string proxy)
    : pods_(pods), cluster_(cluster), file_(std::move(file)), proxy_(std::move(proxy)) {
    threads_.emplace_back([this] { repeat(&Reporter::report_to_tests, kTestsPause); });
    threads_.emplace_back([this] { repeat(&Reporter::report_to_cluster, kClusterPause); });
}

Reporter::~Reporter() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
}

void Reporter::repeat(void (Reporter::*report)(), std::chrono::milliseconds pause) {
    while (!stopping_) {
        (this->*report)();
        std::this_thread::sleep_for(pause);
    }
}

void Reporter::report_to_tests() {
    Json report{{"proxy", proxy_}, {"pods", Json::object()}, {"deployments", Json::object()}, {"services", Json::object()}};
    {
        std::lock_guard const lock{pods_.mutex};
        for (auto const& pod : pods_.pods) {
            if (pod->state != Pod::State::Running) continue;
            Json ports = Json::object();
            for (auto const& [port, here] : pod->ports) ports[std::to_string(port)] = here;
            bool const serves = pod->workload.first == Workload::Kind::KnativeService;
            report["pods"][pod->name.namespace_ + "/" + pod->name.name] = {
                {serves ? "service" : "deployment", to_string(pod->workload.second)},
                {"pid", pod->process.id},
                {"starts", pod->starts},
                {"ports", std::move(ports)},
                {"ready", pod->ready},
                {"ending", pod->stopping},
            };
        }
        for (auto const& [key, workload] : pods_.workloads) {
            Counts const counts = count(pods_, key, workload);
            bool const serves = key.first == Workload::Kind::KnativeService;
            Json one{{"starts", workload.starts}, {"rollouts", workload.rollouts}, {"ready", counts.ready}};
            if (!workload.fault.empty()) one["fault"] = workload.fault;
            report[serves ? "services" : "deployments"][to_string(key.second)] = std::move(one);
        }
    }
    std::string text = report.dump(2) + "\n";
    if (text == written_) return;
    std::string const unfinished = file_.string() + ".new";
    std::ofstream{unfinished} << text;
    std::filesystem::rename(unfinished, file_);
    written_ = std::move(text);
}

/// Only what has changed, or could not be told before, is sent.
void Reporter::report_to_cluster() {
    struct Message {
        std::string about;
        std::string text;
        k8s::Request request;
    };
    std::vector<Message> messages;
    {
        std::lock_guard const lock{pods_.mutex};
        for (auto const& [key, workload] : pods_.workloads) {
            if (workload.deleted) continue;
            bool const serves = key.first == Workload::Kind::KnativeService;
            auto const& resource = serves ? kKnativeServices : kDeployments;
            Counts const counts = serves ? Counts{} : count(pods_, key, workload);
            std::string const about = k8s::uid_of(workload.object);
            std::string text = summary(workload, counts);
            if (reported_[about] == text) continue;
            Json status = serves ? status_of_service(workload) : status_of_deployment(workload, counts);
            add_times(status, workload.object, !serves);
            k8s::Request request = k8s::merge_patch(resource, key.second, {{"status", std::move(status)}}, kManager);
            request.subresource = "status";
            messages.push_back({about, std::move(text), std::move(request)});
        }
        for (auto const& [key, service] : pods_.services) {
            if (!member(service, "spec", "selector").is_object()) continue;
            std::string const about = k8s::uid_of(service);
            std::string text = summary(pods_, service);
            if (reported_[about] == text) continue;
            messages.push_back({about, std::move(text), k8s::apply(kEndpointSlices, endpoint_slice(pods_, service), kManager)});
        }
    }
    for (auto& message : messages) {
        if (cluster_.send(std::move(message.request))) reported_[message.about] = std::move(message.text);
    }
}

}  // namespace node
