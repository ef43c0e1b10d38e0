#include "base/memory.hpp"

// Of mimalloc, where the program has it: see CMakeLists.txt.
extern "C" __attribute__((weak)) void mi_collect(bool force) noexcept;

namespace base {

void give_free_memory_back() {
    if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace base
