#include "tests/stack/node/pod_ports.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>

namespace node {
namespace {

constexpr std::uint16_t kLowest = 12000;
constexpr std::uint16_t kHighest = 19999;

/// The largest address of those that are of interest here.
union Address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

/// Whether the address is one whose port stands for another.
bool translate(Address& address, std::function<std::uint16_t(std::uint16_t)> const& host_port) {
    if (address.any.sa_family == AF_INET && address.v4.sin_port != 0) {
        address.v4.sin_port = htons(host_port(ntohs(address.v4.sin_port)));
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return true;
    }
    if (address.any.sa_family == AF_INET6 && address.v6.sin6_port != 0) {
        address.v6.sin6_port = htons(host_port(ntohs(address.v6.sin6_port)));
        // A socket for both kinds of address takes IPv4 in this form.
        return inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.v6.sin6_addr) == 1;
    }
    return false;
}

/// Reads the argument of a waiting bind(), and writes it where it changes.
void rewrite(seccomp_notif const& call, std::function<std::uint16_t(std::uint16_t)> const& host_port) {
    int const memory = ::open(("/proc/" + std::to_string(call.pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
    if (memory < 0) return;
    Address address{};
    auto const size = std::min<std::size_t>(sizeof address, call.data.args[2]);
    auto const where = static_cast<off_t>(call.data.args[1]);
    if (::pread(memory, &address, size, where) == static_cast<ssize_t>(size) && translate(address, host_port)) {
        [[maybe_unused]] auto const written = ::pwrite(memory, &address, size, where);
    }
    ::close(memory);
}

bool is_unused(std::uint16_t port) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    bool const unused = ::bind(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
    ::close(socket);
    return unused;
}

}  // namespace

bool hand_over_binds(int to) noexcept {
    sock_filter filter[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_bind},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    sock_fprog const program{sizeof filter / sizeof *filter, filter};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    auto const listener =
        static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    if (listener < 0) return false;

    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof listener)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof listener);
    std::memcpy(CMSG_DATA(header), &listener, sizeof listener);
    bool const sent = ::sendmsg(to, &message, 0) == 1;
    ::close(listener);
    return sent;
}

int receive_descriptor(int from) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    cmsghdr const* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

void answer_bind(int listener, std::function<std::uint16_t(std::uint16_t)> const& host_port) {
    seccomp_notif call{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
    rewrite(call, host_port);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

std::uint16_t unused_port() {
    static std::mt19937 random{std::random_device{}()};
    std::uniform_int_distribution<std::uint16_t> choose{kLowest, kHighest};
    while (true) {
        if (auto const port = choose(random); is_unused(port)) return port;
    }
}

}  // namespace node
