#include "k8s/credentials.hpp"

#include "base/base64.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

namespace k8s {
namespace {

using base::Failure;
using Shared = std::shared_ptr<Credentials const>;

constexpr std::size_t kTokenFileLimit = 64 * 1024;

/// Shorter ones would make every text unreadable, and protect nothing.
constexpr std::size_t kShortestSecret = 4;

constexpr std::string_view kRedacted = "[redacted]";

/// How base64 of any text that contains `secret` looks in the middle: once for each place in a group of three bytes, without the
/// characters that depend on what stands around it.
std::vector<std::string> base64_traces(std::string_view secret) {
    std::vector<std::string> traces;
    for (std::size_t const before : {0U, 1U, 2U}) {
        std::string const whole = base::encode_base64(std::string(before, '\0') + std::string{secret});
        std::size_t const from = before == 0 ? 0 : before + 1;
        std::size_t const to = (before + secret.size()) / 3 * 4 + (before + secret.size()) % 3;
        if (to > from + kShortestSecret) traces.push_back(whole.substr(from, to - from));
    }
    return traces;
}

std::vector<std::string> secrets_of(Credentials const& credentials) {
    std::vector<std::string> secrets;
    for (std::string const& secret : {credentials.token, credentials.password, credentials.client_key}) {
        if (secret.size() < kShortestSecret) continue;
        secrets.push_back(secret);
        auto traces = base64_traces(secret);
        secrets.insert(secrets.end(), traces.begin(), traces.end());
    }
    if (!credentials.username.empty()) secrets.push_back(base::encode_base64(credentials.username + ":" + credentials.password));
    std::sort(secrets.begin(), secrets.end(), [](auto const& a, auto const& b) { return a.size() > b.size(); });
    return secrets;
}

void replace_all(std::string& text, std::vector<std::string> const& secrets) {
    for (auto const& secret : secrets) {
        for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kRedacted.size())) {
            text.replace(at, secret.size(), kRedacted);
        }
    }
}

void replace_all(base::Json& value, std::vector<std::string> const& secrets) {
    if (value.is_string()) {
        replace_all(value.get_ref<std::string&>(), secrets);
    } else if (value.is_structured()) {
        for (auto& inner : value) replace_all(inner, secrets);
    }
}

struct TokenFile {
    std::filesystem::path file;
    std::mutex mutex;
    Shared current;
};

}  // namespace

CredentialSource fixed_credentials(Credentials credentials) {
    auto const shared = std::make_shared<Credentials const>(std::move(credentials));
    return [shared](Freshness) -> Result<Shared> { return shared; };
}

CredentialSource token_file(std::filesystem::path file, Credentials otherwise) {
    auto const state = std::make_shared<TokenFile>();
    state->file = std::move(file);
    state->current = std::make_shared<Credentials const>(std::move(otherwise));
    return [state](Freshness) -> Result<Shared> {
        auto const text = read_file(state->file, kTokenFileLimit);
        auto const token = text ? clean_token(*text) : std::nullopt;
        std::lock_guard const lock{state->mutex};
        if (token && !token->empty() && *token != state->current->token) {
            Credentials renewed = *state->current;
            renewed.token = *token;
            state->current = std::make_shared<Credentials const>(std::move(renewed));
        }
        if (!state->current->token.empty()) return state->current;
        return unusable("token file " + state->file.string() + " holds no token; check that it is mounted and readable");
    };
}

Failure<Error> unusable(std::string message) {
    Error error;
    error.kind = Error::Kind::Unusable;
    error.message = std::move(message);
    return Failure{std::move(error)};
}

std::optional<std::string> clean_token(std::string_view text) {
    while (!text.empty() && std::string_view{" \t\r\n"}.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
    bool const safe = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
    return safe ? std::optional{std::string{text}} : std::nullopt;
}

std::optional<std::string> read_file(std::filesystem::path const& file, std::size_t limit) {
    int const descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // a FIFO must not hold us up
    if (descriptor < 0) return std::nullopt;
    std::string text;
    std::array<char, 4096> part{};
    ssize_t count = 0;
    while (text.size() <= limit && (count = ::read(descriptor, part.data(), part.size())) > 0) {
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    ::close(descriptor);
    if (count < 0 || text.size() > limit) return std::nullopt;
    return text;
}

std::string authorization_of(Credentials const& credentials) {
    if (!credentials.token.empty()) return "Bearer " + credentials.token;
    if (!credentials.username.empty()) return "Basic " + base::encode_base64(credentials.username + ":" + credentials.password);
    return {};
}

std::string redact(std::string text, Credentials const& credentials) {
    replace_all(text, secrets_of(credentials));
    return text;
}

void redact(base::Json& value, Credentials const& credentials) { replace_all(value, secrets_of(credentials)); }

}  // namespace k8s
