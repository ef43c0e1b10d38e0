#include "process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace bench {
namespace {

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int connected_socket(std::uint16_t port) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in const address = loopback(port);
    if (::connect(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) {
        ::close(socket);
        return -1;
    }
    int const on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
}

}  // namespace

std::uint16_t free_port() {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
}

Process::Process(std::string const& program, std::vector<std::string> const& arguments, std::uint16_t port) : port_(port) {
    std::vector<std::string> texts{program};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);
    std::string port_variable = "PORT=" + std::to_string(port);
    std::string namespace_variable = "POD_NAMESPACE=openmcp-system";
    std::array<char*, 3> environment{port_variable.data(), namespace_variable.data(), nullptr};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    started_ms_ = now_ms();
    int const failure = ::posix_spawn(&id_, program.c_str(), &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failure == 0) return;
    std::cerr << "bench: can't start " << program << std::endl;
    std::exit(EXIT_FAILURE);
}

Process::~Process() {
    ::kill(id_, SIGTERM);
    ::waitpid(id_, nullptr, 0);
}

double Process::wait_until_ready() const {
    for (int tries = 0; tries < 100'000; ++tries) {
        int const socket = connected_socket(port_);
        if (socket < 0) {
            std::this_thread::sleep_for(std::chrono::microseconds{100});
            continue;
        }
        ::close(socket);
        if (Connection{port_}.get("/readyz") == 200) return now_ms() - started_ms_;
    }
    std::cerr << "bench: the program never became ready" << std::endl;
    std::exit(EXIT_FAILURE);
}

Process::Memory Process::memory() const {
    std::ifstream file{"/proc/" + std::to_string(id_) + "/smaps_rollup"};
    Memory memory;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string name;
        double kilobytes = 0;
        words >> name >> kilobytes;
        if (name == "Rss:") memory.resident_mb = kilobytes / 1024;
        if (name == "Anonymous:") memory.anonymous_mb = kilobytes / 1024;
    }
    return memory;
}

double Process::peak_mb() const {
    std::ifstream file{"/proc/" + std::to_string(id_) + "/status"};
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string name;
        double kilobytes = 0;
        words >> name >> kilobytes;
        if (name == "VmHWM:") return kilobytes / 1024;
    }
    return 0;
}

double Process::cpu_ms() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(id_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

Connection::Connection(std::uint16_t port) : socket_(connected_socket(port)) {}

Connection::~Connection() {
    if (socket_ >= 0) ::close(socket_);
}

int Connection::post(std::string const& event) {
    return exchange("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/cloudevents+json\r\nContent-Length: " +
                    std::to_string(event.size()) + "\r\n\r\n" + event);
}

int Connection::get(std::string const& path) { return exchange("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); }

int Connection::exchange(std::string const& request) {
    for (std::size_t sent = 0; sent < request.size();) {
        ssize_t const size = ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) return 0;
        sent += static_cast<std::size_t>(size);
    }
    std::string answer;
    std::array<char, 4096> buffer{};
    // Every answer here has its headers alone, or a body of one short line that comes with them.
    while (answer.find("\r\n\r\n") == std::string::npos) {
        ssize_t const size = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (size <= 0) return 0;
        answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return std::atoi(answer.c_str() + std::string_view{"HTTP/1.1 "}.size());
}

}  // namespace bench
