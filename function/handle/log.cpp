#include "function/handle/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>

namespace kro {
namespace {

spdlog::level::level_enum level_of(Verbosity verbosity) {
    switch (verbosity) {
        case Verbosity::Debug: return spdlog::level::debug;
        case Verbosity::Info: return spdlog::level::info;
        case Verbosity::Error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

std::string_view name_of(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::debug: return "debug";
        case spdlog::level::warn: return "warn";
        case spdlog::level::err: return "error";
        default: return "info";
    }
}

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(Verbosity verbosity) {
    auto logger = std::make_shared<spdlog::logger>("kro-function", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%v");
    logger->set_level(level_of(verbosity));
    logger->flush_on(spdlog::level::debug);
    return logger;
}

void log_line(spdlog::logger& logger, spdlog::level::level_enum level, base::Time time, std::string_view message,
              base::Json fields) {
    if (!logger.should_log(level)) return;
    std::string line = R"({"level":")" + std::string{name_of(level)} + R"(","time":")" + base::rfc3339_nano(time) +
                       R"(","msg":)" + base::dump_json(base::Json(message));
    if (!fields.empty())
        line += "," + base::dump_json(fields).substr(1);
    else
        line += "}";
    logger.log(level, "{}", line);
}

}  // namespace kro
