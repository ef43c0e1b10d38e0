#include "function/tenant/provider_status.hpp"

#include "function/tenant/kro.hpp"
#include "k8s/condition.hpp"

#include <array>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::array<std::string_view, 3> kOurs{"Available", "Progressing", "Degraded"};

bool is_frozen(Json const& provider_config) { return operation_of(provider_config) == Operation::Ignore; }

k8s::Condition available(ProviderFindings const& findings) {
    if (findings.config_fault.empty()) return {"Available", "True", "Resynced", "Every tenant is looked at as configured"};
    return {"Available", "False", "InvalidConfiguration", findings.config_fault};
}

k8s::Condition progressing(ProviderFindings const& findings, bool frozen) {
    if (frozen) {
        return {"Progressing", "False", "Frozen",
                std::string{kOperationAnnotation} + "=ignore: nothing is created or changed until the annotation is removed"};
    }
    if (findings.tenants.ready == findings.tenants.total) return {"Progressing", "False", "Settled", "Every tenant is ready"};
    return {"Progressing", "True", "TenantsNotReady",
            "Some tenants are being installed, changed, held up or removed: kubectl get kro --all-namespaces"};
}

k8s::Condition degraded(ProviderFindings const& findings) {
    if (!findings.config_fault.empty()) return {"Degraded", "True", "InvalidConfiguration", findings.config_fault};
    if (!findings.interval_fault.empty()) return {"Degraded", "True", "InvalidPollInterval", findings.interval_fault};
    if (!findings.schedule_fault.empty()) return {"Degraded", "True", "ScheduleNotSet", findings.schedule_fault};
    return {"Degraded", "False", "AsExpected", "Nothing has to be put right"};
}

/// The condition of that type as it stands in the list; null where there is none.
Json const& condition_in(Json const& conditions, std::string_view type) {
    static Json const null;
    if (!conditions.is_array()) return null;
    for (auto const& condition : conditions) {
        if (text_of(member(condition, "type")) == type) return condition;
    }
    return null;
}

}  // namespace

void TenantCounts::add(std::string_view phase) {
    ++total;
    ++(phase == "Ready" ? ready : phase == "Terminating" ? terminating : progressing);
}

Json desired_provider_status(Json const& provider_config, ProviderFindings const& findings, base::Time now) {
    Json conditions = member(provider_config, "status", "conditions");
    for (auto condition : {available(findings), progressing(findings, is_frozen(provider_config)), degraded(findings)}) {
        condition.observed_generation = k8s::generation_of(provider_config);
        conditions = k8s::with_condition(conditions, condition, now);
    }
    Json ours = Json::array();
    for (auto const type : kOurs) ours.push_back(condition_in(conditions, type));
    return {{"observedGeneration", k8s::generation_of(provider_config)},
            {"lastResyncTime", base::rfc3339(now)},
            {"tenants",
             {{"total", findings.tenants.total},
              {"ready", findings.tenants.ready},
              {"progressing", findings.tenants.progressing},
              {"terminating", findings.tenants.terminating}}},
            {"conditions", std::move(ours)}};
}

bool provider_status_differs(Json const& provider_config, Json const& desired, PollSchedule const& schedule, base::Time now) {
    Json const& status = member(provider_config, "status");
    for (auto const* name : {"observedGeneration", "tenants"}) {
        if (member(status, name) != member(desired, name)) return true;
    }
    for (auto const& condition : member(desired, "conditions")) {
        if (condition_in(member(status, "conditions"), text_of(member(condition, "type"))) != condition) return true;
    }
    auto const last = last_resync_of(provider_config);
    // A tick that comes a moment early counts for its interval.
    constexpr std::chrono::milliseconds kEarly{500};
    return !last || now < *last || now - *last >= schedule.interval - kEarly;
}

std::optional<base::Time> last_resync_of(Json const& provider_config) {
    return base::parse_rfc3339(text_of(member(provider_config, "status", "lastResyncTime")));
}

}  // namespace kro
