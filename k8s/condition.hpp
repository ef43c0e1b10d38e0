#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s {

using base::Json;

/// metav1.Condition, without the fields that follow from where it is written.
struct Condition {
    std::string type;
    std::string status;   ///< "True", "False" or "Unknown"
    std::string reason;   ///< CamelCase, never empty when written
    std::string message;  ///< at most kConditionMessageLimit bytes when written
    std::int64_t observed_generation = 0;
};

/// Source: k8s.io/apimachinery, metav1.Condition (maxLength of message).
inline constexpr std::size_t kConditionMessageLimit = 32768;

/// The condition of that type in `status.conditions` of `object`; none where it is absent.
std::optional<Condition> find_condition(Json const& object, std::string_view type);

/// `conditions` (a JSON list, or null) with `condition` in the place of every other of its type. `lastTransitionTime` is taken over
/// where the status stays the same, otherwise it is `now`. Conditions of other types stay as they are.
/// An empty reason becomes "Unknown"; a message that is too long is cut between characters.
/// Source: k8s.io/apimachinery, meta.SetStatusCondition.
Json with_condition(Json const& conditions, Condition const& condition, base::Time now);

}  // namespace k8s
