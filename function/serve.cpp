#include "function/serve.hpp"

#include "function/embedded/embedded.hpp"
#include "function/handle/handle.hpp"
#include "function/open_clusters.hpp"
#include "function/record/recorder.hpp"
#include "function/report/episode_of.hpp"
#include "function/report/timeline.hpp"
#include "function/server/server.hpp"
#include "function/server/signals.hpp"
#include "k8s/http_api.hpp"

#include <iostream>
#include <mutex>
#include <thread>

namespace kro {
namespace {

constexpr int kFailed = 1;
/// Longer than a Broker takes to store an event. One that takes longer may be waiting for us.
constexpr std::chrono::seconds kSinkTimeout{2};

/// Loads what the first request needs while the server starts.
class LoadingTransport {
  public:
    LoadingTransport() : thread_(k8s::load_transport) {}
    ~LoadingTransport() { thread_.join(); }
    LoadingTransport(LoadingTransport const&) = delete;
    LoadingTransport& operator=(LoadingTransport const&) = delete;

  private:
    std::thread thread_;
};

std::unique_ptr<Clusters> embedded_clusters(Embedded& embedded) {
    SharedApi const onboarding = embedded.onboarding();
    SharedApi const control_plane = embedded.control_plane();
    return std::make_unique<Clusters>(
        embedded.platform(), [onboarding](base::Deadline) { return k8s::Result<SharedApi>{onboarding}; },
        [control_plane](std::string const&) { return k8s::Result<SharedApi>{control_plane}; });
}

base::Result<EventHandler::Options, std::string> handler_options(Settings const& settings) {
    EventHandler::Options options;
    options.budget = settings.event_budget;
    options.resync.fan_out_above = settings.fan_out_above;
    options.resync.ping_source = settings.ping_source;
    if (!settings.record.file.empty()) options.keep = Keep::Contents;
    if (!settings.sink.url.empty()) options.sink = TRY(open_sink(settings.sink, kSinkTimeout));
    return options;
}

int fail(std::string const& message) {
    std::cerr << "kro-function: " << message << std::endl;
    return kFailed;
}

}  // namespace

ServerOptions server_options(Settings const& settings) {
    ServerOptions options;
    options.port = settings.port;
    options.metrics_port = settings.metrics_port;
    options.workers = settings.workers;
    return options;
}

int serve(Settings const& settings, std::shared_ptr<spdlog::logger> logger) {
    base::Clock const clock = base::system_clock();
    LoadingTransport const loading;
    std::unique_ptr<Embedded> embedded;
    std::unique_ptr<Clusters> clusters;
    if (settings.embedded) {
        embedded = std::make_unique<Embedded>(clock, settings.namespace_);
        clusters = embedded_clusters(*embedded);
    } else {
        auto opened = open_clusters(settings);
        if (!opened) return fail(opened.error().message);
        clusters = std::move(opened).value();
    }

    auto const options = handler_options(settings);
    if (!options) return fail(options.error());
    Metrics metrics;
    EventHandler handler{*clusters, {.name = settings.provider_name, .namespace_ = settings.namespace_}, *options, clock, metrics,
                         logger};
    std::mutex screen;
    std::optional<Recorder> recorder;
    if (!settings.record.file.empty()) recorder.emplace(recorder_options(settings.record), clock, metrics, logger);
    if (embedded || recorder) {
        handler.set_witness([&](Handled const& handled) {
            if (recorder) recorder->record(handled);
            if (!embedded) return;
            std::lock_guard const lock{screen};
            std::cout << timeline_entry(episode_of(handled)) << std::flush;
        });
    }

    Service service;
    service.handle = [&](events::HttpMessage const& message) {
        if (embedded) embedded->take(message);
        return handler.handle(message);
    };
    service.metrics = [&] { return metrics.text(); };
    service.refused = [&](int status, std::string_view reason) {
        metrics.request_refused(status);
        log_line(*logger, spdlog::level::warn, clock(), "request refused", {{"status", status}, {"why", reason}});
    };
    auto server = Server::listen(server_options(settings), service);
    if (!server) return fail(server.error());

    Signals const signals{**server};
    if (embedded) embedded->start([&](events::CloudEvent const& event) { handler.handle(events::to_binary(event)); });
    log_line(*logger, spdlog::level::info, clock(), "serving", {{"port", (*server)->port()}, {"version", kProgramVersion}});
    auto const ended = (*server)->run();
    if (embedded) {
        embedded->stop();
        std::cout << embedded->table() << std::flush;
    }
    log_line(*logger, spdlog::level::info, clock(), "stopped", {{"drained", ended == Server::Ended::Drained}});
    return ended == Server::Ended::Drained ? 0 : kFailed;
}

}  // namespace kro
