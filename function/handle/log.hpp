#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace kro {

enum class Verbosity { Debug, Info, Error };

/// A logger that writes one JSON object per line to standard error; made once, in main.
std::shared_ptr<spdlog::logger> make_logger(Verbosity verbosity);

/// One line: `level`, `time`, `msg` and the fields, as JSON. `message` is constant; what varies goes into `fields`. Bytes that are no
/// UTF-8 become U+FFFD, control characters are escaped.
void log_line(spdlog::logger& logger, spdlog::level::level_enum level, base::Time time, std::string_view message,
              base::Json fields);

}  // namespace kro
