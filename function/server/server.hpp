#pragma once

#include "base/result.hpp"
#include "function/server/http_service.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kro {

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

    /// When a drain begins, a connection is idle if its last answer is older than this; one that is used more often than that is
    /// left open for its next request, whose answer then closes it.
    std::chrono::milliseconds drain_idle = std::chrono::milliseconds{250};

    /// From drain() on, a server serves at least this long, because proxies still pass on requests for a moment.
    std::chrono::milliseconds drain_grace = std::chrono::milliseconds{400};

    /// After the grace, run() returns when nothing has been in flight for so long. Short, so that a client which keeps coming
    /// back leaves a gap that is long enough.
    std::chrono::milliseconds drain_quiet = std::chrono::milliseconds{50};

    /// After this long since drain() nothing is waited for any more.
    std::chrono::milliseconds drain_limit = std::chrono::seconds{30};
};

/// An HTTP/1.1 server for one Knative function: `POST /` for events, `GET /healthz`, `/readyz` and `/metrics`.
///
/// The thread in run() owns all sockets. It reads requests with the limits above, answers everything but events itself, and hands
/// complete events to the workers; so neither an idle connection nor a slow sender takes a worker, and probes are answered while
/// all workers are busy. Where a request ends is decided in http_framing.hpp,
/// what is answered in http_service.hpp.
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
