#pragma once

#include "events/archive.hpp"
#include "function/handle/handle.hpp"
#include "function/report/replay_report.hpp"

#include <functional>
#include <map>

namespace kro {

/// Adds up what a replay comes to. Memory: a few lines of text per tenant, whatever the number of events.
class ReplayTally {
  public:
    void add(Handled const& handled);
    /// An event that somebody else has answered.
    void add(Outcome const& outcome);
    void add(events::Unreadable const& entry);

    std::size_t events() const { return summary_.events; }
    std::size_t unreadable() const { return summary_.unreadable; }
    /// Whether all could be read and no event needs another try, or can never be understood.
    bool is_clean() const;

    /// The sums so far. `complete`: whether the archives were read to their end; `is_gone`: whether there is no Kro of the tenant any more.
    ReplaySummary summary(bool complete, std::function<bool(Tenant const&)> const& is_gone) const;

  private:
    void add(Tenant const& tenant, Report const& report);

    ReplaySummary summary_;
    std::map<Tenant, ReplaySummary::Tenant> tenants_;
};

}  // namespace kro
