#include "function/record/placeholder.hpp"

#include "base/text.hpp"
#include "function/server/descriptor.hpp"
#include "k8s/credentials.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace kro {
namespace {

constexpr std::string_view kPrefix = "redacted-";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kDigestBytes = 8;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kFileLimit = 4096;

std::string hex(unsigned char const* bytes, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += {kHex[bytes[i] >> 4U], kHex[bytes[i] & 0x0FU]};
    return text;
}

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        auto const written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Never under its own name before it is whole: another process that looks for it finds all of it or nothing.
base::Result<void, std::string> make_key(std::filesystem::path const& file) {
    std::array<unsigned char, kKeyBytes> key{};
    if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) return base::Failure{std::string{"no random bytes to be had"}};
    std::string name = file.string() + ".XXXXXX";
    Descriptor const made{::mkostemp(name.data(), O_CLOEXEC)};
    if (!made) return base::Failure{base::file_fault(file, "made")};
    bool const written = write_all(made.get(), hex(key.data(), key.size()) + "\n") && ::fsync(made.get()) == 0;
    bool const named = written && (::link(name.c_str(), file.c_str()) == 0 || errno == EEXIST);
    auto failure = base::Failure{base::file_fault(file, "made")};
    ::unlink(name.c_str());
    if (!named) return failure;
    return {};
}

}  // namespace

std::string Placeholders::of(std::string_view secret) const {
    if (secret.empty() || is_one(secret)) return std::string{secret};
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    auto const* made = HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
                            reinterpret_cast<unsigned char const*>(secret.data()), secret.size(), digest.data(), &size);
    if (made == nullptr) std::abort();
    return std::string{kPrefix} + hex(digest.data(), kDigestBytes);
}

bool Placeholders::is_one(std::string_view text) {
    return text.size() == kLength && text.starts_with(kPrefix) &&
           text.find_first_not_of(kHex, kPrefix.size()) == std::string_view::npos;
}

base::Result<std::string, std::string> key_in(std::filesystem::path const& file) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        errno = 0;
        if (auto const text = k8s::read_file(file, kFileLimit)) {
            std::string key = text->substr(0, text->find('\n'));
            bool const right = key.size() == 2 * kKeyBytes && key.find_first_not_of(kHex) == std::string::npos;
            if (!right) return base::Failure{file.string() + " holds no key of ours; remove it, and a new one is made"};
            ::chmod(file.c_str(), S_IRUSR | S_IWUSR);
            return key;
        }
        if (errno != ENOENT) return base::Failure{base::file_fault(file, "read")};
        TRY(make_key(file));
    }
    return base::Failure{file.string() + " is made and is gone again"};
}

}  // namespace kro
