#include "k8s/server_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace k8s {
namespace {

using base::Failure;

bool is_ipv6(std::string_view text) {
    in6_addr address{};
    return inet_pton(AF_INET6, std::string{text.substr(0, text.find('%'))}.c_str(), &address) == 1;
}

/// A zone (RFC 6874) is an interface's name, and nothing else may follow the address.
bool is_bracketed_ipv6(std::string_view host) {
    if (host.size() < 4 || host.front() != '[' || host.back() != ']') return false;
    auto const inside = host.substr(1, host.size() - 2);
    return is_ipv6(inside) && std::all_of(inside.begin(), inside.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == ':' || c == '.' || c == '%' || c == '-' || c == '_';
           });
}

bool is_name(std::string_view host) {
    return !host.empty() && std::all_of(host.begin(), host.end(),
                                        [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; });
}

bool is_path(std::string_view path) {
    return std::all_of(path.begin(), path.end(), [](unsigned char c) { return c > ' ' && c < 0x7f && c != '\\'; });
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failure != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

}  // namespace

std::string authority_of(ServerAddress const& address) { return address.host + ":" + std::to_string(address.port); }

std::string to_string(ServerAddress const& address) {
    bool const secure = address.scheme == ServerAddress::Scheme::Https;
    return (secure ? "https://" : "http://") + authority_of(address) + address.path;
}

std::string url_host(std::string_view host) { return is_ipv6(host) ? "[" + std::string{host} + "]" : std::string{host}; }

base::Result<ServerAddress, std::string> parse_server_address(std::string_view text) {
    ServerAddress address;
    if (text.starts_with("https://")) {
        text.remove_prefix(8);
    } else if (text.starts_with("http://")) {
        address.scheme = ServerAddress::Scheme::Http;
        address.port = 80;
        text.remove_prefix(7);
    } else {
        return Failure{std::string{"must begin with https:// or http://"}};
    }
    if (text.find_first_of("?#") != std::string_view::npos) return Failure{std::string{"must have no query and no fragment"}};

    auto const slash = std::min(text.find('/'), text.size());
    std::string_view authority = text.substr(0, slash);
    std::string_view path = text.substr(slash);
    while (!path.empty() && path.back() == '/') path.remove_suffix(1);
    if (!is_path(path)) return Failure{std::string{"has a path that is no URL's"}};
    if (authority.find('@') != std::string_view::npos) return Failure{std::string{"must have no user in it"}};

    bool const bracketed = authority.starts_with('[');
    if (!bracketed && std::count(authority.begin(), authority.end(), ':') > 1) {
        return Failure{std::string{"has an IPv6 address without brackets; write https://[address]:port"}};
    }
    auto const end_of_host = bracketed ? std::min(authority.find(']'), authority.size() - 1) + 1 : authority.find(':');
    std::string_view const host = authority.substr(0, end_of_host);
    if (!(bracketed ? is_bracketed_ipv6(host) : is_name(host))) return Failure{std::string{"has no host that could be reached"}};
    authority.remove_prefix(host.size());
    if (!authority.empty()) {
        auto const port = authority.front() == ':' ? port_of(authority.substr(1)) : std::nullopt;
        if (!port) return Failure{std::string{"has no port between 1 and 65535"}};
        address.port = *port;
    }
    address.host = host;
    address.path = path;
    return address;
}

}  // namespace k8s
