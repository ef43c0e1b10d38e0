#pragma once

#include <cstdint>
#include <functional>

namespace node {

/// A pod has a network of its own, so any number of pods may listen on port 8080. The processes here share one. Instead of telling
/// each program another port (some have none that could be told), the node sees to every bind(): with a seccomp filter of the kind
/// SECCOMP_RET_USER_NOTIF, which needs no privilege, the call waits until the node has written another port, and the loopback
/// address, into the process's own argument. Port 0, and sockets that are not of IP, are left alone. Source: seccomp_unotify(2).

/// For the new process, between fork and exec: from here on its bind() waits for the node. Sends the descriptor by which the node
/// hears of it through the socket `to`. Async-signal-safe.
bool hand_over_binds(int to) noexcept;

/// The node's side of the same: the descriptor, -1 where none came.
int receive_descriptor(int from);

/// Answers the one bind() that waits at `listener`. `host_port` says which port stands for that of the pod.
void answer_bind(int listener, std::function<std::uint16_t(std::uint16_t)> const& host_port);

/// A port that nothing listens on, below those that the kernel gives to clients.
std::uint16_t unused_port();

}  // namespace node
