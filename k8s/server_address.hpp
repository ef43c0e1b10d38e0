#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s {

/// Where an API server listens.
struct ServerAddress {
    enum class Scheme { Http, Https };
    Scheme scheme = Scheme::Https;
    std::string host;  ///< a name, an IPv4 address, or an IPv6 address in brackets
    std::uint16_t port = 443;
    std::string path;  ///< "" or what stands before every API path: "/clusters/a", without a slash at the end
};

/// "https://host:port/path", the port always spelled out.
std::string to_string(ServerAddress const& address);

/// "host:port", as in a Host header.
std::string authority_of(ServerAddress const& address);

/// A host as it stands in a URL: an IPv6 address gets its brackets, anything else stays.
std::string url_host(std::string_view host);

/// Reads `http://` or `https://`, a host, perhaps a port and a path. The scheme is never guessed; a user, a query and a fragment
/// are refused, and so is an IPv6 address without brackets. The error is the end of a sentence: "must begin with https:// or
/// http://".
base::Result<ServerAddress, std::string> parse_server_address(std::string_view text);

}  // namespace k8s
