#include "function/server/http_service.hpp"

#include "base/gzip.hpp"
#include "base/json.hpp"

#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace kro {
namespace {

constexpr auto kText = "text/plain; charset=utf-8";
constexpr auto kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::size_t kReasonLimit = 500;

/// What httplib would send last; for a fault in writing an answer, where no more can be done.
constexpr auto kFault = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A request in memory for httplib to read, and what it writes.
class MemoryStream : public httplib::Stream {
  public:
    explicit MemoryStream(std::string request) : request_(std::move(request)) {}

    bool is_readable() const override { return true; }
    bool is_writable() const override { return true; }
    ssize_t read(char* to, size_t size) override {
        auto const taken = request_.copy(to, size, read_);
        read_ += taken;
        return static_cast<ssize_t>(taken);
    }
    ssize_t write(char const* from, size_t size) override {
        written_.append(from, size);
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return INVALID_SOCKET; }

    std::string take_written() { return std::move(written_); }

  private:
    std::string request_;
    std::size_t read_ = 0;
    std::string written_;
};

std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    return base::cut_utf8(base::valid_utf8(text), kReasonLimit) + "\n";
}

/// Knative: after 500 a source drops the event, after 404 a trigger tries again what can never succeed.
int allowed(int status) {
    if (status == 404) return 400;
    bool const is_final = (status >= 200 && status < 300) || (status >= 400 && status < 600);
    return is_final && status != 500 ? status : 503;
}

/// Undoes the message's content coding (RFC 9110 section 8.4), or says why it can't.
std::optional<Refusal> undo_coding(events::HttpMessage& message, std::size_t max_body) {
    auto const is_coding = [](auto const& header) { return same_word(header.first, "content-encoding"); };
    auto const coding = std::find_if(message.headers.begin(), message.headers.end(), is_coding);
    if (coding == message.headers.end()) return std::nullopt;
    bool const is_only_one = std::none_of(coding + 1, message.headers.end(), is_coding);
    bool const is_gzip = same_word(coding->second, "gzip") || same_word(coding->second, "x-gzip");
    if (!is_only_one || !(is_gzip || same_word(coding->second, "identity"))) {
        return Refusal{415, "the only content coding is gzip"};
    }
    if (is_gzip) {
        auto plain = base::gunzip(message.body, max_body);
        if (!plain && plain.error() == base::GzipFault::TooLarge) {
            return Refusal{413, "the body unpacks to more than " + std::to_string(max_body) + " bytes"};
        }
        if (!plain) return Refusal{400, "the body is not gzip"};
        message.body = std::move(plain).value();
    }
    message.headers.erase(coding);
    return std::nullopt;
}

}  // namespace

/// The paths, and one call at a time: httplib's handlers find in `call_` what httplib itself is not shown.
class HttpService::Router : public httplib::Server {
  public:
    Router(Service service, std::size_t max_body, std::function<bool()> draining);

    bool has_events() const { return static_cast<bool>(service_.handle); }

    WrittenAnswer answer(HttpRequest request, std::optional<Refusal> refusal, Connection connection);

  private:
    using Request = httplib::Request;
    using Response = httplib::Response;

    struct Call {
        HttpRequest request;
        std::optional<Refusal> refusal;
        WrittenAnswer written;
    };

    HandlerResponse refuse_first(Response& response);
    void on_event(Response& response);
    void on_ready(Response& response);
    void explain(Response& response);
    void put_right(Response& response);
    void refuse(Refusal const& refusal, Response& response);
    bool knows_path() const;
    HttpAnswer handled(events::HttpMessage const& message);

    Service service_;
    std::size_t max_body_;
    std::function<bool()> draining_;
    Call call_ = {};
};

HttpService::Router::Router(Service service, std::size_t max_body, std::function<bool()> draining)
    : service_(std::move(service)), max_body_(max_body), draining_(std::move(draining)) {
    set_pre_routing_handler([this](Request const&, Response& response) { return refuse_first(response); });
    if (service_.handle) Post("/", [this](Request const&, Response& response) { on_event(response); });
    Get("/healthz", [](Request const&, Response& response) { response.set_content("ok\n", kText); });
    Get("/readyz", [this](Request const&, Response& response) { on_ready(response); });
    if (service_.metrics) {
        Get("/metrics",
            [this](Request const&, Response& response) { response.set_content(service_.metrics(), kPrometheusText); });
    }
    set_exception_handler([this](Request const&, Response& response, std::exception_ptr const&) {
        refuse({503, "the server met a fault of its own"}, response);
    });
    set_error_handler([this](Request const&, Response& response) { explain(response); });
    set_post_routing_handler([this](Request const&, Response& response) { put_right(response); });
}

WrittenAnswer HttpService::Router::answer(HttpRequest request, std::optional<Refusal> refusal, Connection connection) {
    try {
        MemoryStream stream{request.method + " " + request.path + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n"};
        bool const close = request.wants_close || connection == Connection::Close;
        call_ = {std::move(request), std::move(refusal), {.close = close}};
        auto const process = [&stream](auto& router) {
            bool closed = false;
            if constexpr (requires { router.process_request(stream, false, closed, nullptr); }) {
                router.process_request(stream, false, closed, nullptr);
            } else {  // newer ones also want the two addresses
                router.process_request(stream, "", 0, "", 0, false, closed, nullptr);
            }
        };
        process(*this);
        call_.written.bytes = stream.take_written();
    } catch (...) {
        call_.written = {kFault, 503, true, "the answer could not be written"};
    }
    return std::exchange(call_, {}).written;
}

httplib::Server::HandlerResponse HttpService::Router::refuse_first(Response& response) {
    if (!call_.refusal) return HandlerResponse::Unhandled;
    refuse(*call_.refusal, response);
    return HandlerResponse::Handled;
}

void HttpService::Router::on_event(Response& response) {
    if (auto const refusal = undo_coding(call_.request.message, max_body_)) {
        if (refusal->status == 415) response.set_header("Accept-Encoding", "gzip");  // RFC 9110 section 15.5.16
        call_.written.close |= refusal->status == 413;
        return refuse(*refusal, response);
    }
    auto const answer = handled(call_.request.message);
    response.status = allowed(answer.status);
    if (answer.retry_after) response.set_header("Retry-After", std::to_string(std::max<long>(1, answer.retry_after->count())));
    if (response.status >= 300) response.set_content(one_line(answer.reason), kText);
}

HttpAnswer HttpService::Router::handled(events::HttpMessage const& message) {
    try {
        return service_.handle(message);
    } catch (...) {
        call_.written.refused = "the handler met a fault of its own";
        return {503, std::nullopt, call_.written.refused};
    }
}

void HttpService::Router::on_ready(Response& response) {
    if (draining_()) return refuse({503, "shutting down"}, response);
    if (service_.ready && !service_.ready()) return refuse({503, "not ready"}, response);
    response.set_content("ok\n", kText);
}

bool HttpService::Router::knows_path() const {
    auto const& path = call_.request.path;
    return path == "/healthz" || path == "/readyz" || (path == "/metrics" && service_.metrics);
}

/// Asked for every status from 400 on. Where nobody has said why, nothing matched, or httplib does not know the method.
void HttpService::Router::explain(Response& response) {
    if (!response.body.empty()) return;
    auto const& [method, path, wants_close, message] = call_.request;
    if (path == "/" && has_events()) {
        response.set_header("Allow", "POST");
        return refuse({405, "events are sent with POST"}, response);
    }
    if (method == "GET" || method == "HEAD") return refuse({404, "there is nothing at this path"}, response);
    if (knows_path() && method != "POST") {
        response.set_header("Allow", "GET, HEAD");
        return refuse({405, "this path is read with GET"}, response);
    }
    refuse({400, has_events() ? "events are sent with POST to the path /" : "no events are taken at this port"}, response);
}

void HttpService::Router::refuse(Refusal const& refusal, Response& response) {
    response.status = refusal.status;
    if (refusal.status == 429 || refusal.status == 503) response.set_header("Retry-After", "1");
    response.set_content(one_line(refusal.reason), kText);
    call_.written.refused = refusal.reason;
}

/// The last look at an answer before it is written. httplib's Keep-Alive header tells of limits that are not ours; a 204 has no
/// Content-Length (RFC 9110 section 8.6).
void HttpService::Router::put_right(Response& response) {
    for (auto const* const name : {"Keep-Alive", "Accept-Ranges", "Connection"}) response.headers.erase(name);
    if (response.status == 204) response.headers.erase("Content-Length");
    call_.written.close |= draining_();
    if (call_.written.close) response.set_header("Connection", "close");
    call_.written.status = response.status;
}

HttpService::HttpService(Service service, std::size_t max_body, std::function<bool()> draining)
    : router_(std::make_unique<Router>(std::move(service), max_body, std::move(draining))) {}
HttpService::~HttpService() = default;
HttpService::HttpService(HttpService&&) noexcept = default;
HttpService& HttpService::operator=(HttpService&&) noexcept = default;

bool HttpService::is_event(HttpRequest const& request) const {
    return request.method == "POST" && request.path == "/" && router_->has_events();
}

WrittenAnswer HttpService::answer(HttpRequest request) {
    return router_->answer(std::move(request), std::nullopt, Connection::Keep);
}

WrittenAnswer HttpService::refuse(Refusal refusal, Connection connection) {
    return router_->answer({.method = "GET", .path = "/"}, std::move(refusal), connection);
}

}  // namespace kro
