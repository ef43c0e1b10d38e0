#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace node {

/// What is to be started.
struct Command {
    std::filesystem::path program;
    std::vector<std::string> arguments;                            ///< without the program's own name
    std::vector<std::pair<std::string, std::string>> environment;  ///< all of it; of two of one name the last counts
    std::filesystem::path folder;                                  ///< where it works
    std::filesystem::path log;                                     ///< what it says is appended here
};

/// A process that was started.
struct Process {
    pid_t id = -1;
    int binds = -1;  ///< readable while a bind() waits for answer_bind(); its owner closes it
};

/// Starts a process that is killed when the calling thread ends, however that happens.
base::Result<Process, std::string> start(Command const& command);

}  // namespace node
