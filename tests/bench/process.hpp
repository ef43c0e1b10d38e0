#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// kro-function as a process whose output is thrown away.
class Process {
  public:
    Process(std::string const& program, std::vector<std::string> const& arguments, std::uint16_t port);
    ~Process();
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;

    /// Blocks until GET /readyz is answered 200; milliseconds since the process was started.
    double wait_until_ready() const;

    struct Memory {
        double resident_mb = 0;
        double anonymous_mb = 0;
    };
    /// From /proc/PID/smaps_rollup.
    Memory memory() const;
    /// The most that was ever resident.
    double peak_mb() const;
    /// User and system time so far, in milliseconds.
    double cpu_ms() const;

  private:
    pid_t id_ = -1;
    std::uint16_t port_;
    double started_ms_ = 0;
};

/// One keep-alive connection to the function.
class Connection {
  public:
    explicit Connection(std::uint16_t port);
    ~Connection();
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    /// Posts a CloudEvent in structured mode; the answer's status.
    int post(std::string const& event);
    /// The status of a GET; 0 where there is no answer.
    int get(std::string const& path);

  private:
    int exchange(std::string const& request);
    int socket_ = -1;
};

std::uint16_t free_port();

}  // namespace bench
