#pragma once

#include "base/result.hpp"
#include "function/server/descriptor.hpp"

#include <cstdint>
#include <string>

namespace kro {

/// A socket that listens at `port` on all addresses, IPv6 and IPv4, or IPv4 only where the system has no IPv6; it does not block.
/// Port 0 picks a free one. The error is one line and names the port.
base::Result<Descriptor, std::string> listen_at(std::uint16_t port);

/// Which port a listening socket has.
std::uint16_t port_of(Descriptor const& listener);

}  // namespace kro
