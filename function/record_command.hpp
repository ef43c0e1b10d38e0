#pragma once

#include "function/settings.hpp"

#include <spdlog/logger.h>

#include <memory>

namespace kro {

/// `kro-function record PATH`: takes events over HTTP and does nothing but write them into an archive, without their secrets. Needs no
/// cluster. Every event is answered 204, whether it could be written or not: whoever records must not stop those who are recorded. Returns the
/// exit status; what kept it from starting, an archive that can't be written among it, is one line on standard error.
int record_command(Settings const& settings, std::shared_ptr<spdlog::logger> logger);

}  // namespace kro
