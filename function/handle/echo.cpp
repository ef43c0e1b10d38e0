#include "function/handle/echo.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace kro {
namespace {

constexpr std::size_t kRemembered = 4096;

}  // namespace

std::size_t Echo::Hash::operator()(Digest const& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
}

/// The first half of SHA-256: nobody can choose a name so that news about somebody else's object is taken for an echo.
Echo::Digest Echo::digest_of(std::string const& object, std::string const& resource_version) {
    static EVP_MD const* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    std::string const text = object + "@" + resource_version;
    std::array<unsigned char, EVP_MAX_MD_SIZE> whole{};
    if (EVP_Digest(text.data(), text.size(), whole.data(), nullptr, algorithm, nullptr) != 1) std::abort();
    Digest digest{};
    std::copy_n(whole.begin(), digest.size(), digest.begin());
    return digest;
}

void Echo::remember(std::vector<Written> const& written) {
    for (auto const& one : written) {
        if (one.resource_version.empty()) continue;
        Digest const digest = digest_of(one.object, one.resource_version);
        std::lock_guard const lock{mutex_};
        if (!known_.insert(digest).second) continue;
        order_.push_back(digest);
        if (order_.size() <= kRemembered) continue;
        known_.erase(order_.front());
        order_.pop_front();
    }
}

bool Echo::knows(std::string const& object, std::string const& resource_version) const {
    if (resource_version.empty()) return false;
    Digest const digest = digest_of(object, resource_version);
    std::lock_guard const lock{mutex_};
    return known_.contains(digest);
}

}  // namespace kro
