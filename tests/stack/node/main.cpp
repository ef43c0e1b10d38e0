/// One node for one API server, without containers: see tests/stack/README.md.
#include "tests/stack/node/kubelet.hpp"
#include "tests/stack/node/prober.hpp"
#include "tests/stack/node/proxy.hpp"
#include "tests/stack/node/reporter.hpp"

#include <CLI/CLI.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace {

using node::Json;
using node::Pods;
using node::Workload;
using node::WorkloadKey;

/// What the API server has told becomes what is wanted.
void note(Pods& pods, WorkloadKey const& key, Json object) {
    auto& workload = pods.workloads[key];
    workload.kind = key.first;
    bool const was_there = workload.object.is_object() && !workload.deleted;
    if (was_there && node::template_of(workload) != base::member(object, "spec", "template")) ++workload.rollouts;
    workload.object = std::move(object);
    workload.deleted = k8s::is_being_deleted(workload.object);
}

node::Watch::Listener workload_listener(Pods& pods, Workload::Kind kind, std::function<void()> wake) {
    auto const listed = [&pods, kind, wake](std::vector<Json> objects) {
        {
            std::lock_guard const lock{pods.mutex};
            for (auto& [key, workload] : pods.workloads) workload.deleted = workload.deleted || key.first == kind;
            for (auto& object : objects) {
                WorkloadKey const key{kind, k8s::key_of(object)};
                if (auto const known = pods.workloads.find(key); known != pods.workloads.end()) known->second.deleted = false;
                note(pods, key, std::move(object));
            }
        }
        wake();
    };
    auto const changed = [&pods, kind, wake](Json object, bool deleted) {
        {
            std::lock_guard const lock{pods.mutex};
            WorkloadKey const key{kind, k8s::key_of(object)};
            note(pods, key, std::move(object));
            if (deleted) pods.workloads[key].deleted = true;
            pods.changed.notify_all();
        }
        wake();
    };
    return {listed, changed};
}

node::Watch::Listener service_listener(Pods& pods) {
    auto const listed = [&pods](std::vector<Json> objects) {
        std::lock_guard const lock{pods.mutex};
        pods.services.clear();
        for (auto& object : objects) {
            auto const key = k8s::key_of(object);
            pods.services[key] = std::move(object);
        }
    };
    auto const changed = [&pods](Json object, bool deleted) {
        std::lock_guard const lock{pods.mutex};
        auto const key = k8s::key_of(object);
        if (deleted) {
            pods.services.erase(key);
        } else {
            pods.services[key] = std::move(object);
        }
    };
    return {listed, changed};
}

/// So that only the kubelet's loop hears of them, and a closed connection ends a write and not the program.
void arrange_signals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int const signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&handled, signal);
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"stack-node: runs the Deployments and Knative Services of one API server as processes on loopback"};
    std::string kubeconfig;
    std::string folder;
    std::string logs;
    std::string images;
    std::string window;
    std::string way;
    std::uint16_t port = 0;
    int max_scale = 1;
    app.add_option("--kubeconfig", kubeconfig, "An administrator's, for the API server")->required();
    app.add_option("--folder", folder, "For node.json, and what pods are given")->required();
    app.add_option("--logs", logs, "For what the processes say")->required();
    app.add_option("--images", images, "A line for each image: its name, and the path of a program")->required();
    app.add_option("--port", port, "For the HTTP proxy; without it the kernel chooses one");
    app.add_option("--window", window, "How long a Knative Service is kept without a request, whatever it says itself");
    app.add_option("--way", way, "The URL by which functions reach the API server, where it is another one");
    app.add_option("--max-scale", max_scale, "Pods of one Knative Service at a time, whatever it says itself");
    CLI11_PARSE(app, argc, argv);

    arrange_signals();
    auto const access = k8s::read_kubeconfig_file(kubeconfig, [] { return std::chrono::system_clock::now(); });
    if (!access) {
        std::cerr << access.error().message << "\n";
        return EXIT_FAILURE;
    }
    node::Cluster const cluster{*access};
    node::Images const table{images};
    // Threads that serve connections are not waited for, so what they use lives until the process has ended.
    auto& pods = *new Pods;
    node::Kubelet* kubelet = nullptr;
    auto const wake = [&kubelet] { kubelet->wake(); };
    auto& proxy = *new node::Proxy{pods, port, wake};
    node::KubeletOptions options{.folder = folder,
                                 .logs = logs,
                                 .proxy = proxy.url(),
                                 .window = node::parse_duration(window),
                                 .way = way,
                                 .max_scale = max_scale};
    kubelet = new node::Kubelet{pods, cluster, table, options};
    node::Watch const deployments{cluster, node::kDeployments, workload_listener(pods, Workload::Kind::Deployment, wake)};
    node::Watch const functions{cluster, node::kKnativeServices, workload_listener(pods, Workload::Kind::KnativeService, wake)};
    node::Watch const services{cluster, node::kServices, service_listener(pods)};
    node::Prober const prober{pods, wake};
    node::Reporter const reporter{pods, cluster, std::filesystem::path{folder} / "node.json", proxy.url()};
    kubelet->run();
    ::_exit(EXIT_SUCCESS);
}
