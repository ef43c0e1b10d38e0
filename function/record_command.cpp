#include "function/record_command.hpp"

#include "function/handle/log.hpp"
#include "function/record/recorder.hpp"
#include "function/serve.hpp"
#include "function/server/signals.hpp"

#include <iostream>

namespace kro {
namespace {

constexpr int kFailed = 1;

int fail(std::string const& message) {
    std::cerr << "kro-function: " << message << std::endl;
    return kFailed;
}

}  // namespace

int record_command(Settings const& settings, std::shared_ptr<spdlog::logger> logger) {
    base::Clock const clock = base::system_clock();
    Metrics metrics;
    Recorder recorder{recorder_options(settings.record), clock, metrics, logger};
    if (auto const opened = recorder.try_to_open(); !opened) return fail(opened.error());

    auto const refused = [&](int status, std::string_view reason) {
        metrics.request_refused(status);
        log_line(*logger, spdlog::level::warn, clock(), "request refused", {{"status", status}, {"why", reason}});
    };
    Service service;
    service.handle = [&](events::HttpMessage const& message) -> HttpAnswer {
        base::Time const received = clock();
        auto parsed = events::parse_http(message);
        if (!parsed) {
            int const status = events::http_status(parsed.error());
            refused(status, events::to_string(parsed.error()));
            return {status, std::nullopt, events::to_string(parsed.error())};
        }
        for (auto& event : *parsed) recorder.record(std::move(event), received);
        return {};
    };
    service.metrics = [&] { return metrics.text(); };
    service.refused = refused;
    auto server = Server::listen(server_options(settings), service);
    if (!server) return fail(server.error());

    Signals const signals{**server};
    log_line(*logger, spdlog::level::info, clock(), "recording",
             {{"port", (*server)->port()}, {"file", settings.record.file}, {"version", kProgramVersion}});
    auto const ended = (*server)->run();
    log_line(*logger, spdlog::level::info, clock(), "stopped", {{"drained", ended == Server::Ended::Drained}});
    return ended == Server::Ended::Drained ? 0 : kFailed;
}

}  // namespace kro
