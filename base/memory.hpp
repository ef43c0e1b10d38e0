#pragma once

namespace base {

/// Gives back to the system what the calling thread has freed and its allocator has kept for it. Does nothing where the program has no
/// allocator that is known to keep much.
void give_free_memory_back();

}  // namespace base
