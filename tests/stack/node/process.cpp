#include "tests/stack/node/process.hpp"

#include "tests/stack/node/pod_ports.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

namespace node {
namespace {

constexpr int kCannotStart = 127;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// What the new process does first. Between fork and exec of a program with several threads only system calls are safe.
struct Beginning {
    char const* program;
    char* const* arguments;
    char* const* environment;
    char const* folder;
    int input;
    int log;
    int node;  ///< the socket to the node
    pid_t parent;

    [[noreturn]] void run() const noexcept {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(kCannotStart);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::signal(SIGPIPE, SIG_DFL);
        ::setpgid(0, 0);
        ::dup2(input, STDIN_FILENO);
        ::dup2(log, STDOUT_FILENO);
        ::dup2(log, STDERR_FILENO);
        bool const handed_over = hand_over_binds(node);
        // The node's connections are its own; not every library opens them so that exec closes them.
        ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        if (handed_over && ::chdir(folder) == 0) ::execve(program, arguments, environment);
        ::_exit(kCannotStart);
    }
};

}  // namespace

base::Result<Process, std::string> start(Command const& command) {
    std::vector<std::string> arguments{command.program.string()};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    std::map<std::string, std::string> variables;
    for (auto const& [name, value] : command.environment) variables[name] = value;
    std::vector<std::string> environment;
    for (auto const& [name, value] : variables) environment.push_back(name + "=" + value);
    auto const argument_pointers = pointers_to(arguments);
    auto const environment_pointers = pointers_to(environment);
    std::string const folder = command.folder.string();

    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return base::Failure{std::string{"no socket"}};
    int const input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    int const log = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    Beginning const beginning{arguments[0].c_str(),
                              argument_pointers.data(),
                              environment_pointers.data(),
                              folder.c_str(),
                              input,
                              log,
                              ends[1],
                              ::getpid()};
    pid_t const id = ::fork();
    if (id == 0) beginning.run();
    for (int const descriptor : {input, log, ends[1]}) ::close(descriptor);
    int const binds = id > 0 ? receive_descriptor(ends[0]) : -1;
    ::close(ends[0]);
    if (id > 0 && binds < 0) {
        ::kill(id, SIGKILL);
        ::waitpid(id, nullptr, 0);
        return base::Failure{"can't start " + arguments[0] +
                             ": this kernel does not hand over bind() (seccomp user notification)"};
    }
    if (id < 0) return base::Failure{"can't start " + arguments[0] + ": " + std::strerror(errno)};
    return Process{id, binds};
}

}  // namespace node
