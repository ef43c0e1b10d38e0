#include "function/reconcile/outcome.hpp"

#include <cstdlib>

namespace kro {

std::string_view name_of(Outcome::Kind kind) {
    switch (kind) {
        case Outcome::Kind::Done: return "Done";
        case Outcome::Kind::Waiting: return "Waiting";
        case Outcome::Kind::Retry: return "Retry";
        case Outcome::Kind::Rejected: return "Rejected";
    }
    std::abort();
}

}  // namespace kro
