#include "function/handle/sink.hpp"

#include "events/http_binding.hpp"
#include "k8s/http_transport.hpp"

#include <memory>

namespace kro {
namespace {

using base::Failure;

base::Result<events::Attributes, std::string> extensions_of(std::string const& overrides) {
    events::Attributes extensions;
    if (overrides.empty()) return extensions;
    auto const read = base::parse_json(overrides);
    base::Json const& list = read ? base::member(*read, "extensions") : base::Json{};
    if (!read || !(list.is_object() || list.is_null())) {
        return Failure{std::string{"K_CE_OVERRIDES is not of the form {\"extensions\": {...}}"}};
    }
    for (auto const& [name, value] : list.items()) extensions[name] = base::text_of(value);
    return extensions;
}

}  // namespace

base::Result<Sink, std::string> open_sink(SinkAddress const& address, std::chrono::milliseconds timeout) {
    auto server = k8s::parse_server_address(address.url);
    if (!server) return Failure{"K_SINK " + server.error()};
    auto extensions = TRY(extensions_of(address.ce_overrides));
    k8s::ClusterAccess access;
    access.name = "sink";
    access.server = *std::move(server);
    access.ca = address.ca;
    k8s::HttpOptions options;
    options.connect_timeout = timeout;
    options.call_timeout = timeout;
    auto const transport = std::make_shared<k8s::HttpTransport>(access, options);
    return Sink{[transport, extensions](std::vector<events::CloudEvent> const& events, base::Deadline deadline) {
        auto const nobody = std::make_shared<k8s::Credentials const>();
        std::vector<k8s::HttpExchange> exchanges(events.size());
        std::vector<k8s::HttpExchange*> pointers;
        for (std::size_t i = 0; i < events.size(); ++i) {
            events::CloudEvent event = events[i];
            for (auto const& [name, value] : extensions) event.extensions[name] = value;
            exchanges[i].message.method = "POST";
            exchanges[i].message.accept = "*/*";
            exchanges[i].message.content_type = "application/cloudevents+json";
            exchanges[i].message.body = events::to_structured(event).body;
            exchanges[i].credentials = nobody;
            pointers.push_back(&exchanges[i]);
        }
        transport->perform(pointers, deadline);
        std::vector<bool> taken;
        for (auto const& exchange : exchanges) {
            bool const answered = exchange.outcome == k8s::HttpExchange::Outcome::Answered;
            taken.push_back(answered && exchange.status >= 200 && exchange.status < 300);
        }
        return taken;
    }};
}

}  // namespace kro
