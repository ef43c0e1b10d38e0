#include "function/server/server.hpp"

#include "function/server/connection.hpp"
#include "function/server/listener.hpp"
#include "function/server/worker_pool.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kro {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;
using State = Connection::State;

constexpr std::size_t kReceiveSize = std::size_t{32} << 10U;
constexpr std::size_t kDiscardLimit = std::size_t{256} << 10U;
constexpr auto kLeaveTime = 1s;
constexpr auto kAcceptPause = 100ms;
constexpr int kAcceptsInARow = 64;

/// What epoll says is ready: the wake-up, a listener, or the connection with this id.
constexpr std::uint64_t kWake = 0;
constexpr std::uint64_t kFirstListener = 1;
constexpr std::uint64_t kFirstConnection = 16;

struct Finished {
    std::uint64_t connection;
    WrittenAnswer answer;
};

std::size_t size_of(HttpRequest const& request) {
    std::size_t size = request.message.body.capacity();
    for (auto const& [name, value] : request.message.headers) size += name.size() + value.size();
    return size;
}

/// A port that is listened on, and what is answered there.
struct Door {
    Descriptor listener;
    std::unique_ptr<HttpService> service;
};

}  // namespace

class Server::Loop {
  public:
    Loop(ServerOptions options, Service service);

    base::Result<void, std::string> open();
    std::uint16_t port(std::size_t door) const { return port_of(doors_.at(door).listener); }
    bool has_metrics_door() const { return doors_.size() > 1; }
    Ended run();
    void drain() noexcept;

  private:
    // Doors and waiting.
    base::Result<void, std::string> open_door(std::uint16_t port, Service service);
    HttpService service_for(Service service);
    int time_to_wait() const;
    void wait();
    void on_event(epoll_event const& event);
    void accept_from(std::uint64_t door);
    void admit(Descriptor socket, HttpService& service);
    bool make_room();
    void watch_listeners(std::uint32_t events);

    // One connection.
    template <class Function>
    void guarded(Connection& connection, Function function);
    void on_ready(Connection& connection);
    void read_from(Connection& connection);
    void discard_from(Connection& connection);
    void advance(Connection& connection, std::string_view bytes);
    bool act_on_request(Connection& connection);
    bool begin(Connection& connection, HttpRequest request);
    bool hand_over(Connection& connection, HttpRequest request);
    bool answer(Connection& connection, WrittenAnswer written);
    bool refuse(Connection& connection, Refusal const& refusal);
    bool flush(Connection& connection);
    void send_continue(Connection& connection);
    void count(Connection& connection);
    void enter(Connection& connection, State state);
    void set_deadline(Connection& connection, std::optional<Moment> deadline);
    void watch(Connection& connection, std::uint32_t events);
    void leave(Connection& connection);
    void close(Connection& connection);

    // All of them.
    void finish(Finished finished);
    void take_finished();
    void on_finished(Connection& connection, WrittenAnswer written);
    void expire();
    void on_deadline(Connection& connection);
    void look_at_drain();
    void begin_drain();
    void say_goodbye();
    void forget_closed();

    ServerOptions const options_;
    Service const service_;
    Descriptor epoll_;
    Descriptor wake_;
    std::vector<Door> doors_;
    std::vector<char> buffer_;

    std::unordered_map<std::uint64_t, Connection> connections_;
    std::vector<std::uint64_t> closed_;  ///< to be forgotten when nothing refers to them any more
    std::set<std::pair<Moment, std::uint64_t>> deadlines_;
    std::uint64_t next_id_ = kFirstConnection;
    std::size_t busy_ = 0;  ///< connections that are busy
    std::size_t held_ = 0;  ///< bytes counted for all connections
    Moment now_ = std::chrono::steady_clock::now();
    std::optional<Moment> accept_again_ = {};

    std::atomic<bool> drain_asked_ = false;
    static_assert(std::atomic<bool>::is_always_lock_free, "drain() is called by signal handlers");
    std::optional<Moment> drain_began_ = {};
    Moment last_busy_ = {};
    std::optional<Ended> ended_ = {};

    std::mutex finished_mutex_;
    std::vector<Finished> finished_;
    WorkerPool workers_;  // last: its threads use what is above
};

Server::Loop::Loop(ServerOptions options, Service service)
    : options_(std::move(options)),
      service_(std::move(service)),
      buffer_(kReceiveSize),
      workers_(options_.workers, options_.queue, [this] { return service_for(service_); }) {}

HttpService Server::Loop::service_for(Service service) {
    return HttpService{std::move(service), options_.max_body, [this] { return drain_asked_.load(); }};
}

base::Result<void, std::string> Server::Loop::open() {
    epoll_ = Descriptor{::epoll_create1(EPOLL_CLOEXEC)};
    wake_ = Descriptor{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = kWake}};
    if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
        return base::Failure{"cannot wait for connections: " + std::generic_category().message(errno)};
    }
    auto events = service_;
    if (options_.metrics_port) events.metrics = nullptr;
    if (auto opened = open_door(options_.port, std::move(events)); !opened || !options_.metrics_port) return opened;
    auto metrics = service_;
    metrics.handle = nullptr;
    return open_door(*options_.metrics_port, std::move(metrics));
}

base::Result<void, std::string> Server::Loop::open_door(std::uint16_t port, Service service) {
    auto listener = listen_at(port);
    if (!listener) return base::Failure{std::move(listener).error()};
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = kFirstListener + doors_.size()}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener->get(), &event) != 0) {
        return base::Failure{"cannot wait for connections: " + std::generic_category().message(errno)};
    }
    doors_.push_back({std::move(listener).value(), std::make_unique<HttpService>(service_for(std::move(service)))});
    return {};
}

void Server::Loop::drain() noexcept {
    int const error = errno;
    drain_asked_ = true;
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(wake_.get(), &one, sizeof one);
    errno = error;
}

Server::Ended Server::Loop::run() {
    look_at_drain();
    while (!ended_) {
        wait();
        take_finished();
        expire();
        look_at_drain();
        forget_closed();
    }
    for (auto& door : doors_) door.listener.reset();
    say_goodbye();
    return *ended_;
}

int Server::Loop::time_to_wait() const {
    auto next = deadlines_.empty() ? now_ + 1h : deadlines_.begin()->first;
    if (accept_again_) next = std::min(next, *accept_again_);
    if (drain_began_) {
        auto const limit = *drain_began_ + options_.drain_limit;
        auto const quiet = std::max(*drain_began_ + options_.drain_grace, last_busy_ + options_.drain_quiet);
        next = std::min({next, limit, busy_ == 0 ? quiet : limit});
    }
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(0, left.count()));
}

void Server::Loop::wait() {
    std::array<epoll_event, 64> events;
    int const number = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), time_to_wait());
    now_ = std::chrono::steady_clock::now();
    for (int i = 0; i < number; ++i) on_event(events.at(static_cast<std::size_t>(i)));
    if (accept_again_ && now_ >= *accept_again_) {
        accept_again_.reset();
        watch_listeners(EPOLLIN);
    }
}

void Server::Loop::on_event(epoll_event const& event) {
    auto const id = event.data.u64;
    if (id == kWake) {
        std::uint64_t number = 0;
        [[maybe_unused]] auto const size = ::read(wake_.get(), &number, sizeof number);
        return;
    }
    if (id < kFirstConnection) return accept_from(id - kFirstListener);
    auto const found = connections_.find(id);
    if (found != connections_.end()) guarded(found->second, [&] { on_ready(found->second); });
}

void Server::Loop::accept_from(std::uint64_t door) {
    for (int i = 0; i < kAcceptsInARow; ++i) {
        auto socket = Descriptor{::accept4(doors_[door].listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (socket) {
            admit(std::move(socket), *doors_[door].service);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return;
        bool const is_out_of_something = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (is_out_of_something && !make_room()) {
            accept_again_ = now_ + kAcceptPause;
            return watch_listeners(0);
        }
    }
}

void Server::Loop::watch_listeners(std::uint32_t events) {
    for (std::size_t door = 0; door < doors_.size(); ++door) {
        epoll_event event = {.events = events, .data = {.u64 = kFirstListener + door}};
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, doors_[door].listener.get(), &event);
    }
}

void Server::Loop::admit(Descriptor socket, HttpService& service) {
    if (connections_.size() - closed_.size() >= options_.connections && !make_room()) return;
    int const on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto const id = next_id_++;
    auto reader = RequestReader{{.header = options_.max_header, .body = options_.max_body}};
    auto& connection = connections_.emplace(id, Connection{id, std::move(socket), &service, std::move(reader)}).first->second;
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = id}};
    connection.watched = event.events;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.socket.get(), &event) != 0) return close(connection);
    set_deadline(connection, now_ + options_.idle_timeout);
    last_busy_ = now_;  // its request is on the way
}

/// Closes the connection that does least: idle for longest, or else the slowest sender or receiver. None that a worker has.
bool Server::Loop::make_room() {
    auto const connection_of = [this](auto const& deadline) -> Connection& { return connections_.at(deadline.second); };
    auto const idle = std::find_if(deadlines_.begin(), deadlines_.end(), [&](auto const& deadline) {
        auto const state = connection_of(deadline).state;
        return state == State::Idle || state == State::Leaving;
    });
    auto const victim = idle != deadlines_.end() ? idle : deadlines_.begin();
    if (victim == deadlines_.end()) return false;
    close(connection_of(*victim));
    return true;
}

void Server::Loop::on_ready(Connection& connection) {
    switch (connection.state) {
        case State::Idle:
        case State::Reading: return read_from(connection);
        case State::Answering:
            if (flush(connection)) advance(connection, std::exchange(connection.unread, {}));
            return;
        case State::Leaving: return discard_from(connection);
        case State::Working:  // epoll tells of a reset even when not asked, and again and again
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
            return;
        case State::Closed: return;
    }
}

/// Does something for one connection. What goes wrong with it, memory included, does not end the others.
template <class Function>
void Server::Loop::guarded(Connection& connection, Function function) {
    try {
        function();
    } catch (...) {
        close(connection);
    }
}

void Server::Loop::read_from(Connection& connection) {
    std::size_t size = 0;
    switch (receive(connection, buffer_, size)) {
        case Transfer::Some: return advance(connection, {buffer_.data(), size});
        case Transfer::Later: return;
        case Transfer::Broken: return close(connection);
        case Transfer::Ended:
            if (connection.state == State::Idle) return close(connection);
            refuse(connection, {400, "the request ended early"});
            return;
    }
}

/// What a client still sends when it has been told to stop is thrown away, up to a limit.
void Server::Loop::discard_from(Connection& connection) {
    std::size_t size = 0;
    auto const transfer = receive(connection, buffer_, size);
    connection.discarded += size;
    if (transfer == Transfer::Later || (transfer == Transfer::Some && connection.discarded < kDiscardLimit)) return;
    close(connection);
}

/// Reads requests from `bytes` until one has to wait: for more bytes, for a worker or for the client to take its answer.
void Server::Loop::advance(Connection& connection, std::string_view bytes) {
    do {
        bytes.remove_prefix(connection.reader.read(bytes));
    } while (act_on_request(connection));
    if (connection.state == State::Working || connection.state == State::Answering) connection.unread = bytes;
    count(connection);
    if (connection.state == State::Reading && held_ > options_.max_held) {
        refuse(connection, {429, "too many large requests at a time"});
    }
}

/// Whether the next request may be read.
bool Server::Loop::act_on_request(Connection& connection) {
    switch (connection.reader.state()) {
        case RequestReader::State::Empty:
            if (connection.state != State::Idle) enter(connection, State::Idle);
            return false;
        case RequestReader::State::Begun:
            if (connection.state != State::Reading) enter(connection, State::Reading);
            if (connection.reader.take_expectation()) send_continue(connection);
            return false;
        case RequestReader::State::Refused: return refuse(connection, connection.reader.refusal());
        case RequestReader::State::Complete: return begin(connection, connection.reader.take());
    }
    return false;
}

bool Server::Loop::begin(Connection& connection, HttpRequest request) {
    if (connection.service->is_event(request)) return hand_over(connection, std::move(request));
    return answer(connection, connection.service->answer(std::move(request)));
}

bool Server::Loop::hand_over(Connection& connection, HttpRequest request) {
    auto const size = size_of(request);
    bool const closes = request.wants_close;
    auto job = [this, id = connection.id, whole = std::move(request)](HttpService& service) mutable {
        finish({id, service.answer(std::move(whole))});
    };
    if (!workers_.offer(std::move(job))) {
        using Then = HttpService::Connection;
        return answer(connection, connection.service->refuse({429, "all workers are busy"}, closes ? Then::Close : Then::Keep));
    }
    connection.handed_over = size;
    enter(connection, State::Working);
    return false;
}

bool Server::Loop::refuse(Connection& connection, Refusal const& refusal) {
    return answer(connection, connection.service->refuse(refusal, HttpService::Connection::Close));
}

bool Server::Loop::answer(Connection& connection, WrittenAnswer written) {
    connection.output = std::move(written.bytes);
    connection.close_after_answer = written.close;
    connection.has_served = true;
    enter(connection, State::Answering);
    if (!written.refused.empty() && service_.refused) service_.refused(written.status, written.refused);
    return flush(connection);
}

/// Whether the answer is sent and the connection goes on.
bool Server::Loop::flush(Connection& connection) {
    switch (send_output(connection)) {
        case Transfer::Some:
            if (!connection.close_after_answer) return true;
            leave(connection);
            return false;
        case Transfer::Later: watch(connection, EPOLLOUT); return false;
        case Transfer::Ended:
        case Transfer::Broken: close(connection); return false;
    }
    return false;
}

/// RFC 9110 section 10.1.1. Nothing else is on its way to this client, so that these few bytes find room.
void Server::Loop::send_continue(Connection& connection) {
    connection.output = "HTTP/1.1 100 Continue\r\n\r\n";
    if (send_output(connection) != Transfer::Some) close(connection);
}

void Server::Loop::count(Connection& connection) {
    auto const before = connection.counted;
    bool const is_open = connection.state != State::Closed;
    connection.counted = is_open ? connection.reader.held() + connection.unread.size() + connection.handed_over : 0;
    held_ += connection.counted - before;
}

void Server::Loop::enter(Connection& connection, State state) {
    bool const was_busy = connection.is_busy();
    connection.state = state;
    busy_ += static_cast<std::size_t>(connection.is_busy()) - static_cast<std::size_t>(was_busy);
    switch (state) {
        case State::Idle: watch(connection, EPOLLIN); return set_deadline(connection, now_ + options_.idle_timeout);
        case State::Reading: watch(connection, EPOLLIN); return set_deadline(connection, now_ + options_.request_timeout);
        case State::Working: watch(connection, 0); return set_deadline(connection, std::nullopt);
        case State::Answering: return set_deadline(connection, now_ + options_.answer_timeout);
        case State::Leaving: watch(connection, EPOLLIN); return set_deadline(connection, now_ + kLeaveTime);
        case State::Closed: return set_deadline(connection, std::nullopt);
    }
}

void Server::Loop::set_deadline(Connection& connection, std::optional<Moment> deadline) {
    if (connection.deadline) deadlines_.erase({*connection.deadline, connection.id});
    connection.deadline = deadline;
    if (deadline) deadlines_.emplace(*deadline, connection.id);
}

void Server::Loop::watch(Connection& connection, std::uint32_t events) {
    if (connection.watched == events) return;
    connection.watched = events;
    epoll_event event = {.events = events, .data = {.u64 = connection.id}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void Server::Loop::leave(Connection& connection) {
    ::shutdown(connection.socket.get(), SHUT_WR);
    connection.reader = RequestReader{{}};
    connection.unread = {};
    enter(connection, State::Leaving);
    count(connection);
}

void Server::Loop::close(Connection& connection) {
    if (connection.state == State::Closed) return;
    enter(connection, State::Closed);
    connection.socket.reset();
    count(connection);
    closed_.push_back(connection.id);
}

void Server::Loop::forget_closed() {
    for (auto const id : closed_) connections_.erase(id);
    closed_.clear();
}

/// Called by workers.
void Server::Loop::finish(Finished finished) {
    {
        std::lock_guard const lock{finished_mutex_};
        finished_.push_back(std::move(finished));
    }
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(wake_.get(), &one, sizeof one);
}

void Server::Loop::take_finished() {
    std::vector<Finished> finished;
    {
        std::lock_guard const lock{finished_mutex_};
        finished.swap(finished_);
    }
    for (auto& [id, written] : finished) {
        auto const found = connections_.find(id);
        if (found == connections_.end() || found->second.state != State::Working) continue;
        guarded(found->second, [&, &reply = written] { on_finished(found->second, std::move(reply)); });
    }
}

void Server::Loop::on_finished(Connection& connection, WrittenAnswer written) {
    connection.handed_over = 0;
    if (answer(connection, std::move(written))) advance(connection, std::exchange(connection.unread, {}));
    count(connection);
}

void Server::Loop::expire() {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
        auto& connection = connections_.at(deadlines_.begin()->second);
        guarded(connection, [&] { on_deadline(connection); });
    }
}

void Server::Loop::on_deadline(Connection& connection) {
    if (connection.state == State::Reading) {
        refuse(connection, {408, "the request took too long to arrive"});
        return;
    }
    // A client can't know that its time is over: a request that is there already is still answered.
    if (connection.state == State::Idle) {
        read_from(connection);
        if (connection.state != State::Idle) return;
    }
    close(connection);
}

void Server::Loop::look_at_drain() {
    if (!drain_asked_) return;
    if (!drain_began_) begin_drain();
    if (busy_ > 0) last_busy_ = now_;
    bool const is_quiet = busy_ == 0 && now_ >= last_busy_ + options_.drain_quiet;
    if (is_quiet && now_ >= *drain_began_ + options_.drain_grace)
        ended_ = Ended::Drained;
    else if (now_ >= *drain_began_ + options_.drain_limit)
        ended_ = busy_ == 0 ? Ended::Drained : Ended::TimeIsUp;
}

/// Lets expire() close what is idle. A connection that has not been used yet is left alone: its first request is on the way.
void Server::Loop::begin_drain() {
    now_ = std::chrono::steady_clock::now();
    drain_began_ = now_;
    last_busy_ = now_;
    for (auto& [id, connection] : connections_) {
        if (connection.state != State::Idle || !connection.has_served) continue;
        auto const last_answer = *connection.deadline - options_.idle_timeout;
        set_deadline(connection, last_answer + options_.drain_idle);
    }
    expire();
}

/// To those who are still waiting when the time is up: their events were not answered, so they may send them again.
void Server::Loop::say_goodbye() {
    workers_.drop_waiting();
    for (auto& [id, connection] : connections_) {
        if (connection.state != State::Working) continue;
        guarded(connection, [&, &waiting = connection] { refuse(waiting, {503, "shutting down"}); });
    }
    connections_.clear();
}

base::Result<std::unique_ptr<Server>, std::string> Server::listen(ServerOptions options, Service service) {
    auto loop = std::make_unique<Loop>(std::move(options), std::move(service));
    if (auto opened = loop->open(); !opened) return base::Failure{std::move(opened).error()};
    return std::unique_ptr<Server>{new Server{std::move(loop)}};
}

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;

std::uint16_t Server::port() const { return loop_->port(0); }

std::optional<std::uint16_t> Server::metrics_port() const {
    return loop_->has_metrics_door() ? std::optional{loop_->port(1)} : std::nullopt;
}

Server::Ended Server::run() { return loop_->run(); }

void Server::drain() noexcept { loop_->drain(); }

}  // namespace kro
