#include "tests/stack/node/proxy.hpp"

#include "tests/stack/node/kubelet.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace node {

using base::integer_of;
using base::member;
using base::text_of;

namespace {

constexpr std::chrono::seconds kLongestHold{120};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::int64_t kDefaultTimeout = 300;  ///< seconds, Serving's own
constexpr std::size_t kKeptConnections = 256;  ///< for each port
constexpr int kLongestChain = 4;               ///< of ExternalNames
constexpr std::string_view kScheme = "http://";

HttpMessage refusal(int status, std::string const& why) {
    std::string const phrase = status == 400   ? " Bad Request"
                               : status == 502 ? " Bad Gateway"
                               : status == 503 ? " Service Unavailable"
                                               : " Gateway Timeout";
    return {"HTTP/1.1 " + std::to_string(status) + phrase, {{"Content-Type", "text/plain"}}, why + "\n"};
}

/// `http://name/path` in the first line becomes `/path`; the name is returned, or that of the Host header.
std::string take_host(HttpMessage& request) {
    auto const begin = request.first_line.find(kScheme);
    if (begin == std::string::npos || begin != request.first_line.find(' ') + 1) return std::string{header(request, "Host")};
    auto const name = begin + kScheme.size();
    auto const end = request.first_line.find_first_of("/ ?", name);
    std::string host = request.first_line.substr(name, end - name);
    bool const has_path = request.first_line[end] == '/';
    request.first_line.replace(begin, end - begin, has_path ? "" : "/");
    return host;
}

std::string method_of(HttpMessage const& request) { return request.first_line.substr(0, request.first_line.find(' ')); }

bool wants_to_close(HttpMessage const& message) {
    return header(message, "Connection") == "close" || message.first_line.find("HTTP/1.0") != std::string::npos;
}

}  // namespace

Proxy::Proxy(Pods& pods, std::uint16_t port, std::function<void()> wanted)
    : pods_(pods), wanted_(std::move(wanted)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    int const on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 ||
        ::listen(listener_, SOMAXCONN) != 0) {
        throw std::runtime_error{"can't listen on port " + std::to_string(port) + ": address already in use"};
    }
    thread_ = std::thread{[this] { accept_all(); }};
}

Proxy::~Proxy() {
    stopping_ = true;
    thread_.join();
    ::close(listener_);
}

std::string Proxy::url() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

/// One thread for each connection. A source or a dispatcher keeps few, and uses them again.
void Proxy::accept_all() {
    pollfd source{listener_, POLLIN, 0};
    while (!stopping_) {
        if (::poll(&source, 1, static_cast<int>(kAcceptPause.count())) <= 0) continue;
        int const socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket >= 0) std::thread{[this, socket] { serve(socket); }}.detach();
    }
}

void Proxy::serve(int socket) {
    HttpStream client{socket};
    HttpMessage request;
    while (client.read_request(request) == HttpStream::End::Complete) {
        bool const last = wants_to_close(request);
        bool abandoned = false;
        auto const reply = answer(request, client, abandoned);
        if (abandoned || !client.write(to_text(reply)) || last) return;
    }
}

HttpMessage Proxy::answer(HttpMessage& request, HttpStream const& client, bool& abandoned) {
    std::string const host = take_host(request);
    Target const target = resolve(host);
    if (target.kind == Target::Kind::Unknown) return refusal(502, "no such host: " + host);
    bool const knative = target.kind == Target::Kind::KnativeService;
    auto const seat = knative ? seat_in_knative_service(target) : seat_in_service(target);
    if (!seat) return refusal(503, "no pod of " + to_string(target.key) + " is ready");
    auto reply = forward(*seat, request, client, abandoned);
    leave(*seat);
    return reply;
}

/// Nothing is sent twice: as Go's own proxy, this one does not know whether the first was acted upon.
HttpMessage Proxy::forward(Seat const& seat, HttpMessage const& request, HttpStream const& client, bool& abandoned) {
    auto connection = connection_to(seat.port);
    if (!connection.is_open() || !connection.write(to_text(request))) return refusal(502, "the process has gone");
    Wait wait{.deadline = {}, .also = &client};
    if (seat.timeout) wait.deadline = std::chrono::steady_clock::now() + *seat.timeout;
    HttpMessage reply;
    switch (connection.read_answer(reply, method_of(request), wait)) {
        case HttpStream::End::Complete:
            if (!wants_to_close(reply)) keep(seat.port, std::move(connection));
            return reply;
        case HttpStream::End::TimedOut: return refusal(504, "request timeout");
        case HttpStream::End::Abandoned: abandoned = true; return {};
        case HttpStream::End::Closed: return refusal(502, "the process has closed the connection without an answer");
        case HttpStream::End::Malformed: return refusal(502, "the process's answer is no HTTP");
    }
    return {};
}

// --- which pod --------------------------------------------------------------------------------------------------------

/// `name.namespace`, with or without `.svc.cluster.local` and a port. The name of an ExternalName leads to another.
Proxy::Target Proxy::resolve(std::string host) const {
    std::lock_guard const lock{pods_.mutex};
    Target target;
    if (auto const colon = host.rfind(':'); colon != std::string::npos) {
        std::from_chars(host.data() + colon + 1, host.data() + host.size(), target.port);
        host.erase(colon);
    }
    for (int i = 0; i < kLongestChain; ++i) {
        auto const first = host.find('.');
        if (first == std::string::npos) return target;
        auto const second = host.find('.', first + 1);
        target.key = {host.substr(first + 1, second == std::string::npos ? second : second - first - 1), host.substr(0, first)};
        auto const knative = pods_.workloads.find({Workload::Kind::KnativeService, target.key});
        if (knative != pods_.workloads.end() && !knative->second.deleted) {
            target.kind = Target::Kind::KnativeService;
            return target;
        }
        auto const service = pods_.services.find(target.key);
        if (service == pods_.services.end()) return target;
        if (text_of(member(service->second, "spec", "type")) != "ExternalName") {
            target.kind = Target::Kind::Service;
            return target;
        }
        host = text_of(member(service->second, "spec", "externalName"));
    }
    return target;
}

/// The pod that has the least to do.
std::optional<Proxy::Seat> Proxy::seat_in_service(Target const& target) const {
    std::lock_guard const lock{pods_.mutex};
    auto const service = pods_.services.find(target.key);
    if (service == pods_.services.end()) return std::nullopt;
    Json wanted;
    for (auto const& port : member(service->second, "spec", "ports")) {
        if (integer_of(member(port, "port")) == target.port) wanted = member(port, "targetPort");
    }
    std::optional<Seat> best;
    for (auto const& pod : pods_.pods) {
        if (pod->workload.first != Workload::Kind::Deployment || !pod->ready || !is_selected(*pod, service->second)) continue;
        auto const port = host_port(*pod, container_port(pod->pod_template, wanted).value_or(0));
        if (port != 0 && (!best || pod->in_flight < best->pod->in_flight)) best = Seat{pod, port, {}};
    }
    if (best) ++best->pod->in_flight;
    return best;
}

std::optional<Proxy::Seat> Proxy::seat_in_knative_service(Target const& target) {
    auto const deadline = std::chrono::steady_clock::now() + kLongestHold;
    WorkloadKey const key{Workload::Kind::KnativeService, target.key};
    std::unique_lock lock{pods_.mutex};
    bool waiting = false;
    std::shared_ptr<Pod> pod;
    auto const is_decided = [&] {
        auto const workload = pods_.workloads.find(key);
        if (workload == pods_.workloads.end() || workload->second.deleted) return true;
        pod = pod_with_room(key, workload->second);
        if (pod != nullptr) return true;
        if (!std::exchange(waiting, true)) {
            ++workload->second.waiting;
            wanted_();
        }
        return false;
    };
    pods_.changed.wait_until(lock, deadline, is_decided);
    auto const workload = pods_.workloads.find(key);
    if (waiting && workload != pods_.workloads.end() && workload->second.waiting > 0) --workload->second.waiting;
    if (pod == nullptr) return std::nullopt;
    ++pod->in_flight;
    pod->last_request = std::chrono::steady_clock::now();
    auto const timeout = integer_of(member(pod->pod_template, "spec", "timeoutSeconds"), kDefaultTimeout);
    return Seat{pod, host_port(*pod, serving_port(pod->pod_template)), std::chrono::seconds{timeout}};
}

std::shared_ptr<Pod> Proxy::pod_with_room(WorkloadKey const& key, Workload const& workload) const {
    std::shared_ptr<Pod> best;
    for (auto const& pod : pods_.pods) {
        if (pod->workload != key || !pod->ready || !is_current(*pod, workload)) continue;
        auto const concurrency = integer_of(member(pod->pod_template, "spec", "containerConcurrency"), 0);
        bool const has_room = concurrency == 0 || pod->in_flight < concurrency;
        if (has_room && (best == nullptr || pod->in_flight < best->in_flight)) best = pod;
    }
    return best;
}

void Proxy::leave(Seat const& seat) {
    std::lock_guard const lock{pods_.mutex};
    --seat.pod->in_flight;
    seat.pod->last_request = std::chrono::steady_clock::now();
    pods_.changed.notify_all();
}

// --- connections to processes -----------------------------------------------------------------------------------------

HttpStream Proxy::connection_to(std::uint16_t port) {
    std::unique_lock lock{mutex_};
    auto& kept = kept_[port];
    while (!kept.empty()) {
        HttpStream connection = std::move(kept.back());
        kept.pop_back();
        if (!connection.is_stale()) return connection;
    }
    lock.unlock();
    return HttpStream::connect(port);
}

void Proxy::keep(std::uint16_t port, HttpStream connection) {
    std::lock_guard const lock{mutex_};
    auto& kept = kept_[port];
    if (kept.size() < kKeptConnections) kept.push_back(std::move(connection));
}

}  // namespace node
