#pragma once

#include "function/handle/handle.hpp"
#include "function/handle/log.hpp"

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace component {

/// Keeps every log line.
class KeptLines final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    std::vector<std::string> lines() {
        std::lock_guard const lock{mutex_};
        return lines_;
    }

  private:
    void sink_it_(spdlog::details::log_msg const& message) override {
        lines_.emplace_back(message.payload.begin(), message.payload.end());
    }
    void flush_() override {}

    std::vector<std::string> lines_;
};

/// What one pod has for itself: connections, the tenants' turnstiles, echoes, metrics, a log.
class Pod {
  public:
    Pod(kro::SharedApi platform, kro::SharedApi onboarding, kro::Connect connect, base::Clock clock,
        kro::EventHandler::Options options = {}, spdlog::level::level_enum level = spdlog::level::debug)
        : clusters_(
              std::move(platform), [onboarding](base::Deadline) { return k8s::Result<kro::SharedApi>{onboarding}; },
              std::move(connect)),
          sink_(std::make_shared<KeptLines>()),
          handler_(clusters_, {}, options, std::move(clock), metrics_, logger_to(sink_, level)) {}

    kro::HttpAnswer handle(events::HttpMessage const& message) { return handler_.handle(message); }
    kro::EventHandler& handler() { return handler_; }
    std::vector<std::string> lines() const { return sink_->lines(); }
    std::string metrics() const { return metrics_.text(); }

  private:
    static std::shared_ptr<spdlog::logger> logger_to(std::shared_ptr<KeptLines> sink, spdlog::level::level_enum level) {
        auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
        logger->set_pattern("%v");
        logger->set_level(level);
        return logger;
    }

    kro::Clusters clusters_;
    kro::Metrics metrics_;
    std::shared_ptr<KeptLines> sink_;
    kro::EventHandler handler_;
};

}  // namespace component
