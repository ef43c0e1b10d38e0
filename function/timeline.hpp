#pragma once

#include "base/clock.hpp"
#include "events/cloud_event.hpp"
#include "function/reconcile.hpp"

#include <string>

namespace kro {

/// One answered event for a person: what came in, whom it concerned, which requests were made in which round and why, how it ended and
/// what the tenant's status says now. Several lines, the last one empty.
std::string timeline_entry(events::CloudEvent const& event, std::string const& whom, Report const& report, base::Time now);

}  // namespace kro
