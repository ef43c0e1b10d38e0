#include "tests/stack/node/http_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace node {
namespace {

using End = HttpStream::End;

constexpr std::size_t kLargestMessage = 64 * 1024 * 1024;
constexpr std::size_t kLargestLine = 1024 * 1024;

bool same_name(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// RFC 9110 section 7.6.1.
bool is_about_the_connection(std::string_view name) {
    constexpr std::array<std::string_view, 8> kNames{"connection", "proxy-connection",  "keep-alive", "te",
                                                     "trailer",    "transfer-encoding", "upgrade",    "content-length"};
    return std::any_of(kNames.begin(), kNames.end(), [&](auto one) { return same_name(one, name); });
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

int milliseconds_until(std::optional<Deadline> const& deadline) {
    if (!deadline) return -1;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
}

}  // namespace

std::string_view header(HttpMessage const& message, std::string_view name) {
    auto const found =
        std::find_if(message.headers.begin(), message.headers.end(), [&](auto const& one) { return same_name(one.first, name); });
    return found == message.headers.end() ? std::string_view{} : std::string_view{found->second};
}

int status_of(HttpMessage const& answer) {
    // HTTP/1.1 204 No Content
    return answer.first_line.size() < 12 ? 0 : std::atoi(answer.first_line.c_str() + 9);
}

std::string to_text(HttpMessage const& message) {
    std::string text = message.first_line + "\r\n";
    for (auto const& [name, value] : message.headers) {
        if (!is_about_the_connection(name)) text += name + ": " + value + "\r\n";
    }
    int const status = message.first_line.starts_with("HTTP/") ? status_of(message) : 0;
    if (status != 204 && status != 304) text += "Content-Length: " + std::to_string(message.body.size()) + "\r\n";
    return text + "\r\n" + message.body;
}

HttpStream::HttpStream(int socket) : socket_(socket) {
    int const on = 1;
    if (socket_ >= 0) ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

HttpStream HttpStream::connect(std::uint16_t port) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::connect(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) {
        ::close(socket);
        return HttpStream{-1};
    }
    return HttpStream{socket};
}

HttpStream::~HttpStream() { close(); }

HttpStream::HttpStream(HttpStream&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), unread_(std::move(other.unread_)) {}

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(unread_, other.unread_);
    return *this;
}

void HttpStream::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
}

bool HttpStream::is_stale() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

bool HttpStream::write(std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t const written = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

End HttpStream::read_more(Wait const& wait) {
    std::array<char, 16384> buffer{};
    std::array<pollfd, 2> sockets{pollfd{socket_, POLLIN, 0}, pollfd{wait.also ? wait.also->socket_ : -1, POLLRDHUP, 0}};
    while (true) {
        int const ready = ::poll(sockets.data(), sockets.size(), milliseconds_until(wait.deadline));
        if (ready == 0) return End::TimedOut;
        if (ready < 0 && errno == EINTR) continue;
        if (sockets[0].revents != 0) break;
        if (sockets[1].revents != 0) return End::Abandoned;
    }
    ssize_t const size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (size <= 0) return End::Closed;
    unread_.append(buffer.data(), static_cast<std::size_t>(size));
    return End::Complete;
}

End HttpStream::read_line(std::string& line, Wait const& wait) {
    std::size_t end = 0;
    while ((end = unread_.find("\r\n")) == std::string::npos) {
        if (unread_.size() > kLargestLine) return End::Malformed;
        if (auto const more = read_more(wait); more != End::Complete) return more;
    }
    line = unread_.substr(0, end);
    unread_.erase(0, end + 2);
    return End::Complete;
}

End HttpStream::read_bytes(std::string& to, std::size_t size, Wait const& wait) {
    if (size > kLargestMessage) return End::Malformed;
    while (unread_.size() < size) {
        if (auto const more = read_more(wait); more != End::Complete) return more;
    }
    to.append(unread_, 0, size);
    unread_.erase(0, size);
    return End::Complete;
}

End HttpStream::read_head(HttpMessage& message, Wait const& wait) {
    message = {};
    if (auto const end = read_line(message.first_line, wait); end != End::Complete) return end;
    std::string line;
    while (true) {
        if (auto const end = read_line(line, wait); end != End::Complete) return end;
        if (line.empty()) return End::Complete;
        auto const colon = line.find(':');
        if (colon == std::string::npos) return End::Malformed;
        message.headers.emplace_back(line.substr(0, colon), trimmed(std::string_view{line}.substr(colon + 1)));
    }
}

End HttpStream::read_chunks(std::string& to, Wait const& wait) {
    std::string line;
    while (true) {
        if (auto const end = read_line(line, wait); end != End::Complete) return end;
        std::size_t size = 0;
        if (std::from_chars(line.data(), line.data() + line.size(), size, 16).ec != std::errc{}) return End::Malformed;
        if (size == 0) break;
        if (auto const end = read_bytes(to, size, wait); end != End::Complete) return end;
        if (auto const end = read_line(line, wait); end != End::Complete) return end;
    }
    while (true) {
        if (auto const end = read_line(line, wait); end != End::Complete) return end;
        if (line.empty()) return End::Complete;
    }
}

/// The body of a message that says how long it is.
End HttpStream::read_framed(HttpMessage& message, Wait const& wait, bool& framed) {
    framed = true;
    if (same_name(header(message, "Transfer-Encoding"), "chunked")) return read_chunks(message.body, wait);
    auto const length = header(message, "Content-Length");
    framed = !length.empty();
    if (!framed) return End::Complete;
    std::size_t size = 0;
    if (std::from_chars(length.data(), length.data() + length.size(), size).ec != std::errc{}) return End::Malformed;
    return read_bytes(message.body, size, wait);
}

End HttpStream::read_request(HttpMessage& message, Wait const& wait) {
    if (auto const end = read_head(message, wait); end != End::Complete) return end;
    if (same_name(header(message, "Expect"), "100-continue") && !write("HTTP/1.1 100 Continue\r\n\r\n")) return End::Closed;
    bool framed = false;
    return read_framed(message, wait, framed);
}

End HttpStream::read_answer(HttpMessage& message, std::string_view method, Wait const& wait) {
    int status = 0;
    do {
        if (auto const end = read_head(message, wait); end != End::Complete) return end;
        status = status_of(message);
    } while (status >= 100 && status < 200);
    if (status == 0) return End::Malformed;
    if (method == "HEAD" || status == 204 || status == 304) return End::Complete;
    bool framed = false;
    auto const end = read_framed(message, wait, framed);
    return end == End::Complete && !framed ? read_to_end(message.body, wait) : end;
}

End HttpStream::read_to_end(std::string& to, Wait const& wait) {
    auto end = End::Complete;
    while (end == End::Complete) end = read_more(wait);
    to.append(unread_);
    unread_.clear();
    return end == End::Closed ? End::Complete : end;
}

}  // namespace node
