#include "function/echo.hpp"

namespace kro {
namespace {

constexpr std::size_t kRemembered = 4096;

std::string key_of(std::string const& object, std::string const& resource_version) { return object + "@" + resource_version; }

}  // namespace

void Echo::remember(std::vector<Written> const& written) {
    std::lock_guard const lock{mutex_};
    for (auto const& one : written) {
        if (one.resource_version.empty()) continue;
        std::string key = key_of(one.object, one.resource_version);
        if (!known_.insert(key).second) continue;
        order_.push_back(std::move(key));
        if (order_.size() <= kRemembered) continue;
        known_.erase(order_.front());
        order_.pop_front();
    }
}

bool Echo::knows(std::string const& object, std::string const& resource_version) const {
    if (resource_version.empty()) return false;
    std::lock_guard const lock{mutex_};
    return known_.contains(key_of(object, resource_version));
}

}  // namespace kro
