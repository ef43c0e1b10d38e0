#include "function/outcome.hpp"

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

HttpAnswer answer_for(Outcome const& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::Done:
        case Outcome::Kind::Waiting: return {204, std::nullopt, {}};
        case Outcome::Kind::Retry: return {503, outcome.retry_after, outcome.why};
        case Outcome::Kind::Rejected: return {400, std::nullopt, outcome.why};
    }
    std::abort();
}

}  // namespace kro
