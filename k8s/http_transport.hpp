#pragma once

#include "base/clock.hpp"
#include "k8s/http_message.hpp"
#include "k8s/kubeconfig.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace k8s {

/// How HttpApi behaves.
struct HttpOptions {
    std::string user_agent = "kro-function";
    std::chrono::milliseconds connect_timeout{3'000};  ///< name, TCP, proxy and TLS together
    std::chrono::milliseconds call_timeout{
        15'000};  ///< one request, from the moment it is started; the batch's deadline may come first
    std::size_t answer_limit = 64 * 1024 * 1024;  ///< bytes of one answer's body, after decompression
    std::size_t parallel = 100;                   ///< requests under way at once on an HTTP/2 connection; on HTTP/1.1 at most 8
    base::Clock clock = base::system_clock();     ///< for a Retry-After that is a date
};

/// One HTTP request and what became of it.
struct HttpExchange {
    enum class Outcome {
        Answered,   ///< a whole answer with a status
        NoAnswer,   ///< the connection broke, or ended without a status
        TimedOut,   ///< not answered before the deadline or the call's own timeout
        Unreached,  ///< no connection was made, so nothing was sent
        Unusable,   ///< our own certificates can't be used; nothing was sent
        Senseless,  ///< no HTTP, or an answer that is too large
    };

    HttpMessage message;
    std::shared_ptr<Credentials const> credentials;
    bool fresh_connection = false;

    Outcome outcome = Outcome::TimedOut;
    int status = 0;
    std::string body;
    std::string retry_after;  ///< the header's value
    std::string why;          ///< for every outcome but Answered, in words
    bool sent = false;        ///< the server may have seen all of the request
    std::chrono::microseconds duration{0};
};

/// Carries HTTP exchanges to one cluster, over one HTTP/2 connection where the server offers it, and keeps connections warm. The
/// only place that knows libcurl.
///
/// Threads: several may be in `perform` at once and share the connections. The first of them drives the transfers of all, the
/// others sleep; when its own are done it hands over. There is no thread in the background, and nothing runs while nobody waits.
/// A watch, which has no end, should get a Transport of its own, so that it does not keep a thread driving for everybody else.
///
/// The first Transport initialises libcurl for the process and makes it ignore SIGPIPE, unless it has a handler already: TLS
/// writes to a closed socket. No transfer uses signals, the environment's proxies, redirects, cookies or .netrc.
class HttpTransport {
  public:
    HttpTransport(ClusterAccess const& access, HttpOptions const& options);
    ~HttpTransport();
    HttpTransport(HttpTransport const&) = delete;
    HttpTransport& operator=(HttpTransport const&) = delete;

    /// Fills in what became of each exchange. Returns when all are decided, at the deadline at the latest.
    void perform(std::span<HttpExchange* const> exchanges, base::Deadline deadline);

    /// Whether the server has answered over HTTP/2 so far.
    bool is_multiplexed() const;

  private:
    class Driver;
    ClusterAccess access_;
    HttpOptions options_;
    std::once_flag made_;
    std::unique_ptr<Driver> driver_;  ///< made by the first perform()
};

/// Loads libcurl, which the first perform() would otherwise wait for: to be called on a thread of its own while a program starts.
void load_transport();

}  // namespace k8s
