#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace integration {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string path_of_program() {
    char const* const path = std::getenv("KRO_FUNCTION");
    return path != nullptr ? path : KRO_FUNCTION_PROGRAM;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

Program::Program(std::vector<std::string> arguments, std::string const& pod_namespace) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
    arguments.insert(arguments.begin(), path_of_program());
    std::vector<std::string> environment{"POD_NAMESPACE=" + pod_namespace};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    int const failure = ::posix_spawn(&id_, arguments.front().c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                      pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failure != 0) {
        ::close(ends[0]);
        throw std::runtime_error{"can't start " + arguments.front()};
    }
    reader_ = std::thread{[this, descriptor = ends[0]] { read(descriptor); }};
}

Program::~Program() { stop(); }

void Program::read(int descriptor) {
    std::string unread;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
        unread.append(buffer.data(), static_cast<std::size_t>(size));
        for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
            std::lock_guard const lock{mutex_};
            lines_.push_back(unread.substr(0, end));
            unread.erase(0, end + 1);
            auto const line = base::parse_json(lines_.back());
            if (line && base::text_of(base::member(*line, "msg")) == "serving") {
                port_ = static_cast<std::uint16_t>(base::integer_of(base::member(*line, "port")));
            }
        }
        changed_.notify_all();
    }
    ::close(descriptor);
    std::lock_guard const lock{mutex_};
    ended_ = true;
    changed_.notify_all();
}

std::optional<std::uint16_t> Program::port() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, kPatience, [&] { return port_ || ended_; });
    return port_;
}

void Program::ask_to_end() {
    if (!status_) ::kill(id_, SIGTERM);
}

int Program::stop() {
    if (status_) return *status_;
    ask_to_end();
    {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, kPatience, [&] { return ended_; })) ::kill(id_, SIGKILL);
    }
    int status = 0;
    ::waitpid(id_, &status, 0);
    reader_.join();
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return *status_;
}

std::vector<std::string> Program::output() const {
    std::lock_guard const lock{mutex_};
    return lines_;
}

std::size_t Program::count(std::string const& message) const {
    std::lock_guard const lock{mutex_};
    return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](std::string const& line) {
        auto const json = base::parse_json(line);
        return json && base::text_of(base::member(*json, "msg")) == message;
    }));
}

}  // namespace integration
