#pragma once

#include "function/server/server.hpp"

namespace kro {

/// Drains the server on SIGTERM and SIGINT while it exists; a client that is gone, and a file that may grow no further, end nothing.
/// One at a time.
class Signals {
  public:
    explicit Signals(Server& server);
    ~Signals();
    Signals(Signals const&) = delete;
    Signals& operator=(Signals const&) = delete;
};

}  // namespace kro
