#pragma once

#include "base/result.hpp"
#include "events/http_binding.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// What the sender of an event is told.
struct HttpAnswer {
    /// 200 to 299, 400 to 499 but 404, or 501 to 599. Anything else is sent as 503 (404: as 400): a source that gets 500 drops the
    /// event for good, and a trigger that gets 404 sends it again for ever.
    int status = 204;

    /// When the sender should try again, for an answer with status 503 or 429.
    /// Unit: whole seconds, at least 1; none means "you decide".
    /// Source: RFC 9110 section 10.2.3; Knative triggers honour it only where delivery.retryAfterMax is set.
    std::optional<std::chrono::seconds> retry_after;

    /// One line for whoever reads the answer; sent with anything but a 2xx, whose body stays empty (a broker takes it for an event).
    std::string reason;
};

/// Answers one event. Called from worker threads, several at once. Must not throw; if it does, the sender gets 503.
/// The message is as the client sent it, body without transfer coding and gzip; the headers keep order, spelling and repetitions.
using Handler = std::function<HttpAnswer(events::HttpMessage const&)>;

/// The functions behind a server's paths. All but `handle` are called on the thread in run() and must return at once.
struct Service {
    /// `POST /`.
    Handler handle;

    /// `GET /readyz`, unless the server drains: then it is not ready. None: always ready.
    std::function<bool()> ready = {};

    /// `GET /metrics`: Prometheus' text format. None: no such path.
    std::function<std::string()> metrics = {};

    /// Told of every answer that `handle` did not give and that is no success: what was refused, and in one line why.
    std::function<void(int status, std::string_view reason)> refused = {};
};

struct ServerOptions {
    /// Listened on at all addresses, IPv4 and IPv6. 0 picks a free one, see Server::port().
    std::uint16_t port = 8080;

    /// Where given, `/metrics` is there and not at `port`; events are at `port` only, health and readiness at both.
    std::optional<std::uint16_t> metrics_port = {};

    /// How many requests are handled at a time. Threads are started when they are first needed.
    std::size_t workers = 16;

    /// How many complete requests may wait for a worker; the next gets 429 and `Retry-After: 1`, and keeps its connection.
    std::size_t queue = 64;

    /// Connections at a time. Beyond that the one that has been idle longest is closed, then the slowest sender.
    std::size_t connections = 512;

    /// Bytes of a request's body, after chunks and gzip are undone; more is 413. The API server's objects have up to 1.5 MiB.
    std::size_t max_body = std::size_t{2} << 20U;

    /// Bytes of request line and headers together; more is 431.
    std::size_t max_header = std::size_t{64} << 10U;

    /// Bytes of all requests that are being received, wait or are handled; a request that would pass it gets 429.
    std::size_t max_held = std::size_t{48} << 20U;

    /// From a request's first byte until its last has arrived; later is 408.
    std::chrono::milliseconds request_timeout = std::chrono::seconds{20};

    /// How long a client may take to receive an answer.
    std::chrono::milliseconds answer_timeout = std::chrono::seconds{10};

    /// How long a connection stays open between two requests. More than the 90 s of Go's HTTP client, so that the client closes
    /// first and no event is sent into a connection that we are about to close.
    std::chrono::milliseconds idle_timeout = std::chrono::seconds{120};

    /// From drain() on, a server serves at least this long, because proxies still pass on requests for a moment.
    std::chrono::milliseconds drain_grace = std::chrono::milliseconds{400};

    /// After the grace, nothing must have been in flight for so long.
    std::chrono::milliseconds drain_quiet = std::chrono::milliseconds{100};

    /// After this long since drain() nothing is waited for any more.
    std::chrono::milliseconds drain_limit = std::chrono::seconds{30};
};

/// An HTTP/1.1 server for one Knative function: `POST /` for events, `GET /healthz`, `/readyz` and `/metrics`.
///
/// The thread in run() owns all sockets. It reads requests with the limits above, answers everything but events itself, and hands
/// complete events to the workers; so neither an idle connection nor a slow sender takes a worker, and probes are answered while
/// all workers are busy. What HTTP itself asks for is in http_framing.hpp and http_service.hpp.
class Server {
  public:
    /// Binds and listens; connections wait until run(). The error is one line and names the port.
    static base::Result<std::unique_ptr<Server>, std::string> listen(ServerOptions options, Service service);

    /// Waits for handlers that are still running.
    ~Server();
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;

    /// The ports that are listened on; `metrics_port` is none where the options name none.
    std::uint16_t port() const;
    std::optional<std::uint16_t> metrics_port() const;

    enum class Ended {
        Drained,   ///< every request that was begun has been answered
        TimeIsUp,  ///< drain_limit was over first: handlers may still be running, and ~Server() waits for them
    };

    /// Serves until a drain has ended. Call it once.
    Ended run();

    /// Begins the end: not ready from now on, idle connections are closed, every answer closes its connection. Requests and new
    /// connections are served until grace, quiet or limit (see ServerOptions) let run() return.
    /// May be called from any thread, from a signal handler, before run(), and more than once.
    void drain() noexcept;

  private:
    class Loop;
    explicit Server(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace kro
