#pragma once

#include "function/report/progress.hpp"

#include <chrono>
#include <functional>
#include <iosfwd>

namespace kro {

/// Ended by SIGINT, as shells count it.
inline constexpr int kInterrupted = 130;

/// What a replay has of the outside.
struct ReplayIo {
    std::ostream& out;
    std::ostream& err;
    Audience audience = Audience::Program;
    int standard_input = 0;                           ///< a file descriptor
    std::chrono::milliseconds progress_after{1'000};  ///< what is done earlier needs no progress
    std::function<bool()> interrupted = [] { return false; };
    /// Waits as long, or until it is interrupted.
    std::function<void(std::chrono::nanoseconds)> wait = [](std::chrono::nanoseconds) {};
};

}  // namespace kro
