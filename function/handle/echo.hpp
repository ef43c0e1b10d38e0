#pragma once

#include "function/reconcile/reconcile.hpp"
#include "function/tenant/shake128.hpp"

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kro {

/// What is said of an event that is one.
inline constexpr std::string_view kEcho = "an echo of our own write";

/// The latest states that our own writes left behind. An event about exactly such a state tells nothing new: the run that wrote it has
/// planned on what the write returned. Safe to use from several threads.
///
/// States are kept as digests: thousands of names and versions would outlive what was allocated around them, and hold its pages. Nobody can
/// choose a name so that news about somebody else's object has the digest of an echo.
class Echo {
  public:
    void remember(std::vector<Written> const& written);
    bool knows(std::string const& object, std::string const& resource_version) const;

  private:
    struct Hash {
        std::size_t operator()(Digest const& digest) const;
    };
    static Digest digest_of(std::string const& object, std::string const& resource_version);

    mutable std::mutex mutex_;
    std::unordered_set<Digest, Hash> known_;
    std::deque<Digest> order_;  ///< oldest first
};

}  // namespace kro
