#include "function/server/connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace kro {
namespace {

Transfer failed(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR ? Transfer::Later : Transfer::Broken;
}

}  // namespace

Transfer receive(Connection const& connection, std::span<char> buffer, std::size_t& size) {
    auto const received = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
    if (received < 0) return failed(errno);
    size = static_cast<std::size_t>(received);
    return size == 0 ? Transfer::Ended : Transfer::Some;
}

Transfer send_output(Connection& connection) {
    while (connection.sent < connection.output.size()) {
        auto const left = connection.output.size() - connection.sent;
        auto const sent = ::send(connection.socket.get(), connection.output.data() + connection.sent, left, MSG_NOSIGNAL);
        if (sent < 0) return failed(errno);
        connection.sent += static_cast<std::size_t>(sent);
    }
    connection.output = {};
    connection.sent = 0;
    return Transfer::Some;
}

}  // namespace kro
