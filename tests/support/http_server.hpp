#pragma once

#include "tests/support/certificates.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace support {

/// One request as it came over the wire.
struct Received {
    std::string method;
    std::string target;
    std::string head;  ///< the exact bytes up to and including the empty line
    std::string body;
    int connection = 0;       ///< counted from 1
    std::string server_name;  ///< TLS: what the client asked for (SNI)
    std::string client_name;  ///< TLS: the common name of the client's certificate

    bool operator==(Received const&) const = default;
};

/// The value of a header, without regard to case; none where it is absent.
inline std::optional<std::string> header_of(Received const& received, std::string_view name) {
    std::string_view rest = received.head;
    while (!rest.empty()) {
        auto const end = rest.find("\r\n");
        std::string_view const line = rest.substr(0, end);
        if (line.size() > name.size() && line[name.size()] == ':' && strncasecmp(line.data(), name.data(), name.size()) == 0) {
            auto value = line.substr(name.size() + 1);
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
            return std::string{value};
        }
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    }
    return std::nullopt;
}

/// What the server does with a request.
struct Reply {
    enum class Then {
        KeepOpen,
        HalfClose,  ///< answers, then sends no more on this connection, without having said so
        Close,      ///< closes; with status 0 without any answer
        Hang,       ///< never answers
    };
    int status = 200;  ///< 0: no answer at all
    std::string body = "{}";
    std::string headers{};  ///< further lines, each with its \r\n
    Then then = Then::KeepOpen;
    std::string raw{};  ///< instead of everything above: these bytes
};

inline Reply json(std::string body, int status = 200, std::string headers = "") {
    return {status, std::move(body), std::move(headers)};
}

struct ServerSettings {
    std::string host = "127.0.0.1";
    std::optional<Certificate> certificate{};  ///< TLS with this one
    std::string client_ca{};                   ///< TLS: client certificates of this CA are asked for
    /// Asked after the head: whether to reset the connection after half of the body.
    std::function<bool(Received const&)> reset_in_body{};
};

/// A small HTTP/1.1 server that answers from a script, plain or with TLS, on a free port of the loopback interface. It has a
/// thread for each connection; all of them have ended when the destructor returns.
class HttpServer {
  public:
    using Script = std::function<Reply(Received const&)>;
    using Settings = ServerSettings;

    explicit HttpServer(Script script, Settings settings = {}) : script_(std::move(script)), settings_(std::move(settings)) {
        if (settings_.certificate) context_ = tls_context();
        listen_on_a_free_port();
        acceptor_ = std::thread{[this] { accept_connections(); }};
    }

    ~HttpServer() {
        {
            std::lock_guard const lock{mutex_};
            stopping_ = true;
            for (auto& connection : connections_) ::shutdown(connection.socket, SHUT_RDWR);
        }
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        for (auto& connection : connections_) {
            connection.thread.join();
            ::close(connection.socket);
        }
        ::close(listener_);
        SSL_CTX_free(context_);
    }

    HttpServer(HttpServer const&) = delete;
    HttpServer& operator=(HttpServer const&) = delete;

    std::uint16_t port() const { return port_; }

    /// "http://127.0.0.1:1234"
    std::string url() const {
        bool const ipv6 = settings_.host.find(':') != std::string::npos;
        return std::string{settings_.certificate ? "https://" : "http://"} +
               (ipv6 ? "[" + settings_.host + "]" : settings_.host) + ":" + std::to_string(port_);
    }

    std::vector<Received> requests() const {
        std::lock_guard const lock{mutex_};
        return requests_;
    }

    int connections() const {
        std::lock_guard const lock{mutex_};
        return static_cast<int>(connections_.size());
    }

    /// Returns when so many requests have arrived.
    void await_requests(std::size_t count) const {
        std::unique_lock lock{mutex_};
        arrived_.wait(lock, [&] { return requests_.size() >= count; });
    }

  private:
    struct Connection {
        int socket = -1;
        std::thread thread;
    };

    /// One end of a connection, with or without TLS.
    struct Stream {
        int socket;
        SSL* tls = nullptr;

        bool read_more(std::string& into) const {
            std::array<char, 16384> part{};
            auto const count = tls != nullptr ? SSL_read(tls, part.data(), static_cast<int>(part.size()))
                                              : static_cast<int>(::recv(socket, part.data(), part.size(), 0));
            if (count <= 0) return false;
            into.append(part.data(), static_cast<std::size_t>(count));
            return true;
        }

        bool write(std::string_view text) const {
            while (!text.empty()) {
                auto const count = tls != nullptr ? SSL_write(tls, text.data(), static_cast<int>(text.size()))
                                                  : static_cast<int>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL));
                if (count <= 0) return false;
                text.remove_prefix(static_cast<std::size_t>(count));
            }
            return true;
        }
    };

    SSL_CTX* tls_context() const {
        SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
        auto const bio = [](std::string const& text) {
            return detail::Bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
        };
        detail::X509Pointer const certificate{
            PEM_read_bio_X509(bio(settings_.certificate->certificate).get(), nullptr, nullptr, nullptr)};
        detail::Key const key{PEM_read_bio_PrivateKey(bio(settings_.certificate->key).get(), nullptr, nullptr, nullptr)};
        SSL_CTX_use_certificate(context, certificate.get());
        SSL_CTX_use_PrivateKey(context, key.get());
        if (!settings_.client_ca.empty()) {
            detail::X509Pointer const ca{PEM_read_bio_X509(bio(settings_.client_ca).get(), nullptr, nullptr, nullptr)};
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get());
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
        }
        return context;
    }

    void listen_on_a_free_port() {
        bool const ipv6 = settings_.host.find(':') != std::string::npos;
        listener_ = ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_storage address{};
        if (ipv6) {
            auto& inet6 = reinterpret_cast<sockaddr_in6&>(address);
            inet6.sin6_family = AF_INET6;
            inet_pton(AF_INET6, settings_.host.c_str(), &inet6.sin6_addr);
        } else {
            auto& inet = reinterpret_cast<sockaddr_in&>(address);
            inet.sin_family = AF_INET;
            inet_pton(AF_INET, settings_.host.c_str(), &inet.sin_addr);
        }
        socklen_t size = ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 128) != 0) std::abort();
        ::getsockname(listener_, generic, &size);
        port_ =
            ntohs(ipv6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port : reinterpret_cast<sockaddr_in&>(address).sin_port);
    }

    void accept_connections() {
        while (true) {
            int const socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) return;
            std::lock_guard const lock{mutex_};
            Connection& connection = connections_.emplace_back();
            connection.socket = socket;
            if (stopping_) ::shutdown(socket, SHUT_RDWR);
            connection.thread =
                std::thread{[this, socket, number = static_cast<int>(connections_.size())] { serve(socket, number); }};
        }
    }

    void serve(int socket, int number) {
        Stream stream{socket, nullptr};
        if (context_ != nullptr) {
            stream.tls = SSL_new(context_);
            SSL_set_fd(stream.tls, socket);
        }
        if (stream.tls == nullptr || SSL_accept(stream.tls) == 1) serve_requests(stream, number);
        SSL_free(stream.tls);
        ::shutdown(socket, SHUT_RDWR);
    }

    void serve_requests(Stream const& stream, int number) {
        std::string buffer;
        while (true) {
            std::size_t end = 0;
            while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
                if (!stream.read_more(buffer)) return;
            }
            Received received = received_head(stream, buffer.substr(0, end + 4), number);
            buffer.erase(0, end + 4);
            std::size_t const length = std::strtoul(header_of(received, "Content-Length").value_or("0").c_str(), nullptr, 10);
            if (settings_.reset_in_body && settings_.reset_in_body(received)) {
                while (buffer.size() < length / 2 && stream.read_more(buffer)) {
                }
                received.body = buffer;
                record(received);
                linger const at_once{1, 0};
                ::setsockopt(stream.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                // Closed by replacing it, so that the number stays ours: a reset is sent, and the peer's next write meets it.
                int const gone = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                ::dup2(gone, stream.socket);
                ::close(gone);
                return;
            }
            while (buffer.size() < length) {
                if (!stream.read_more(buffer)) return;
            }
            received.body = buffer.substr(0, length);
            buffer.erase(0, length);
            record(received);
            if (!answer(stream, script_(received))) return;
        }
    }

    static Received received_head(Stream const& stream, std::string head, int number) {
        Received received;
        received.connection = number;
        auto const space = head.find(' ');
        received.method = head.substr(0, space);
        received.target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
        received.head = std::move(head);
        if (stream.tls != nullptr) {
            if (char const* const name = SSL_get_servername(stream.tls, TLSEXT_NAMETYPE_host_name)) received.server_name = name;
            if (detail::X509Pointer const peer{SSL_get1_peer_certificate(stream.tls)}) {
                std::array<char, 256> name{};
                X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name.data(), name.size());
                received.client_name = name.data();
            }
        }
        return received;
    }

    void record(Received const& received) {
        std::lock_guard const lock{mutex_};
        requests_.push_back(received);
        arrived_.notify_all();
    }

    /// Whether the connection goes on.
    static bool answer(Stream const& stream, Reply const& reply) {
        std::string ignored;
        if (reply.then == Reply::Then::Hang) {
            while (stream.read_more(ignored)) {
            }
            return false;
        }
        std::string text = reply.raw;
        if (text.empty() && reply.status != 0) {
            text = "HTTP/1.1 " + std::to_string(reply.status) +
                   " Scripted\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(reply.body.size()) +
                   "\r\n" + reply.headers + "\r\n" + reply.body;
        }
        if (!stream.write(text) || reply.then == Reply::Then::Close) return false;
        if (reply.then == Reply::Then::HalfClose) {
            ::shutdown(stream.socket, SHUT_WR);
            while (stream.read_more(ignored)) {
            }
            return false;
        }
        return true;
    }

    Script script_;
    Settings settings_;
    SSL_CTX* context_ = nullptr;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::thread acceptor_;

    mutable std::mutex mutex_;
    mutable std::condition_variable arrived_;
    bool stopping_ = false;
    std::list<Connection> connections_;
    std::vector<Received> requests_;
};

}  // namespace support
