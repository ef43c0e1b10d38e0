#pragma once

#include "base/json.hpp"

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace integration {

/// kro-function itself, as a process of its own.
class Program {
  public:
    /// Starts it with these arguments, and with nothing in its environment but POD_NAMESPACE.
    Program(std::vector<std::string> arguments, std::string const& pod_namespace);
    /// Ends it as stop() does.
    ~Program();
    Program(Program const&) = delete;
    Program& operator=(Program const&) = delete;

    /// Where it serves; none where it has ended, or says nothing for long.
    std::optional<std::uint16_t> port();

    /// Asks it to end, as Kubernetes does: SIGTERM.
    void ask_to_end();

    /// Asks it to end and waits. Its exit status, or 128 and the signal that ended it.
    int stop();

    /// What it has written so far, line by line.
    std::vector<std::string> output() const;

    /// How many lines of its log have this message.
    std::size_t count(std::string const& message) const;

  private:
    void read(int descriptor);

    pid_t id_ = -1;
    std::optional<int> status_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
    std::optional<std::uint16_t> port_;
    bool ended_ = false;
    std::thread reader_;
};

}  // namespace integration
