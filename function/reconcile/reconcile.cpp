#include "function/reconcile/reconcile.hpp"

#include "function/reconcile/act.hpp"
#include "function/reconcile/observe.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>

namespace kro {
namespace {

using k8s::Error;

/// How often somebody else may be faster before the sender is asked to come back.
constexpr int kAttempts = 5;
/// More turns than any tenant needs: a plan that goes on longer does not settle, which is a fault of ours.
constexpr int kTurns = 40;

Target kro_target(Observed const& observed) {
    return {Cluster::Onboarding, observed.kros, {observed.tenant.namespace_, observed.tenant.name}};
}

/// The kubeconfig may have been rotated after it was read: it, and what was asked with it, is looked at once more.
bool forget_refused_credentials(Clusters& clusters, Observed& observed) {
    bool const refused = std::any_of(observed.seen.begin(), observed.seen.end(), [](auto const& entry) {
        return entry.first.cluster == Cluster::ControlPlane && entry.second.failed() &&
               entry.second.error->kind == Error::Kind::Unauthorized;
    });
    if (!refused) return false;
    clusters.forget(kubeconfig_of(observed));
    if (auto const secret = kubeconfig_target(observed)) observed.seen.erase(*secret);
    std::erase_if(observed.seen, [](auto const& entry) { return entry.first.cluster == Cluster::ControlPlane; });
    return true;
}

bool creates(Step const& step) {
    using Verb = k8s::Request::Verb;
    return step.request.verb == Verb::Create || (step.request.verb == Verb::Apply && k8s::uid_of(step.request.body).empty());
}

/// Nothing is made for a Kro on the word of a list: it may be gone by now. An update carries the version that it was planned on.
bool must_look_again(Observed& observed, std::vector<Step> const& steps) {
    return observed.seen[kro_target(observed)].listed && std::any_of(steps.begin(), steps.end(), creates);
}

/// One attempt. None where it has to start over: what was observed is out of date.
std::optional<Outcome> attempt(Context const& context, Observed& observed, base::Time now, base::Deadline deadline,
                               Report& report) {
    bool renewed = false;
    for (int turn = 0; turn < kTurns; ++turn) {
        Plan const plan = plan_for(observed, context.provider, now);
        if (!plan.reads.empty()) {
            observe(context.clusters, observed, plan.reads, deadline, report);
            if (!renewed) renewed = forget_refused_credentials(context.clusters, observed);
            Seen const& kro = observed.seen[kro_target(observed)];
            if (kro.failed() && kro.error->type_not_served && context.clusters.rediscover_kros(deadline)) return std::nullopt;
            continue;
        }
        if (plan.steps.empty()) return plan.outcome;
        if (must_look_again(observed, plan.steps)) {
            observe(context.clusters, observed, {kro_target(observed)}, deadline, report);
            continue;
        }
        switch (act(context.clusters, observed, plan.steps, deadline, report)) {
            case Acted::Well:
            case Acted::Failed: break;
            case Acted::Conflict: return std::nullopt;
            case Acted::Gone:
                observed.seen[kro_target(observed)] = {};
                return Outcome{Outcome::Kind::Done, "the Kro is gone", std::nullopt};
            case Acted::Mute:
                return Outcome{Outcome::Kind::Retry, observed.failed_step->error.message,
                               observed.failed_step->error.retry_after};
        }
    }
    return Outcome{Outcome::Kind::Retry, "the plan does not settle", std::nullopt};
}

bool has_made_something(Observed const& observed) {
    return std::any_of(observed.seen.begin(), observed.seen.end(), [](auto const& entry) { return entry.second.created; });
}

/// An AccessRequest goes before the finalizer of its Kro does, so one without a Kro was left behind, with all that it gave access to.
bool is_left_behind(Observed const& observed) {
    Target const request{Cluster::Platform, kAccessRequests, {tenant_namespace(observed.tenant), request_name(observed.tenant)}};
    auto const found = observed.seen.find(request);
    return found != observed.seen.end() && found->second.present() &&
           base::contains_json(base::member(found->second.object, "metadata", "labels"), tenant_labels(observed.tenant));
}

std::shared_ptr<Contents const> contents_of(k8s::Request const& request, k8s::Answer const& answer) {
    auto contents = std::make_shared<Contents>(Contents{request, nullptr});
    contents->request.visit = nullptr;
    if (answer.result) contents->answer = *answer.result;
    return contents;
}

}  // namespace

Exchange exchange_of(Addressed const& asked, k8s::Answer const& answer, Keep keep) {
    k8s::Request const& request = asked.request;
    Exchange exchange;
    exchange.cluster = asked.cluster;
    exchange.request = k8s::describe(request);
    exchange.write = !k8s::is_read(request.verb);
    if (!answer.result) exchange.error = answer.result.error();
    exchange.duration = answer.duration;
    exchange.subject = request.resource.kind.empty() ? k8s::api_version(request.resource) : std::string{request.resource.kind};
    if (!request.key.name.empty()) {
        exchange.subject += " " + request.key.name;
    } else if (exchange.subject.ends_with('y')) {
        exchange.subject.replace(exchange.subject.size() - 1, 1, "ies");
    } else {
        exchange.subject += "s";
    }
    if (keep == Keep::Contents) exchange.contents = contents_of(request, answer);
    return exchange;
}

void add_round(Report& report, Round round) {
    report.requests += round.size();
    report.writes +=
        static_cast<std::size_t>(std::count_if(round.begin(), round.end(), [](Exchange const& one) { return one.write; }));
    report.rounds.push_back(std::move(round));
}

Report reconcile(Context const& context, Tenant const& tenant, About about, base::Time now, base::Deadline deadline) {
    return reconcile(context, Observed{tenant, context.clusters.kros(), about == About::FluxObject, {}, std::nullopt}, now,
                     deadline);
}

Report reconcile(Context const& context, Observed observed, base::Time now, base::Deadline deadline) {
    Report report;
    report.tenant = observed.tenant;
    report.keep = context.keep;
    if (context.keep == Keep::Contents) report.given = observed.seen;
    bool made = false;
    for (int i = 0; i < kAttempts; ++i) {
        if (i > 0) {
            observed = {observed.tenant, context.clusters.kros(), observed.expects_flux, {}, std::nullopt, observed.orphaned};
        }
        auto outcome = attempt(context, observed, now, deadline, report);
        made = made || has_made_something(observed);
        if (!outcome) continue;
        if (!observed.orphaned && observed.seen[kro_target(observed)].absent() && (made || is_left_behind(observed))) {
            // Whoever deleted it did not know of what this run has made since, and no event would lead anybody to that. The Kro is asked for
            // once more: somebody may have made both since it was.
            observed.orphaned = true;
            continue;
        }
        report.outcome = *std::move(outcome);
        k8s::Json& kro = observed.seen[kro_target(observed)].object;
        if (kro.contains("status")) report.status = std::move(kro["status"]);
        return report;
    }
    report.outcome = {Outcome::Kind::Retry, "somebody else kept changing the same objects", std::nullopt};
    return report;
}

}  // namespace kro
