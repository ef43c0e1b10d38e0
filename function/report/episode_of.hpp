#pragma once

#include "function/handle/handle.hpp"
#include "function/record/redact.hpp"
#include "function/report/episode.hpp"

namespace kro {

/// What a handler told its witness, as a person is told it. Differences need the contents of the requests (Keep::Contents): with
/// Keep::Sums there are none. `redactor` takes the secrets out of them; without it they are as they are. `where` is left to the caller.
Episode episode_of(Handled const& handled, Redactor const* redactor = nullptr);

/// What an event says of itself: nothing of what it led to, and no time.
Episode episode_about(events::CloudEvent const& event);

/// One tenant's part, without an event.
Episode::Part part_of(Report const& report, Redactor const* redactor = nullptr);

}  // namespace kro
