#include "tests/stack/node/kubelet.hpp"

#include "tests/stack/node/pod_ports.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace node {

using base::integer_of;
using base::member;
using base::text_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr milliseconds kLongestSleep{50};
constexpr milliseconds kFirstPause{200};  ///< before a process that ended is started again
constexpr milliseconds kLongestPause{5'000};
constexpr seconds kLongEnough{10};  ///< a process that has run for so long is not one that fails at its start
constexpr milliseconds kPauseAfterFault{500};
constexpr seconds kDefaultWindow{60};
constexpr seconds kPatienceAtTheEnd{1};
constexpr int kPreparers = 4;

std::string_view kind_of(Workload::Kind kind) { return kind == Workload::Kind::Deployment ? "Deployment" : "Knative Service"; }

std::string full_name(Pod const& pod) { return pod.name.namespace_ + "/" + pod.name.name; }

seconds grace_of(Pod const& pod) {
    Json const& spec = member(pod.pod_template, "spec");
    if (pod.workload.first == Workload::Kind::KnativeService) {
        // A revision's pods get as long to end as a request may take.
        return seconds{integer_of(member(spec, "timeoutSeconds"), 300)};
    }
    return seconds{integer_of(member(spec, "terminationGracePeriodSeconds"), 30)};
}

bool is_full(Pod const& pod) {
    auto const concurrency = integer_of(member(pod.pod_template, "spec", "containerConcurrency"), 0);
    return concurrency > 0 && pod.in_flight >= concurrency;
}

}  // namespace

void say(std::string_view text) {
    std::string const line = base::rfc3339_nano(std::chrono::system_clock::now()) + " " + std::string{text} + "\n";
    [[maybe_unused]] auto const written = ::write(STDOUT_FILENO, line.data(), line.size());
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    milliseconds sum{0};
    while (!text.empty()) {
        int number = 0;
        auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failure != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        std::string_view const unit = text.substr(0, text.find_first_of("0123456789"));
        if (unit == "ms")
            sum += milliseconds{number};
        else if (unit == "s")
            sum += seconds{number};
        else if (unit == "m")
            sum += std::chrono::minutes{number};
        else if (unit == "h")
            sum += std::chrono::hours{number};
        else
            return std::nullopt;
        text.remove_prefix(unit.size());
    }
    return sum;
}

Kubelet::Kubelet(Pods& pods, Cluster const& cluster, Images const& images, KubeletOptions options)
    : pods_(pods),
      cluster_(cluster),
      images_(images),
      options_(std::move(options)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (int i = 0; i < kPreparers; ++i) preparers_.emplace_back([this] { prepare_pods(); });
}

Kubelet::~Kubelet() {
    {
        std::lock_guard const lock{pods_.mutex};
        done_ = true;
    }
    more_to_prepare_.notify_all();
    for (auto& thread : preparers_) thread.join();
    ::close(wake_);
}

void Kubelet::wake() {
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(wake_, &one, sizeof one);
}

void Kubelet::run() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int const signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&handled, signal);
    int const signals = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    while (!ending_) {
        wait_for_events(signals);
        reap();
        std::lock_guard const lock{pods_.mutex};
        arrange(std::chrono::steady_clock::now());
    }
    end_everything();
    ::close(signals);
}

// --- what happens -----------------------------------------------------------------------------------------------------

void Kubelet::wait_for_events(int signals) {
    std::vector<std::shared_ptr<Pod>> pods;
    std::vector<pollfd> sources{{wake_, POLLIN, 0}, {signals, POLLIN, 0}};
    {
        std::lock_guard const lock{pods_.mutex};
        for (auto const& pod : pods_.pods) {
            if (pod->process.binds < 0) continue;
            pods.push_back(pod);
            sources.push_back({pod->process.binds, POLLIN, 0});
        }
    }
    if (::poll(sources.data(), sources.size(), static_cast<int>(kLongestSleep.count())) <= 0) return;
    std::uint64_t count = 0;
    [[maybe_unused]] auto const drained = ::read(wake_, &count, sizeof count);
    signalfd_siginfo signal{};
    while (::read(signals, &signal, sizeof signal) == sizeof signal) ending_ = ending_ || signal.ssi_signo != SIGCHLD;
    std::vector<int> ready;
    for (std::size_t i = 2; i < sources.size(); ++i) ready.push_back(sources[i].revents);
    answer_binds(pods, ready);
}

void Kubelet::answer_binds(std::vector<std::shared_ptr<Pod>> const& pods, std::vector<int> const& ready) {
    for (std::size_t i = 0; i < pods.size(); ++i) {
        Pod& pod = *pods[i];
        if ((ready[i] & POLLIN) != 0) {
            answer_bind(pod.process.binds, [&](std::uint16_t port) { return choose_port(pod, port); });
        } else if (ready[i] != 0) {
            // Nobody is left who could ask.
            ::close(pod.process.binds);
            pod.process.binds = -1;
        }
    }
}

/// The port that the template's `hostPort` says, else any.
std::uint16_t Kubelet::choose_port(Pod& pod, std::uint16_t port) {
    std::uint16_t chosen = 0;
    for (auto const& one : member(container_of(pod.pod_template), "ports")) {
        if (integer_of(member(one, "containerPort")) == port)
            chosen = static_cast<std::uint16_t>(integer_of(member(one, "hostPort")));
    }
    if (chosen == 0) chosen = unused_port();
    std::lock_guard const lock{pods_.mutex};
    return pod.ports[port] = chosen;
}

void Kubelet::reap() {
    int status = 0;
    while (pid_t const id = ::waitpid(-1, &status, WNOHANG)) {
        if (id < 0) return;
        std::lock_guard const lock{pods_.mutex};
        for (auto const& pod : pods_.pods) {
            if (pod->process.id == id) note_end(*pod, status, std::chrono::steady_clock::now());
        }
        pods_.changed.notify_all();
    }
}

void Kubelet::note_end(Pod& pod, int status, Time now) {
    say("pod " + full_name(pod) + " has ended " +
        (WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with status " + std::to_string(WEXITSTATUS(status))));
    if (pod.process.binds >= 0) ::close(pod.process.binds);
    pod.process = {};
    pod.ports.clear();
    pod.ready = false;
    pod.state = Pod::State::Ended;
    bool const starts_again = pod.workload.first == Workload::Kind::Deployment && !pod.stopping && !ending_;
    if (!starts_again) return;
    pod.failures = now - pod.started > kLongEnough ? 0 : pod.failures + 1;
    pod.state = Pod::State::New;
    pod.next = now + std::min(kLongestPause, kFirstPause * (1 << std::min(pod.failures, 5)));
}

// --- what should be ---------------------------------------------------------------------------------------------------

void Kubelet::arrange(Time now) {
    for (auto& [key, workload] : pods_.workloads) {
        if (key.first == Workload::Kind::Deployment) {
            arrange_deployment(key, workload, now);
        } else {
            arrange_service(key, workload, now);
        }
    }
    for (auto const& pod : std::vector{pods_.pods}) advance(pod, now);
    std::erase_if(pods_.pods, [](auto const& pod) { return pod->state == Pod::State::Ended; });
    std::erase_if(pods_.workloads, [&](auto const& one) { return one.second.deleted && pods_of(one.first).empty(); });
}

std::vector<std::shared_ptr<Pod>> Kubelet::pods_of(WorkloadKey const& key) const {
    std::vector<std::shared_ptr<Pod>> pods;
    std::copy_if(pods_.pods.begin(), pods_.pods.end(), std::back_inserter(pods),
                 [&](auto const& pod) { return pod->workload == key; });
    return pods;
}

/// As a rolling update does it by default, one more pod than wanted: the old ones go when the new ones are ready. With the
/// strategy Recreate they go first.
void Kubelet::arrange_deployment(WorkloadKey const& key, Workload& workload, Time now) {
    int const wanted = replicas_of(workload);
    bool const recreate = text_of(member(workload.object, "spec", "strategy", "type")) == "Recreate";
    int current = 0;
    int ready = 0;
    int old = 0;
    auto const pods = pods_of(key);
    for (auto const& pod : pods) {
        if (is_current(*pod, workload) && current < wanted) {
            ++current;
            ready += pod->ready ? 1 : 0;
        } else if (is_current(*pod, workload)) {
            pod->stopping = true;
        } else {
            ++old;
        }
    }
    for (auto const& pod : pods) {
        if (!is_current(*pod, workload) && (recreate || ready >= wanted || !pod->ready)) pod->stopping = true;
    }
    if (recreate && old > 0) return;
    for (; current < wanted; ++current) make_pod(key, workload, now);
}

void Kubelet::arrange_service(WorkloadKey const& key, Workload& workload, Time now) {
    std::string const written = k8s::annotation_of(template_of(workload), "autoscaling.knative.dev/window");
    auto const window = options_.window.value_or(parse_duration(written).value_or(milliseconds{kDefaultWindow}));
    int current = 0;
    bool room_is_coming = false;
    for (auto const& pod : pods_of(key)) {
        bool const running = pod->state == Pod::State::Running;
        bool const idle =
            pod->in_flight == 0 && workload.waiting == 0 && now - std::max(pod->last_request, pod->started) >= window;
        if (workload.deleted || !is_current(*pod, workload) || (running && idle) || (!running && workload.waiting == 0)) {
            pod->stopping = true;
        } else {
            ++current;
            room_is_coming = room_is_coming || !pod->ready || !is_full(*pod);
        }
    }
    if (workload.waiting > 0 && !workload.deleted && current < options_.max_scale && !room_is_coming)
        make_pod(key, workload, now);
}

void Kubelet::make_pod(WorkloadKey const& key, Workload& workload, Time now) {
    auto pod = std::make_shared<Pod>();
    std::string const number = std::to_string(++workload.made);
    std::string const owner = key.first == Workload::Kind::Deployment ? key.second.name : revision_of(workload);
    ++addresses_;
    pod->name = {key.second.namespace_, owner + "-" + number,
                 "10.244." + std::to_string(addresses_ / 250) + "." + std::to_string(1 + addresses_ % 250)};
    pod->workload = key;
    pod->pod_template = template_of(workload);
    pod->next = now;
    pods_.pods.push_back(std::move(pod));
}

void Kubelet::advance(std::shared_ptr<Pod> const& pod, Time now) {
    if (pod->stopping) pod->ready = false;
    switch (pod->state) {
        case Pod::State::New:
            if (pod->stopping) {
                pod->state = Pod::State::Ended;
            } else if (now >= pod->next) {
                pod->state = Pod::State::Preparing;
                to_prepare_.push_back(pod);
                more_to_prepare_.notify_one();
            }
            return;
        case Pod::State::Prepared: return pod->stopping ? void(pod->state = Pod::State::Ended) : start_process(*pod, now);
        case Pod::State::Running:
            if (!pod->stopping) return;
            if (!pod->terminated) {
                say("pod " + full_name(*pod) + " is asked to end");
                ::kill(pod->process.id, SIGTERM);
                pod->terminated = true;
                pod->next = now + grace_of(*pod);
            } else if (now >= pod->next) {
                ::kill(pod->process.id, SIGKILL);
            }
            return;
        case Pod::State::Preparing:
        case Pod::State::Ended: return;
    }
}

void Kubelet::start_process(Pod& pod, Time now) {
    auto const workload = pods_.workloads.find(pod.workload);
    auto process = start(pod.command);
    if (!process) {
        say("pod " + full_name(pod) + ": " + process.error());
        if (workload != pods_.workloads.end()) workload->second.fault = process.error();
        pod.state = Pod::State::New;
        pod.next = now + kPauseAfterFault;
        return;
    }
    pod.process = *process;
    pod.state = Pod::State::Running;
    pod.started = pod.probed_next = now;
    ++pod.starts;
    if (workload != pods_.workloads.end()) {
        ++workload->second.starts;
        workload->second.fault.clear();
    }
    say("pod " + full_name(pod) + " of the " + std::string{kind_of(pod.workload.first)} + " runs as process " +
        std::to_string(pod.process.id));
}

void Kubelet::end_everything() {
    auto const deadline = std::chrono::steady_clock::now() + kPatienceAtTheEnd;
    auto const count_running = [&](int signal) {
        std::lock_guard const lock{pods_.mutex};
        int running = 0;
        for (auto const& pod : pods_.pods) {
            if (pod->state != Pod::State::Running) continue;
            ++running;
            if (signal != 0) ::kill(pod->process.id, signal);
        }
        return running;
    };
    count_running(SIGTERM);
    bool killed = false;
    while (count_running(0) > 0) {
        if (!killed && std::chrono::steady_clock::now() > deadline) {
            count_running(SIGKILL);
            killed = true;
        }
        std::this_thread::sleep_for(milliseconds{10});
        reap();
    }
}

// --- what a pod needs before it can start -----------------------------------------------------------------------------

void Kubelet::prepare_pods() {
    std::unique_lock lock{pods_.mutex};
    while (true) {
        more_to_prepare_.wait(lock, [&] { return done_ || !to_prepare_.empty(); });
        if (done_) return;
        auto const pod = to_prepare_.front();
        to_prepare_.pop_front();
        lock.unlock();
        prepare(*pod);
        wake();
        lock.lock();
    }
}

/// While a pod is being prepared nobody else changes what is read here.
void Kubelet::prepare(Pod& pod) {
    auto const& [kind, key] = pod.workload;
    Place const place{options_.folder / (pod.name.namespace_ + "." + pod.name.name),
                      options_.logs / (key.namespace_ + "." + key.name + ".log"), options_.proxy,
                      kind == Workload::Kind::KnativeService ? options_.way : ""};
    auto command = command_of(pod.pod_template, pod.name, place, images_, cluster_);
    if (command && kind == Workload::Kind::KnativeService) {
        command->environment.emplace_back("PORT", std::to_string(serving_port(pod.pod_template)));
        command->environment.emplace_back("K_SERVICE", key.name);
        command->environment.emplace_back("K_CONFIGURATION", key.name);
        command->environment.emplace_back("K_REVISION", pod.name.name.substr(0, pod.name.name.rfind('-')));
    }
    std::lock_guard const lock{pods_.mutex};
    if (command) {
        pod.command = *std::move(command);
        pod.state = Pod::State::Prepared;
        return;
    }
    pod.state = Pod::State::New;
    pod.next = std::chrono::steady_clock::now() + kPauseAfterFault;
    auto const workload = pods_.workloads.find(pod.workload);
    if (workload == pods_.workloads.end() || workload->second.fault == command.error()) return;
    say("pod " + full_name(pod) + " can't start: " + command.error());
    workload->second.fault = command.error();
}

}  // namespace node
