#include "function/server/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace kro {
namespace {

/// Where IPv6 is off, either there is no such family or it has no address.
bool means_no_ipv6(int error) { return error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == EADDRNOTAVAIL; }

bool set(Descriptor const& socket, int level, int option, int value) {
    return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

bool bind_ipv6(Descriptor const& socket, std::uint16_t port) {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_any;
    // Off is not the default everywhere (net.ipv6.bindv6only); on it would shut out IPv4.
    return set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0) &&
           ::bind(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
}

bool bind_ipv4(Descriptor const& socket, std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    return ::bind(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
}

/// The listening socket, or errno.
base::Result<Descriptor, int> listen_in(int family, std::uint16_t port) {
    auto socket = Descriptor{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket) return base::Failure{errno};
    // A restart need not wait for connections of the last run. Two listeners at one port stay impossible.
    if (!set(socket, SOL_SOCKET, SO_REUSEADDR, 1)) return base::Failure{errno};
    bool const bound = family == AF_INET6 ? bind_ipv6(socket, port) : bind_ipv4(socket, port);
    if (!bound || ::listen(socket.get(), SOMAXCONN) != 0) return base::Failure{errno};
    return socket;
}

}  // namespace

base::Result<Descriptor, std::string> listen_at(std::uint16_t port) {
    auto listener = listen_in(AF_INET6, port);
    if (!listener && means_no_ipv6(listener.error())) listener = listen_in(AF_INET, port);
    if (!listener) {
        return base::Failure{"cannot listen on port " + std::to_string(port) + ": " +
                             std::generic_category().message(listener.error())};
    }
    return std::move(listener).value();
}

std::uint16_t port_of(Descriptor const& listener) {
    sockaddr_in6 address = {};  // the port is at the same place in an IPv4 address, which is shorter
    static_assert(offsetof(sockaddr_in6, sin6_port) == offsetof(sockaddr_in, sin_port));
    socklen_t size = sizeof address;
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin6_port);
}

}  // namespace kro
