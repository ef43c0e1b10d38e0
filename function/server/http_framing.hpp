#pragma once

#include "events/http_binding.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// Whether two field names, tokens or codings are the same: in HTTP the case of their letters says nothing.
bool same_word(std::string_view left, std::string_view right);

/// How much of a request is taken in before it is refused. Unit: bytes.
struct HttpLimits {
    std::size_t header =
        std::size_t{64} << 10U;  ///< request line, fields and trailers together; more is 431 (414 in the request line)
    std::size_t body = std::size_t{2} << 20U;  ///< chunks undone; more is 413
};

/// One whole request.
struct HttpRequest {
    std::string method = {};
    std::string path = {};     ///< of the request target, without query; `*` for `OPTIONS *`
    bool wants_close = false;  ///< the client will not use the connection again, or speaks HTTP/1.0
    events::HttpMessage message =
        {};  ///< fields as they were sent, without white space around values; body without transfer coding
};

/// Why a request is not taken.
struct Refusal {
    int status;
    std::string reason;  ///< one line that quotes nothing of the request
};

/// Finds where requests begin and end in the bytes of one connection, and refuses what two readers could understand differently:
/// only CRLF ends a line, a length is said once, and what RFC 9112 lets a server repair is an error here.
/// It knows as soon as a limit is passed, and holds no more than the limits allow.
class RequestReader {
  public:
    enum class State {
        Empty,     ///< no byte of the next request yet
        Begun,     ///< more bytes are needed
        Complete,  ///< take() has the request
        Refused,   ///< refusal() has the reason; nothing on this connection can be understood any more
    };

    explicit RequestReader(HttpLimits limits) : limits_(limits), header_left_(limits.header) {}

    /// Takes bytes up to the end of the request and returns how many; none once it is complete or refused.
    std::size_t read(std::string_view bytes);

    State state() const;

    /// The complete request; the reader is then at the beginning of the next.
    HttpRequest take();

    Refusal const& refusal() const { return refusal_; }

    /// Whether the client waits for `100 Continue` before it sends the body. True once per request.
    bool take_expectation();

    /// Bytes in memory for the request so far.
    std::size_t held() const;

  private:
    enum class Part { RequestLine, Fields, SizedBody, ChunkSize, ChunkData, ChunkEnd, Trailers, Complete, Refused };

    std::size_t read_line(std::string_view bytes);
    std::size_t read_body(std::string_view bytes);
    void line_ended();
    void on_request_line(std::string_view line);
    void on_field(std::string_view line);
    void on_head_end();
    void on_chunk_size(std::string_view line);
    std::optional<Refusal> check_host();
    std::optional<Refusal> find_body_length();
    std::optional<Refusal> meet_expectation();
    std::size_t room() const;
    void refuse_long_line();
    void refuse(int status, std::string reason);

    HttpLimits limits_;
    std::size_t header_left_;
    Part part_ = Part::RequestLine;
    std::string line_;
    HttpRequest request_;
    std::size_t header_bytes_ = 0;
    std::uint64_t body_left_ = 0;
    bool skipped_empty_line_ = false;
    bool expectation_ = false;
    bool is_http_1_0_ = false;
    Refusal refusal_ = {};
};

}  // namespace kro
