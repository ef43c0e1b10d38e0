#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstddef>

namespace support {

/// Files of this process may grow no larger, as if the disk were full.
class FullDisk {
  public:
    explicit FullDisk(std::size_t size) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        struct rlimit const limit = {size, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FullDisk(FullDisk const&) = delete;
    FullDisk& operator=(FullDisk const&) = delete;

  private:
    void (*handler_)(int);
    struct rlimit before_ = {};
};

}  // namespace support
