#include "function/reconcile/act.hpp"

#include "function/reconcile/observe.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>

namespace kro {
namespace {

using k8s::Error;
using k8s::Json;
using k8s::Request;

Target target_of(Step const& step) { return {step.cluster, step.request.resource, step.request.key}; }

bool is_about_kro(Step const& step, Observed const& observed) { return step.request.resource == observed.kros; }

bool is_list_with(Target const& list, Target const& target) {
    return list.key.name.empty() && list.cluster == target.cluster && list.resource == target.resource;
}

/// An object that is being deleted may be there for a while, and the lists that it was in are out of date: all are looked at again.
void forget(Observed& observed, Target const& target) {
    std::erase_if(observed.seen, [&](auto const& entry) { return entry.first == target || is_list_with(entry.first, target); });
}

/// An object that was deleted and had nothing to wait for is nowhere any more.
void remove(Observed& observed, Target const& target) {
    observed.seen[target] = {};
    for (auto& [list, seen] : observed.seen) {
        auto const items = is_list_with(list, target) && seen.present() ? seen.object.find("items") : seen.object.end();
        if (items == seen.object.end()) continue;
        std::erase_if(items->get_ref<Json::array_t&>(), [&](Json const& item) { return k8s::key_of(item) == target.key; });
    }
}

void take_in(Observed& observed, Step const& step, Json object, Report& report) {
    Target const target = target_of(step);
    report.written.push_back({k8s::path_of(target.resource, target.key), k8s::resource_version_of(object)});
    bool const last_finalizer_gone = k8s::is_being_deleted(object) && k8s::finalizers_of(object).empty();
    if (step.request.verb == Request::Verb::Delete) {
        if (base::text_of(base::member(object, "kind")) == "Status") {
            remove(observed, target);
        } else {
            forget(observed, target);
        }
        return;
    }
    if (last_finalizer_gone && !is_about_kro(step, observed)) {
        forget(observed, target);
        return;
    }
    Seen seen;
    seen.state = Seen::State::Present;
    seen.applied = step.request.verb == Request::Verb::Apply && step.request.subresource.empty();
    seen.created = observed.seen[target].created || (seen.applied && k8s::uid_of(step.request.body).empty());
    seen.object = std::move(object);
    observed.seen[target] = std::move(seen);
}

/// What a failed write means; none where it is as good as done.
std::optional<Acted> judge(Observed& observed, Step const& step, Error const& error) {
    if (step.best_effort) return std::nullopt;
    bool const kro = is_about_kro(step, observed);
    switch (error.kind) {
        case Error::Kind::AlreadyExists: {
            Seen seen;
            seen.state = Seen::State::Present;
            observed.seen[target_of(step)] = std::move(seen);
            return std::nullopt;
        }
        case Error::Kind::NotFound:
            if (kro && !error.type_not_served) return Acted::Gone;
            if (step.request.verb == Request::Verb::Delete) {
                forget(observed, target_of(step));
                return std::nullopt;
            }
            if (!error.type_not_served) return Acted::Conflict;
            break;
        case Error::Kind::Conflict: return Acted::Conflict;
        case Error::Kind::Unauthorized:
        case Error::Kind::Forbidden:
        case Error::Kind::Invalid:
        case Error::Kind::Expired:
        case Error::Kind::Throttled:
        case Error::Kind::Unavailable:
        case Error::Kind::Unusable: break;
    }
    observed.failed_step = FailedStep{step.cluster, error};
    return kro && step.request.subresource == "status" ? Acted::Mute : Acted::Failed;
}

}  // namespace

Acted act(Clusters& clusters, Observed& observed, std::vector<Step> const& steps, base::Deadline deadline, Report& report) {
    std::vector<Addressed> round;
    round.reserve(steps.size());
    for (auto const& step : steps) round.push_back({step.cluster, step.request});
    auto answers = clusters.send(round, kubeconfig_of(observed), deadline);

    Acted worst = Acted::Well;
    Round exchanges;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Exchange exchange = exchange_of(round[i], answers[i], report.keep);
        exchange.why = steps[i].why;
        if (answers[i].result) {
            take_in(observed, steps[i], std::move(answers[i].result).value(), report);
        } else {
            if (auto const acted = judge(observed, steps[i], *exchange.error)) worst = std::max(worst, *acted);
        }
        exchanges.push_back(std::move(exchange));
    }
    add_round(report, std::move(exchanges));
    return worst;
}

}  // namespace kro
