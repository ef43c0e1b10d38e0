#include "function/handle/event_poster.hpp"

#include "events/http_binding.hpp"

namespace kro {
namespace {

/// Longer than a function takes for one event; a Knative source waits as long.
constexpr std::chrono::minutes kPatience{5};

}  // namespace

base::Result<EventPoster, std::string> EventPoster::open(std::string const& url) {
    k8s::ClusterAccess access;
    access.name = "function";
    access.server = TRY(k8s::parse_server_address(url));
    k8s::HttpOptions options;
    options.call_timeout = kPatience;
    std::string path = std::exchange(access.server.path, {});
    return EventPoster{path.empty() ? "/" : std::move(path), std::make_unique<k8s::HttpTransport>(access, options)};
}

Posted EventPoster::post(events::CloudEvent const& event) {
    k8s::HttpExchange exchange;
    exchange.message.method = "POST";
    exchange.message.target = path_;
    exchange.message.accept = "*/*";
    auto message = events::to_binary(event);
    exchange.message.headers = std::move(message.headers);
    exchange.message.body = std::move(message.body);
    exchange.credentials = std::make_shared<k8s::Credentials const>();
    auto* const pointer = &exchange;
    transport_->perform({&pointer, 1}, std::chrono::steady_clock::now() + kPatience);
    if (exchange.outcome == k8s::HttpExchange::Outcome::Answered) return {exchange.status, {}};
    return {0, exchange.why};
}

}  // namespace kro
