#include "tests/stack/node/pods.hpp"

#include <algorithm>

namespace node {

using base::integer_of;
using base::member;

Json const& template_of(Workload const& workload) { return member(workload.object, "spec", "template"); }

int replicas_of(Workload const& workload) {
    return workload.deleted ? 0 : static_cast<int>(integer_of(member(workload.object, "spec", "replicas"), 1));
}

bool is_current(Pod const& pod, Workload const& workload) { return !pod.stopping && pod.pod_template == template_of(workload); }

std::uint16_t serving_port(Json const& pod_template) {
    Json const& ports = member(container_of(pod_template), "ports");
    std::int64_t const port =
        ports.is_array() && !ports.empty() ? integer_of(member(ports.front(), "containerPort"), 8080) : 8080;
    return static_cast<std::uint16_t>(port);
}

std::uint16_t host_port(Pod const& pod, std::uint16_t port) {
    auto const found = pod.ports.find(port);
    return found == pod.ports.end() ? std::uint16_t{0} : found->second;
}

bool is_selected(Pod const& pod, Json const& service) {
    Json const& selector = member(service, "spec", "selector");
    bool const same_namespace = pod.name.namespace_ == k8s::namespace_of(service);
    if (!selector.is_object() || selector.empty() || !same_namespace) return false;
    auto const items = selector.items();
    return std::all_of(items.begin(), items.end(), [&](auto const& label) {
        return member(pod.pod_template, "metadata", "labels", label.key()) == label.value();
    });
}

std::string revision_of(Workload const& service) {
    std::string const generation = std::to_string(k8s::generation_of(service.object));
    return k8s::name_of(service.object) + "-" + std::string(5 - std::min<std::size_t>(generation.size(), 5), '0') + generation;
}

}  // namespace node
