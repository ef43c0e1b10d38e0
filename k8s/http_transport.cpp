#include "k8s/http_transport.hpp"

#include "k8s/http_curl.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

namespace k8s {
namespace {

using Outcome = HttpExchange::Outcome;
using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

/// How many requests may be under way at once before the server has shown that it speaks HTTP/2.
constexpr std::size_t kParallelOnHttp1 = 8;
/// Handles that wait for the next request, as many as the widest round of an event needs: each keeps buffers of some 40 KiB.
constexpr std::size_t kIdleHandles = 6;
/// An API server closes a connection that was idle for 90 s (net/http2's IdleTimeout there); rather be the first.
constexpr long kIdleConnectionSeconds = 80;
/// When the kernel gives up a connection whose peer has stopped to acknowledge: a request on it fails then, and goes over a new
/// one.
constexpr int kUnacknowledgedMilliseconds = 10'000;
constexpr long kKeepaliveIdleSeconds = 30;
constexpr long kKeepaliveEverySeconds = 10;
/// How long libcurl is left alone with transfers. It may have taken what belongs to one of a connection's streams off the socket while it was
/// looking at another, and not know it: libcurl 7.88 then waits for something else to happen on that connection, though the answer is there.
constexpr milliseconds kLongestPoll{20};
/// So that libcurl's own, more precise words about a connect timeout come before ours.
constexpr milliseconds kAfterConnectTimeout{50};

void initialise_process() {
    static std::once_flag once;
    std::call_once(once, [] {
        curl().global_init(CURL_GLOBAL_DEFAULT);
        struct sigaction current {};
        if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
    });
}

/// Options that this libcurl may lack (another TLS library, built without a protocol) only make it less than ideal.
template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
    static_cast<void>(curl().easy_setopt(easy, option, value));
}

/// Not copied: the text must stay where it is as long as the handle uses it.
void set_blob(CURL* easy, CURLoption option, std::string const& text) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
    set(easy, option, text.empty() ? nullptr : &blob);
}

void append(curl_slist*& list, std::string const& line) { list = curl().slist_append(list, line.c_str()); }

curl_off_t time_of(CURL* easy, CURLINFO info) {
    curl_off_t value = 0;
    curl().easy_getinfo(easy, info, &value);
    return value;
}

/// Requests whose answers one caller of `perform` waits for.
struct Batch {
    std::size_t open = 0;
    std::condition_variable wake;
};

/// A libcurl handle and the exchange that it carries at the moment. Handles are used again: most options never change.
struct Transfer {
    CURL* easy = curl().easy_init();
    curl_slist* headers = nullptr;
    std::array<char, CURL_ERROR_SIZE> error{};
    std::shared_ptr<Credentials const> credentials;

    HttpExchange* exchange = nullptr;
    Batch* batch = nullptr;
    SteadyTime started;
    SteadyTime connect_by;
    SteadyTime done_by;
    bool connected = false;
    bool too_large = false;
    std::size_t given = 0;  ///< bytes of the body that libcurl has taken
    std::size_t answer_limit = 0;

    Transfer() = default;
    Transfer(Transfer const&) = delete;
    Transfer& operator=(Transfer const&) = delete;
    ~Transfer() {
        curl().easy_cleanup(easy);
        curl().slist_free_all(headers);
    }

    /// Whether the request had a connection, be it that the connection is lost again.
    bool check_connected() {
        connected = connected || time_of(easy, CURLINFO_PRETRANSFER_TIME_T) > 0;
        return connected;
    }
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    if (transfer.exchange->body.size() + size > transfer.answer_limit) {
        transfer.too_large = true;
        return 0;
    }
    transfer.exchange->body.append(data, size);
    return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
    constexpr std::string_view kRetryAfter = "retry-after:";
    auto& exchange = *static_cast<Transfer*>(user)->exchange;
    std::string_view line{data, size};
    if (line.starts_with("HTTP/")) exchange.retry_after.clear();
    if (line.size() < kRetryAfter.size() || strncasecmp(line.data(), kRetryAfter.data(), kRetryAfter.size()) != 0) return size;
    line.remove_prefix(kRetryAfter.size());
    auto const from = line.find_first_not_of(" \t");
    auto const to = line.find_last_not_of(" \t\r\n");
    if (from != std::string_view::npos && to != std::string_view::npos && from <= to)
        exchange.retry_after = line.substr(from, to - from + 1);
    return size;
}

std::size_t give_body(char* into, std::size_t, std::size_t room, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    std::string const& body = transfer.exchange->message.body;
    std::size_t const count = std::min(room, body.size() - transfer.given);
    std::memcpy(into, body.data() + transfer.given, count);
    transfer.given += count;
    return count;
}

/// libcurl sends a request again by itself when a kept connection turns out to be dead, whatever the method. It has to ask here
/// first, and may do so only as long as no byte of a body has left.
int rewind_body(void* user, curl_off_t offset, int) {
    auto const& transfer = *static_cast<Transfer const*>(user);
    return transfer.given == 0 && offset == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

int on_socket(void*, curl_socket_t socket, curlsocktype) {
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMilliseconds, sizeof kUnacknowledgedMilliseconds);
    return CURL_SOCKOPT_OK;
}

Outcome outcome_of(CURLcode code, bool connected) {
    switch (code) {
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM: return Outcome::Unusable;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR: return Outcome::Unreached;
        case CURLE_WRITE_ERROR:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_BAD_CONTENT_ENCODING: return Outcome::Senseless;
        case CURLE_UNSUPPORTED_PROTOCOL: return connected ? Outcome::Senseless : Outcome::Unreached;
        case CURLE_OPERATION_TIMEDOUT: return connected ? Outcome::TimedOut : Outcome::Unreached;
        default: return connected ? Outcome::NoAnswer : Outcome::Unreached;
    }
}

std::string milliseconds_since(SteadyTime started, SteadyTime now) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(now - started).count()) + " ms";
}

}  // namespace

/// The transfers of all threads. Whoever has set `driven_` is alone with libcurl; the mutex guards everything else, and orders
/// what one driver did before what the next one does.
class HttpTransport::Driver {
  public:
    Driver(ClusterAccess const& access, HttpOptions const& options);
    ~Driver();
    Driver(Driver const&) = delete;
    Driver& operator=(Driver const&) = delete;

    void perform(std::span<HttpExchange* const> exchanges, base::Deadline deadline);
    bool is_multiplexed() const { return multiplexed_; }

  private:
    struct Waiting {
        HttpExchange* exchange;
        Batch* batch;
        base::Deadline deadline;
        SteadyTime since;
    };
    using Lock = std::unique_lock<std::mutex>;

    void drive(Batch& own, Lock& lock);
    void start_waiting(SteadyTime now);
    void start(Waiting const& waiting, SteadyTime now);
    void collect_finished(SteadyTime now);
    void stop_late(SteadyTime now);
    int poll_milliseconds(SteadyTime now) const;
    void finish(Transfer& transfer, Outcome outcome, std::string why, SteadyTime now);
    static void decide(HttpExchange& exchange, Batch& batch, Outcome outcome, std::string why);

    std::unique_ptr<Transfer> made_transfer();
    void load(Transfer& transfer) const;
    std::size_t room() const { return multiplexed_ ? options_.parallel : std::min(options_.parallel, kParallelOnHttp1); }

    HttpOptions const options_;
    ClusterAccess const access_;
    std::string url_;          ///< what every target is appended to
    std::string host_header_;  ///< where the URL names another host than the server's
    std::string proxy_;
    curl_slist* connect_to_ = nullptr;

    CURLM* multi_ = nullptr;
    CURLSH* share_ = nullptr;
    std::vector<std::unique_ptr<Transfer>> idle_;
    std::vector<std::unique_ptr<Transfer>> active_;
    std::atomic<bool> multiplexed_ = false;

    std::mutex mutex_;
    bool driven_ = false;
    std::deque<Waiting> waiting_;
    std::vector<Batch*> sleepers_;
};

HttpTransport::Driver::Driver(ClusterAccess const& access, HttpOptions const& options) : options_(options), access_(access) {
    initialise_process();
    url_ = to_string(access.server);
    if (access.server.scheme == ServerAddress::Scheme::Https && !access.tls_server_name.empty()) {
        // The URL's host is what the certificate is held against; the connection goes to the server all the same.
        ServerAddress named = access.server;
        named.host = access.tls_server_name;
        url_ = to_string(named);
        host_header_ = "Host: " + authority_of(access.server);
        append(connect_to_, authority_of(named) + ":" + authority_of(access.server));
    }
    // Go's clients let a SOCKS proxy look the name up; libcurl calls that socks5h.
    proxy_ = access.proxy_url.starts_with("socks5://") ? "socks5h" + access.proxy_url.substr(6) : access.proxy_url;

    share_ = curl().share_init();
    curl().share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    multi_ = curl().multi_init();
    curl().multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(kParallelOnHttp1));
}

HttpTransport::Driver::~Driver() {
    active_.clear();
    idle_.clear();
    curl().multi_cleanup(multi_);
    curl().share_cleanup(share_);
    curl().slist_free_all(connect_to_);
}

void HttpTransport::Driver::perform(std::span<HttpExchange* const> exchanges, base::Deadline deadline) {
    Batch batch;
    batch.open = exchanges.size();
    Lock lock{mutex_};
    auto const now = std::chrono::steady_clock::now();
    for (auto* exchange : exchanges) waiting_.push_back({exchange, &batch, deadline, now});
    if (driven_) curl().multi_wakeup(multi_);
    while (batch.open > 0) {
        if (!driven_) {
            drive(batch, lock);
            continue;
        }
        sleepers_.push_back(&batch);
        batch.wake.wait(lock);
        std::erase(sleepers_, &batch);
    }
    if (!driven_ && !sleepers_.empty()) sleepers_.front()->wake.notify_one();
}

void HttpTransport::Driver::drive(Batch& own, Lock& lock) {
    driven_ = true;
    while (own.open > 0) {
        start_waiting(std::chrono::steady_clock::now());
        lock.unlock();
        int running = 0;
        curl().multi_perform(multi_, &running);
        lock.lock();

        auto const now = std::chrono::steady_clock::now();
        std::size_t const before = active_.size();
        collect_finished(now);
        stop_late(now);
        if (own.open == 0) break;
        if (active_.size() < before && !waiting_.empty()) continue;

        int const patience = poll_milliseconds(now);
        lock.unlock();
        curl().multi_poll(multi_, nullptr, 0, patience, nullptr);
        lock.lock();
    }
    driven_ = false;
}

void HttpTransport::Driver::start_waiting(SteadyTime now) {
    while (!waiting_.empty() && active_.size() < room()) {
        Waiting const next = waiting_.front();
        waiting_.pop_front();
        start(next, now);
    }
}

void HttpTransport::Driver::start(Waiting const& waiting, SteadyTime now) {
    if (now >= waiting.deadline)
        return decide(*waiting.exchange, *waiting.batch, Outcome::TimedOut, "no time was left to send it");
    std::unique_ptr<Transfer> transfer;
    if (idle_.empty()) {
        transfer = made_transfer();
    } else {
        transfer = std::move(idle_.back());
        idle_.pop_back();
    }
    transfer->exchange = waiting.exchange;
    transfer->batch = waiting.batch;
    transfer->started = waiting.since;
    transfer->done_by = std::min(waiting.deadline, now + options_.call_timeout);
    transfer->connect_by = now + options_.connect_timeout + kAfterConnectTimeout;
    load(*transfer);
    curl().multi_add_handle(multi_, transfer->easy);
    active_.push_back(std::move(transfer));
}

void HttpTransport::Driver::collect_finished(SteadyTime now) {
    int left = 0;
    while (CURLMsg const* const message = curl().multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode const code = message->data.result;
        Transfer* transfer = nullptr;
        curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        bool const connected = transfer->check_connected();
        if (code == CURLE_OK) {
            long status = 0;
            long version = 0;
            curl().easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
            curl().easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
            transfer->exchange->status = static_cast<int>(status);
            if (status != 0) multiplexed_ = version == CURL_HTTP_VERSION_2_0;
            finish(*transfer, status == 0 ? Outcome::NoAnswer : Outcome::Answered, "the answer has no status", now);
        } else if (transfer->too_large) {
            finish(*transfer, Outcome::Senseless, "the answer is larger than " + std::to_string(options_.answer_limit) + " bytes",
                   now);
        } else {
            std::string const said = transfer->error[0] != '\0' ? transfer->error.data() : curl().easy_strerror(code);
            finish(*transfer, outcome_of(code, connected), said, now);
        }
    }
}

void HttpTransport::Driver::stop_late(SteadyTime now) {
    for (std::size_t i = 0; i < active_.size();) {
        Transfer& transfer = *active_[i];
        bool const late = now >= transfer.done_by;
        bool const unconnected = (late || now >= transfer.connect_by) && !transfer.check_connected();
        if (!late && !unconnected) {
            ++i;
            continue;
        }
        // If nobody else uses the connection it is not used again: it may be a dead one that no one has announced.
        set(transfer.easy, CURLOPT_FORBID_REUSE, 1L);
        std::string const waited = milliseconds_since(transfer.started, now);
        finish(transfer, unconnected ? Outcome::Unreached : Outcome::TimedOut,
               unconnected ? "no connection within " + waited : "no answer within " + waited, now);
    }
    std::erase_if(waiting_, [&](Waiting const& waiting) {
        if (now < waiting.deadline) return false;
        decide(*waiting.exchange, *waiting.batch, Outcome::TimedOut, "no time was left to send it");
        return true;
    });
}

int HttpTransport::Driver::poll_milliseconds(SteadyTime now) const {
    SteadyTime next = SteadyTime::max();
    for (auto const& transfer : active_) {
        next = std::min(next, transfer->connected ? transfer->done_by : std::min(transfer->done_by, transfer->connect_by));
    }
    for (auto const& waiting : waiting_) next = std::min(next, waiting.deadline);
    auto const longest = active_.empty() ? SteadyTime::duration{std::chrono::minutes{1}} : SteadyTime::duration{kLongestPoll};
    auto const patience = std::clamp(next - now, SteadyTime::duration{0}, longest);
    return static_cast<int>(std::chrono::ceil<milliseconds>(patience).count());
}

/// Takes the transfer out of libcurl, tells its batch, and keeps the handle for the next one.
void HttpTransport::Driver::finish(Transfer& transfer, Outcome outcome, std::string why, SteadyTime now) {
    curl().multi_remove_handle(multi_, transfer.easy);
    HttpExchange& exchange = *transfer.exchange;
    exchange.sent = exchange.message.body.empty() ? transfer.connected : transfer.given > 0;
    exchange.duration = std::chrono::duration_cast<std::chrono::microseconds>(now - transfer.started);
    decide(exchange, *transfer.batch, outcome, std::move(why));

    auto const found =
        std::find_if(active_.begin(), active_.end(), [&](auto const& active) { return active.get() == &transfer; });
    std::unique_ptr<Transfer> freed = std::move(*found);
    active_.erase(found);
    if (idle_.size() < kIdleHandles) idle_.push_back(std::move(freed));
}

void HttpTransport::Driver::decide(HttpExchange& exchange, Batch& batch, Outcome outcome, std::string why) {
    exchange.outcome = outcome;
    if (outcome != Outcome::Answered) exchange.why = std::move(why);
    if (--batch.open == 0) batch.wake.notify_one();
}

/// A handle with everything that is the same for all requests to this cluster.
std::unique_ptr<Transfer> HttpTransport::Driver::made_transfer() {
    auto transfer = std::make_unique<Transfer>();
    transfer->answer_limit = options_.answer_limit;
    CURL* const easy = transfer->easy;
    set(easy, CURLOPT_PRIVATE, transfer.get());
    set(easy, CURLOPT_ERRORBUFFER, transfer->error.data());
    set(easy, CURLOPT_SHARE, share_);
    set(easy, CURLOPT_NOSIGNAL, 1L);
    // Giving up on a name must not wait for the resolver's thread, which ends by itself.
    set(easy, CURLOPT_QUICK_EXIT, 1L);
    set(easy, CURLOPT_USERAGENT, options_.user_agent.c_str());
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_FOLLOWLOCATION, 0L);
    set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(easy, CURLOPT_PIPEWAIT, 1L);
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    set(easy, CURLOPT_MAXAGE_CONN, kIdleConnectionSeconds);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_TCP_KEEPIDLE, kKeepaliveIdleSeconds);
    set(easy, CURLOPT_TCP_KEEPINTVL, kKeepaliveEverySeconds);
    set(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    set(easy, CURLOPT_WRITEFUNCTION, on_body);
    set(easy, CURLOPT_WRITEDATA, transfer.get());
    set(easy, CURLOPT_HEADERFUNCTION, on_header);
    set(easy, CURLOPT_HEADERDATA, transfer.get());
    set(easy, CURLOPT_READFUNCTION, give_body);
    set(easy, CURLOPT_READDATA, transfer.get());
    set(easy, CURLOPT_SEEKFUNCTION, rewind_body);
    set(easy, CURLOPT_SEEKDATA, transfer.get());

    // An empty proxy switches the environment's off; an empty list of exceptions does the same for NO_PROXY.
    set(easy, CURLOPT_PROXY, proxy_.c_str());
    set(easy, CURLOPT_NOPROXY, proxy_.empty() ? "*" : "");
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
    set(easy, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));

    bool const verified = access_.verification == ClusterAccess::Verification::On;
    set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(easy, CURLOPT_SSL_VERIFYPEER, verified ? 1L : 0L);
    set(easy, CURLOPT_SSL_VERIFYHOST, verified ? 2L : 0L);
    set(easy, CURLOPT_KEYPASSWD, "");  // never ask a terminal
    if (connect_to_ != nullptr) set(easy, CURLOPT_CONNECT_TO, connect_to_);
    if (!access_.ca.empty()) {
        // The system's folder of CAs is compiled into libcurl, and would be trusted beside the blob.
        set(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
        set(easy, CURLOPT_CAINFO, static_cast<char*>(nullptr));
        set_blob(easy, CURLOPT_CAINFO_BLOB, access_.ca);
    }
    return transfer;
}

/// What differs from one request to the next.
void HttpTransport::Driver::load(Transfer& transfer) const {
    HttpExchange& exchange = *transfer.exchange;
    HttpMessage const& message = exchange.message;
    CURL* const easy = transfer.easy;
    transfer.connected = false;
    transfer.too_large = false;
    transfer.given = 0;
    transfer.error[0] = '\0';

    if (transfer.credentials != exchange.credentials) {
        transfer.credentials = exchange.credentials;
        set_blob(easy, CURLOPT_SSLCERT_BLOB, transfer.credentials->client_certificate);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, transfer.credentials->client_key);
    }

    curl_slist* headers = nullptr;
    append(headers, "Accept: " + std::string{message.accept});
    if (!message.content_type.empty()) append(headers, "Content-Type: " + std::string{message.content_type});
    if (auto const authorization = authorization_of(*transfer.credentials); !authorization.empty()) {
        append(headers, "Authorization: " + authorization);
    }
    for (auto const& [name, value] : message.headers) append(headers, name + ": " + value);
    append(headers, "Expect:");
    if (!host_header_.empty()) append(headers, host_header_);
    set(easy, CURLOPT_HTTPHEADER, headers);
    curl().slist_free_all(transfer.headers);
    transfer.headers = headers;

    set(easy, CURLOPT_URL, (url_ + message.target).c_str());
    if (message.method == "GET") {
        set(easy, CURLOPT_HTTPGET, 1L);
        set(easy, CURLOPT_CUSTOMREQUEST, static_cast<char*>(nullptr));
    } else {
        set(easy, CURLOPT_POST, 1L);
        set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.body.size()));
        set(easy, CURLOPT_CUSTOMREQUEST, std::string{message.method}.c_str());
    }
    set(easy, CURLOPT_ACCEPT_ENCODING, message.large_answer ? "gzip" : static_cast<char const*>(nullptr));
    set(easy, CURLOPT_FRESH_CONNECT, exchange.fresh_connection ? 1L : 0L);
    set(easy, CURLOPT_FORBID_REUSE, 0L);
}

HttpTransport::HttpTransport(ClusterAccess const& access, HttpOptions const& options) : access_(access), options_(options) {}

HttpTransport::~HttpTransport() = default;

void HttpTransport::perform(std::span<HttpExchange* const> exchanges, base::Deadline deadline) {
    std::call_once(made_, [&] { driver_ = std::make_unique<Driver>(access_, options_); });
    driver_->perform(exchanges, deadline);
}

bool HttpTransport::is_multiplexed() const { return driver_ && driver_->is_multiplexed(); }

void load_transport() { static_cast<void>(curl()); }

}  // namespace k8s
