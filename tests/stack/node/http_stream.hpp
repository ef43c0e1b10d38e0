#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace node {

using Deadline = std::chrono::steady_clock::time_point;

/// The first line and the headers of an HTTP/1.1 message, as they came, and its body without a transfer encoding.
struct HttpMessage {
    std::string first_line;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
};

/// The value of the first header of that name, in any case; "" where there is none.
std::string_view header(HttpMessage const& message, std::string_view name);

/// The message as it is sent on: without the headers that are about one connection, and with the length of its body.
std::string to_text(HttpMessage const& message);

class HttpStream;

/// How long a read waits: until `deadline` (for ever without one), or until `also` is closed by its other side.
struct Wait {
    std::optional<Deadline> deadline = {};
    HttpStream const* also = nullptr;
};

/// One end of a TCP connection that carries HTTP/1.1 messages, whole ones at a time.
class HttpStream {
  public:
    explicit HttpStream(int socket);  ///< which it owns
    /// A connection to a port on loopback; not open where nothing listens there.
    static HttpStream connect(std::uint16_t port);
    ~HttpStream();
    HttpStream(HttpStream&& other) noexcept;
    HttpStream& operator=(HttpStream&& other) noexcept;

    bool is_open() const { return socket_ >= 0; }

    /// Whether the other side has closed it, or sent what nobody asked for.
    bool is_stale() const;

    bool write(std::string_view bytes);

    /// What ended a read.
    enum class End { Complete, Closed, TimedOut, Abandoned, Malformed };

    End read_request(HttpMessage& message, Wait const& wait = {});
    /// Interim answers are left out.
    End read_answer(HttpMessage& message, std::string_view method, Wait const& wait);

  private:
    End read_more(Wait const& wait);
    End read_line(std::string& line, Wait const& wait);
    End read_bytes(std::string& to, std::size_t size, Wait const& wait);
    End read_head(HttpMessage& message, Wait const& wait);
    End read_chunks(std::string& to, Wait const& wait);
    End read_to_end(std::string& to, Wait const& wait);
    End read_framed(HttpMessage& message, Wait const& wait, bool& framed);
    void close();

    int socket_ = -1;
    std::string unread_;
};

/// The status of an answer, 0 for what is none.
int status_of(HttpMessage const& answer);

}  // namespace node
