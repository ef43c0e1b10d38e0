#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// An answer as it came. Status 0: the server closed the connection, or said nothing for five seconds.
struct RawAnswer {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string body = {};

    /// The value of a header, name in lower case; "" where it is missing.
    std::string header(std::string_view name) const;
};

/// A client that sends what it is told, byte for byte.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, std::string_view address = "127.0.0.1");
    ~RawClient();
    RawClient(RawClient const&) = delete;
    RawClient& operator=(RawClient const&) = delete;

    bool is_connected() const { return connected_; }

    /// Whether the system took all bytes.
    bool send(std::string_view bytes);
    /// Sends no more, still receives.
    void end();
    /// Goes away without a word: the server sees a reset.
    void reset();

    /// `head_only`: the answer to a HEAD request, or an interim answer.
    RawAnswer receive(bool head_only = false);
    RawAnswer ask(std::string_view request) { return send(request) ? receive() : RawAnswer{}; }

    /// Waits until the server closes; false where it sends something instead or does not close for five seconds.
    bool sees_close();

  private:
    bool receive_more();

    int socket_;
    bool connected_ = false;
    std::string received_;
};

inline constexpr timeval kPatience = {.tv_sec = 5, .tv_usec = 0};

inline int socket_to(std::uint16_t port, std::string_view address, bool& connected) {
    bool const is_ipv6 = address.find(':') != std::string_view::npos;
    int const socket = ::socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    sockaddr_in four = {};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::string const text{address};
    ::inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text.c_str(), is_ipv6 ? static_cast<void*>(&six.sin6_addr) : &four.sin_addr);
    auto const* const to = is_ipv6 ? reinterpret_cast<sockaddr const*>(&six) : reinterpret_cast<sockaddr const*>(&four);
    connected = ::connect(socket, to, is_ipv6 ? sizeof six : sizeof four) == 0;
    return socket;
}

inline std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

inline RawAnswer parse_head(std::string_view head) {
    RawAnswer answer;
    answer.status = head.size() >= 12 ? std::stoi(std::string{head.substr(9, 3)}) : 0;
    for (auto at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();) {
        auto const next = head.find("\r\n", at + 2);
        auto const line = head.substr(at + 2, next - at - 2);
        auto const colon = line.find(": ");
        if (colon != std::string_view::npos) {
            answer.headers.emplace_back(lower(std::string{line.substr(0, colon)}), std::string{line.substr(colon + 2)});
        }
        at = next;
    }
    return answer;
}

inline std::string RawAnswer::header(std::string_view name) const {
    auto const found = std::find_if(headers.begin(), headers.end(), [&](auto const& header) { return header.first == name; });
    return found == headers.end() ? "" : found->second;
}

inline RawClient::RawClient(std::uint16_t port, std::string_view address) : socket_(socket_to(port, address, connected_)) {}

inline RawClient::~RawClient() { ::close(socket_); }

inline bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

inline void RawClient::end() { ::shutdown(socket_, SHUT_WR); }

inline void RawClient::reset() {
    linger const at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(std::exchange(socket_, -1));
}

inline bool RawClient::receive_more() {
    std::array<char, 65536> buffer;
    auto const size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (size > 0) received_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
}

inline RawAnswer RawClient::receive(bool head_only) {
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
        if (!receive_more()) return {};
    }
    auto answer = parse_head(std::string_view{received_}.substr(0, end + 2));
    received_.erase(0, end + 4);
    auto const length = answer.header("content-length");
    auto const size = head_only || length.empty() ? std::size_t{0} : static_cast<std::size_t>(std::stoul(length));
    while (received_.size() < size) {
        if (!receive_more()) return {};
    }
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
}

inline bool RawClient::sees_close() {
    if (!received_.empty()) return false;
    char byte = 0;
    auto const size = ::recv(socket_, &byte, 1, 0);
    return size == 0 || (size < 0 && errno == ECONNRESET);
}

/// `POST /` with a body, `extra` being further header lines with their CRLF.
inline std::string post(std::string_view body, std::string_view extra = "") {
    std::string request = "POST / HTTP/1.1\r\nHost: kro\r\nContent-Type: application/json\r\nContent-Length: ";
    request += std::to_string(body.size()) + "\r\n";
    return request.append(extra).append("\r\n").append(body);
}

inline std::string get(std::string_view path) { return "GET " + std::string{path} + " HTTP/1.1\r\nHost: kro\r\n\r\n"; }

}  // namespace support
