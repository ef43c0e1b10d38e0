#include "function/handle/echo.hpp"

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

Digest Echo::digest_of(std::string const& object, std::string const& resource_version) {
    return shake128(object + "@" + resource_version);
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
