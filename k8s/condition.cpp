#include "k8s/condition.hpp"

namespace k8s {
namespace {

using base::member;
using base::text_of;

}  // namespace

std::optional<Condition> find_condition(Json const& object, std::string_view type) {
    auto const& conditions = member(object, "status", "conditions");
    if (!conditions.is_array()) return std::nullopt;
    for (auto const& condition : conditions) {
        if (text_of(member(condition, "type")) != type) continue;
        return Condition{std::string{type}, text_of(member(condition, "status")), text_of(member(condition, "reason")),
                         text_of(member(condition, "message")), base::integer_of(member(condition, "observedGeneration"))};
    }
    return std::nullopt;
}

Json with_condition(Json const& conditions, Condition const& condition, base::Time now) {
    std::string since = base::rfc3339(now);
    Json list = Json::array();
    if (conditions.is_array()) {
        for (auto const& other : conditions) {
            if (text_of(member(other, "type")) != condition.type) {
                list.push_back(other);
            } else if (text_of(member(other, "status")) == condition.status) {
                auto const then = text_of(member(other, "lastTransitionTime"));
                if (!then.empty()) since = then;
            }
        }
    }
    list.push_back(base::object("type", condition.type, "status", condition.status, "reason",
                                condition.reason.empty() ? "Unknown" : condition.reason, "message",
                                base::cut_utf8(base::valid_utf8(condition.message), kConditionMessageLimit), "observedGeneration",
                                condition.observed_generation, "lastTransitionTime", since));
    return list;
}

}  // namespace k8s
