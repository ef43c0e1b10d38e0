#include "function/tenant/status.hpp"

#include "function/tenant/kinds.hpp"
#include "k8s/condition.hpp"

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::string_view kReady = "Ready";
/// Source: Kubernetes' validation of Events, message.
constexpr std::size_t kEventMessageLimit = 1024;

bool used_up_its_retries(Json const& flux_object) {
    auto const stalled = k8s::find_condition(flux_object, "Stalled");
    auto const ready = k8s::find_condition(flux_object, kReady);
    constexpr std::string_view kRetriesExceeded = "RetriesExceeded";
    return (stalled && stalled->reason == kRetriesExceeded) || (ready && ready->reason == kRetriesExceeded);
}

/// The condition of ours, as the list of them has it; null where there is none.
Json const& ready_condition(Json const& conditions) {
    static Json const none;
    if (!conditions.is_array()) return none;
    for (auto const& condition : conditions) {
        if (text_of(member(condition, "type")) == kReady) return condition;
    }
    return none;
}

Json const& list_or_empty(Json const& value) {
    static Json const empty = Json::array();
    return value.is_array() ? value : empty;
}

}  // namespace

std::string_view name_of(Verdict::Phase phase) {
    switch (phase) {
        case Verdict::Phase::Progressing: return "Progressing";
        case Verdict::Phase::Ready: return "Ready";
        case Verdict::Phase::Terminating: return "Terminating";
    }
    std::abort();
}

Readiness readiness_of(Json const& flux_object) {
    auto const ready = k8s::find_condition(flux_object, kReady);
    std::int64_t const observed = base::integer_of(member(flux_object, "status", "observedGeneration"), -1);
    bool const current = observed == k8s::generation_of(flux_object);
    if (ready && ready->status == "True" && current) return {true, {}};
    if (!ready || (ready->status == "True" && !current)) return {false, "Flux has not acted on the latest change yet"};
    std::string message =
        ready->message.empty() ? "Flux reports " + (ready->reason.empty() ? "no reason" : ready->reason) : ready->message;
    if (used_up_its_retries(flux_object)) {
        message += "; Flux will not try again by itself: mend the cause, then annotate the Kro with " +
                   std::string{kOperationAnnotation} + "=reconcile";
    }
    return {false, message};
}

Readiness helm_release_readiness(Json const& helm_release, Json const& oci_repository) {
    Readiness readiness = readiness_of(helm_release);
    if (!readiness.ready) return readiness;
    std::string const acted_on = text_of(member(helm_release, "status", "lastAttemptedRevisionDigest"));
    std::string const revision = text_of(member(oci_repository, "status", "artifact", "revision"));
    auto const at = revision.find('@');
    if (acted_on.empty() || at == std::string::npos || revision.substr(at + 1) == acted_on) return readiness;
    return {false, "Flux has not acted on the chart " + revision.substr(0, at) + " yet"};
}

Json resource_entry(k8s::Resource const& resource, k8s::ObjectKey const& key, std::string_view phase,
                    std::string const& message) {
    Json entry = base::object("apiGroup", resource.group, "kind", resource.kind, "name", key.name, "namespace", key.namespace_,
                              "phase", phase, "location", "PlatformCluster");
    if (!message.empty()) entry["message"] = base::cut_utf8(base::valid_utf8(message), k8s::kConditionMessageLimit);
    return entry;
}

Json desired_status(Kro const& kro, Json const& before, Verdict const& verdict, Json const& resources, base::Time now) {
    k8s::Condition const ready{.type = std::string{kReady},
                               .status = verdict.phase == Verdict::Phase::Ready ? "True" : "False",
                               .reason = verdict.reason,
                               .message = verdict.message,
                               .observed_generation = kro.generation};
    Json conditions = k8s::with_condition(member(before, "conditions"), ready, now);
    // The last one; those of others are theirs to apply.
    Json ours = Json::array();
    ours.push_back(std::move(conditions.back()));
    return base::object("observedGeneration", kro.generation, "phase", name_of(verdict.phase), "conditions", std::move(ours),
                        "resources", list_or_empty(resources));
}

bool status_differs(Json const& status, Json const& desired) {
    return member(status, "observedGeneration") != member(desired, "observedGeneration") ||
           member(status, "phase") != member(desired, "phase") ||
           list_or_empty(member(status, "resources")) != member(desired, "resources") ||
           ready_condition(member(status, "conditions")) != desired["conditions"][0];
}

Json warning_event(Kro const& kro, std::string const& reason, std::string const& message, base::Time now) {
    std::string const since = base::rfc3339(now);
    std::string const text = base::cut_utf8(base::valid_utf8(message), kEventMessageLimit);
    return {{"apiVersion", "v1"},
            {"kind", "Event"},
            {"metadata",
             {{"name", shorten(kro.tenant.name, 200) + "." + hash8(kro.uid + kro.resource_version + reason + text)},
              {"namespace", kro.tenant.namespace_}}},
            {"involvedObject",
             {{"apiVersion", k8s::api_version(kKros)},
              {"kind", kKros.kind},
              {"name", kro.tenant.name},
              {"namespace", kro.tenant.namespace_},
              {"uid", kro.uid},
              {"resourceVersion", kro.resource_version}}},
            {"type", "Warning"},
            {"reason", reason},
            {"message", text},
            {"source", {{"component", kFieldManager}}},
            {"reportingComponent", kGroup},
            {"firstTimestamp", since},
            {"lastTimestamp", since},
            {"count", 1}};
}

}  // namespace kro
