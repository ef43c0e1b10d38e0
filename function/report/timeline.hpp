#pragma once

#include "function/report/episode.hpp"

#include <string>
#include <vector>

namespace kro {

/// One answered event for a person: what came in, whom it concerned and why, round by round what was looked at and written and why, with
/// its differences, how it ended and what the tenant's status says now. Several lines, the last one empty.
std::string timeline_entry(Episode const& episode);

/// The same for one tenant's part alone.
std::string timeline_of(Episode::Part const& part);

}  // namespace kro
