#pragma once

#include "function/reconcile.hpp"

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
class Echo {
  public:
    void remember(std::vector<Written> const& written);
    bool knows(std::string const& object, std::string const& resource_version) const;

  private:
    mutable std::mutex mutex_;
    std::unordered_set<std::string> known_;
    std::deque<std::string> order_;  ///< oldest first
};

}  // namespace kro
