#pragma once

#include "function/server/descriptor.hpp"
#include "function/server/http_framing.hpp"
#include "function/server/http_service.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kro {

/// What the server knows of one client's connection. Only the thread that reads the sockets touches it.
struct Connection {
    enum class State {
        Idle,       ///< between two requests
        Reading,    ///< a request has begun
        Working,    ///< a worker has the request, or it waits for one; the socket is not read
        Answering,  ///< the answer is being sent
        Leaving,    ///< all is said: waits for the client to close, so that no reset overtakes the answer (RFC 9112 section 9.6)
        Closed,
    };

    std::uint64_t id;
    Descriptor socket;
    HttpService* service;  ///< answers what arrives at this connection's port
    RequestReader reader;
    State state = State::Idle;
    std::optional<std::chrono::steady_clock::time_point> deadline = {};  ///< of the state
    std::uint32_t watched = 0;                                           ///< epoll's events
    std::string unread = {};  ///< received after the end of the request that is being answered
    std::string output = {};
    std::size_t sent = 0;  ///< of output
    bool close_after_answer = false;
    bool has_served = false;
    std::size_t handed_over = 0;  ///< bytes of the request that a worker has
    std::size_t counted = 0;      ///< bytes that the server counts for this connection
    std::size_t discarded = 0;    ///< bytes received while Leaving

    bool is_busy() const { return state == State::Reading || state == State::Working || state == State::Answering; }
};

enum class Transfer {
    Some,   ///< bytes were received, or everything was sent
    Later,  ///< the socket would block
    Ended,  ///< the client sends no more
    Broken,
};

/// Receives into `buffer` once; `size` says how much.
Transfer receive(Connection const& connection, std::span<char> buffer, std::size_t& size);

/// Sends the rest of the output. Never raises SIGPIPE.
Transfer send_output(Connection& connection);

}  // namespace kro
