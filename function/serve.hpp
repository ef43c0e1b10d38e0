#pragma once

#include "function/server/server.hpp"
#include "function/settings.hpp"

#include <spdlog/logger.h>

#include <memory>

namespace kro {

/// `kro-function serve`: answers events until it is asked to stop. Returns the exit status; what kept it from starting is one line on
/// standard error.
int serve(Settings const& settings, std::shared_ptr<spdlog::logger> logger);

/// What the settings say about the server.
ServerOptions server_options(Settings const& settings);

}  // namespace kro
