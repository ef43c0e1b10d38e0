#pragma once

#include "events/http_binding.hpp"
#include "function/server/http_framing.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// What the sender of an event is told.
struct HttpAnswer {
    /// 200 to 299, 400 to 499 but 404, or 501 to 599. Anything else is sent as 503 (404 as 400): a source drops an event for
    /// good after a 500, and a trigger sends it again and again after a 404.
    int status = 204;

    /// When the sender should try again, for an answer with status 503 or 429.
    /// Unit: whole seconds, at least 1; none means "you decide".
    /// Source: RFC 9110 section 10.2.3; Knative triggers honour it only where delivery.retryAfterMax is set.
    std::optional<std::chrono::seconds> retry_after = {};

    /// One line for whoever reads the answer. Not sent with a 2xx, whose body stays empty: a broker takes it for an event.
    std::string reason = {};
};

/// Answers one event. Called from worker threads, several at once. Must not throw; if it does, the sender gets 503.
/// The message is as the client sent it, body without transfer coding and gzip; the headers keep order, spelling and repetitions.
using Handler = std::function<HttpAnswer(events::HttpMessage const&)>;

/// The functions behind the paths. All but `handle` are called on the thread that reads the sockets and must return at once.
struct Service {
    /// `POST /`.
    Handler handle;

    /// `GET /readyz`. None: always ready.
    std::function<bool()> ready = {};

    /// `GET /metrics`: Prometheus' text format. None: no such path.
    std::function<std::string()> metrics = {};

    /// Told of every answer other than a success that `handle` did not give: its status, and in one line why.
    std::function<void(int status, std::string_view reason)> refused = {};
};

/// An answer as it goes to the client.
struct WrittenAnswer {
    std::string bytes = {};
    int status = 0;
    bool close = false;        ///< the answer says `Connection: close`
    std::string refused = {};  ///< why, where the answer is no success and not the handler's
};

/// From one whole request to the bytes of its answer, by cpp-httplib's routing and writing; no socket. No CloudEvent is ever
/// answered 404 or 500, no answer has a `ce-` header, and a 2xx to an event has no body.
/// cpp-httplib sees method and path only. Fields and body come from our own framing: httplib 0.11 decodes percent signs in
/// values, which CloudEvents does itself, stops at 8 KiB per line and per form, and undoes compression without a limit.
/// Not for several threads at once.
class HttpService {
  public:
    /// `draining` may turn true at any time, also while a request is handled: the answer then closes its connection.
    HttpService(Service service, std::size_t max_body, std::function<bool()> draining);
    ~HttpService();
    HttpService(HttpService&&) noexcept;
    HttpService& operator=(HttpService&&) noexcept;

    /// Whether answer() would call `handle`, and so may take its time.
    bool is_event(HttpRequest const& request) const;

    WrittenAnswer answer(HttpRequest request);

    enum class Connection { Keep, Close };
    WrittenAnswer refuse(Refusal refusal, Connection connection);

  private:
    class Router;
    std::unique_ptr<Router> router_;
};

}  // namespace kro
