#pragma once

#include "function/episode.hpp"
#include "function/handle.hpp"

namespace kro {

/// What a handler told its witness, as a person is told it. Differences need the contents of the requests (Keep::Contents): with
/// Keep::Sums there are none. Secrets are taken out of them. `where` is left to the caller.
Episode episode_of(Handled const& handled);

/// One tenant's part, without an event.
Episode::Part part_of(Report const& report);

}  // namespace kro
