#include "function/server/signals.hpp"

#include <atomic>
#include <csignal>

namespace kro {
namespace {

/// Whom a signal is for. Written before the handler is installed, and the server outlives the handler.
std::atomic<Server*> signalled{nullptr};

extern "C" void on_signal(int) {
    if (Server* server = signalled.load()) server->drain();
}

}  // namespace

Signals::Signals(Server& server) {
    signalled = &server;
    std::signal(SIGTERM, on_signal);
    std::signal(SIGINT, on_signal);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

Signals::~Signals() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    signalled = nullptr;
}

}  // namespace kro
