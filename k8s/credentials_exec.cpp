#include "k8s/credentials_exec.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <mutex>

namespace k8s {
namespace {

using base::Failure;
using base::Json;
using base::member;
using base::text_of;
using Shared = std::shared_ptr<Credentials const>;

constexpr std::size_t kOutputLimit = 1024 * 1024;
constexpr std::chrono::seconds kEarly{10};

Failure<Error> failed(ExecPlugin const& plugin, std::string_view what) {
    return unusable("exec plugin " + plugin.command + " " + std::string{what} + "; run it by hand to see why");
}

std::vector<std::string> environment_for(ExecPlugin const& plugin) {
    std::vector<std::string> added;
    for (auto const& [name, value] : plugin.environment) added.push_back(name + "=" + value);
    Json const info = {{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}};
    Json whole = info;
    if (!plugin.cluster.is_null()) whole["spec"]["cluster"] = plugin.cluster;
    added.push_back("KUBERNETES_EXEC_INFO=" + base::dump_json(whole));

    std::vector<std::string> all = added;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string_view const inherited{*entry};
        auto const name = inherited.substr(0, inherited.find('=') + 1);
        bool const replaced = std::any_of(added.begin(), added.end(), [&](auto const& own) { return own.starts_with(name); });
        if (!replaced) all.emplace_back(inherited);
    }
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Starts the plugin in a process group of its own; none where it can't be started.
std::optional<pid_t> start(ExecPlugin const& plugin, int output) {
    std::vector<std::string> words{plugin.command};
    words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
    std::vector<std::string> environment = environment_for(plugin);
    auto const argv = pointers_to(words);
    auto const envp = pointers_to(environment);

    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t defaults{};
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);

    pid_t child = 0;
    int const failure = posix_spawnp(&child, plugin.command.c_str(), &files, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failure == 0 ? std::optional{child} : std::nullopt;
}

/// Everything up to the end of the output; none where it is too much or too slow.
std::optional<std::string> read_all(int input, base::Deadline deadline) {
    std::string text;
    std::array<char, 4096> part{};
    while (text.size() <= kOutputLimit) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waited{input, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
        ssize_t const count = ::read(input, part.data(), part.size());
        if (count < 0) return std::nullopt;
        if (count == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    return std::nullopt;
}

Result<std::string> output_of(ExecPlugin const& plugin) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed(plugin, "could not be given a pipe");
    auto const child = start(plugin, pipe[1]);
    ::close(pipe[1]);
    auto text = child ? read_all(pipe[0], std::chrono::steady_clock::now() + plugin.time_limit) : std::nullopt;
    ::close(pipe[0]);
    if (!child) return failed(plugin, "could not be started");
    if (!text) ::kill(-*child, SIGKILL);
    int status = 0;
    ::waitpid(*child, &status, 0);
    if (!text) return failed(plugin, "did not finish in time, or printed too much");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return failed(plugin, WIFEXITED(status) ? "ended with status " + std::to_string(WEXITSTATUS(status)) : "was killed");
    }
    return *text;
}

struct Printed {
    Credentials credentials;
    std::optional<base::Time> expires;
};

Result<Printed> read_credential(ExecPlugin const& plugin, std::string_view output) {
    auto const parsed = base::parse_json(output);
    if (!parsed || text_of(member(*parsed, "kind")) != "ExecCredential") return failed(plugin, "printed no ExecCredential");
    if (text_of(member(*parsed, "apiVersion")) != plugin.api_version)
        return failed(plugin, "printed another apiVersion than asked for");

    Json const& status = member(*parsed, "status");
    Printed printed;
    auto const token = clean_token(text_of(member(status, "token")));
    if (!token) return failed(plugin, "printed a token with control characters");
    printed.credentials.token = *token;
    printed.credentials.client_certificate = text_of(member(status, "clientCertificateData"));
    printed.credentials.client_key = text_of(member(status, "clientKeyData"));
    if (printed.credentials.client_certificate.empty() != printed.credentials.client_key.empty()) {
        return failed(plugin, "printed a client certificate without its key, or a key without its certificate");
    }
    if (token->empty() && printed.credentials.client_key.empty())
        return failed(plugin, "printed neither a token nor a client certificate");
    if (auto const text = text_of(member(status, "expirationTimestamp")); !text.empty()) {
        printed.expires = base::parse_rfc3339(text);
        if (!printed.expires) return failed(plugin, "printed an expirationTimestamp that is no RFC 3339 time");
    }
    return printed;
}

struct State {
    ExecPlugin plugin;
    base::Clock clock;
    std::mutex mutex;
    Shared current;
    std::optional<base::Time> expires;
};

}  // namespace

CredentialSource exec_credentials(ExecPlugin plugin, base::Clock clock) {
    auto const state = std::make_shared<State>();
    state->plugin = std::move(plugin);
    state->clock = std::move(clock);
    return [state](Freshness freshness) -> Result<Shared> {
        std::lock_guard const lock{state->mutex};
        bool const expired = state->expires && state->clock() + kEarly >= *state->expires;
        if (state->current && !expired && freshness == Freshness::Cached) return state->current;
        std::string const output = TRY(output_of(state->plugin));
        Printed printed = TRY(read_credential(state->plugin, output));
        state->expires = printed.expires;
        if (!state->current || *state->current != printed.credentials) {
            state->current = std::make_shared<Credentials const>(std::move(printed.credentials));
        }
        return state->current;
    };
}

}  // namespace k8s
