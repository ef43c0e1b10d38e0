#include "function/reconcile/plan.hpp"

#include "base/base64.hpp"
#include "function/reconcile/planner.hpp"

#include <algorithm>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Error;
using k8s::Json;

constexpr std::string_view kRequestedAt = "reconcile.fluxcd.io/requestedAt";
constexpr std::string_view kResetAt = "reconcile.fluxcd.io/resetAt";

/// What a person can do about it, where the error's own words leave that open.
std::string next_step(Error const& error) {
    switch (error.kind) {
        case Error::Kind::Forbidden: return "; grant this right to the function's ServiceAccount";
        case Error::Kind::Unauthorized: return "; the credentials are refused: renew them";
        case Error::Kind::NotFound: return error.type_not_served ? "; install what serves this kind" : "";
        case Error::Kind::Unavailable: return "; it will be tried again";
        case Error::Kind::Conflict:
        case Error::Kind::AlreadyExists:
        case Error::Kind::Invalid:
        case Error::Kind::Expired:
        case Error::Kind::Throttled:
        case Error::Kind::Unusable: return "";
    }
    std::abort();
}

}  // namespace

k8s::Request read_of(Target const& target) {
    if (target.resource.version.empty()) return k8s::discover(target.resource);
    if (!target.key.name.empty()) return k8s::get(target.resource, target.key);
    if (target.resource == kResourceGraphDefinitions) {
        k8s::Request request = k8s::list(target.resource, {});
        request.contents = k8s::Request::Contents::Metadata;
        request.limit = 500;
        return request;
    }
    return k8s::list(target.resource, target.key.namespace_, std::string{kManagedByLabel} + "=" + std::string{kGroup});
}

std::optional<Target> kubeconfig_target(Observed const& observed) {
    Target const request{Cluster::Platform, kAccessRequests, {tenant_namespace(observed.tenant), request_name(observed.tenant)}};
    auto const found = observed.seen.find(request);
    if (found == observed.seen.end() || !found->second.present()) return std::nullopt;
    std::string const name = text_of(member(found->second.object, "status", "secretRef", "name"));
    if (name.empty()) return std::nullopt;
    return Target{Cluster::Platform, k8s::kSecrets, {request.key.namespace_, name}};
}

base::Result<std::string, std::string> kubeconfig_text(Json const& secret) {
    std::string const where = "secret " + k8s::to_string(k8s::key_of(secret)) + ", key kubeconfig";
    auto text = base::decode_base64(text_of(member(secret, "data", "kubeconfig")));
    if (!text) return base::Failure{where + ": not base64"};
    if (text->empty()) return base::Failure{where + ": missing or empty"};
    return *std::move(text);
}

Planner::Planner(Observed const& observed, Provider const& provider_of_all, base::Time time)
    : tenant_namespace(kro::tenant_namespace(observed.tenant)),
      provider(provider_of_all),
      now(time),
      observed_(observed),
      kro_target_(subject({Cluster::Onboarding, observed.kros, {observed.tenant.namespace_, observed.tenant.name}})),
      provider_config_(subject({Cluster::Platform, kProviderConfigs, {{}, provider.name}})),
      access_request_(subject({Cluster::Platform, kAccessRequests, {tenant_namespace, request_name(observed.tenant)}})),
      oci_repository_(subject({Cluster::Platform, kOciRepositories, {tenant_namespace, std::string{kOciRepositoryName}}})),
      helm_release_(subject({Cluster::Platform, kHelmReleases, {tenant_namespace, std::string{kHelmReleaseName}}})) {
    kro = read_kro(seen(kro_target()).object);
    if (!is_orphaned()) return;
    kro.tenant = observed_.tenant;
    kro.being_deleted = true;
    kro.has_finalizer = true;
}

Json const& Planner::status() const {
    static Json const of_an_orphan = base::object("phase", name_of(Verdict::Phase::Terminating));
    return is_orphaned() ? of_an_orphan : member(seen(kro_target()).object, "status");
}

Target Planner::namespace_target() const { return {Cluster::Platform, k8s::kNamespaces, {{}, tenant_namespace}}; }
Target Planner::source(k8s::Resource const& resource, std::string const& name) const {
    return {Cluster::Platform, resource, {provider.namespace_, name}};
}
Target Planner::copy(std::string const& name) const { return {Cluster::Platform, k8s::kSecrets, {tenant_namespace, name}}; }
Target Planner::remote(k8s::Resource const& resource, std::string const& name) const {
    return {Cluster::ControlPlane, resource, {std::string{kControlPlaneNamespace}, name}};
}

Seen const Planner::kNothing{};

Planner::Subject Planner::subject(Target target) const {
    auto const found = observed_.seen.find(target);
    return {std::move(target), found == observed_.seen.end() ? nullptr : &found->second};
}

Seen const& Planner::seen(Target const& target) const {
    auto const found = observed_.seen.find(target);
    return found == observed_.seen.end() ? kNothing : found->second;
}

bool Planner::looked_at(Target const& target) const { return observed_.seen.contains(target); }

bool Planner::know(Target const& target) { return looked_at(target) || read(target); }
bool Planner::know(Subject const& subject) { return looked_at(subject) || read(subject); }

/// Is to be read; false.
bool Planner::read(Target const& target) {
    if (std::find(plan_.reads.begin(), plan_.reads.end(), target) == plan_.reads.end()) plan_.reads.push_back(target);
    return false;
}

bool Planner::know(std::vector<Target> const& targets) {
    bool all = true;
    for (auto const& target : targets) all = know(target) && all;
    return all;
}

void Planner::add(Step step) { plan_.steps.push_back(std::move(step)); }

void Planner::step(Cluster cluster, k8s::Request request, std::string why) {
    add({cluster, std::move(request), std::move(why), false});
}

Step Planner::metadata_patch(Target const& target, Json fields, std::string why) const {
    Json const& object = seen(target).object;
    fields["uid"] = k8s::uid_of(object);
    fields["resourceVersion"] = k8s::resource_version_of(object);
    return {target.cluster, k8s::merge_patch(target.resource, target.key, {{"metadata", std::move(fields)}}, kFieldManager),
            std::move(why), false};
}

void Planner::patch_metadata(Target const& target, Json fields, std::string why) {
    add(metadata_patch(target, std::move(fields), std::move(why)));
}

void Planner::ensure(Target const& target, Desired const& desired, std::string const& why) {
    Seen const& actual = seen(target);
    if (!actual.present()) {
        step(target.cluster, k8s::apply(target.resource, desired.object, kFieldManager), "create: " + why);
    } else if (!actual.applied && !holds(actual.object, desired)) {
        step(target.cluster, k8s::apply(target.resource, for_update(desired, actual.object), kFieldManager), "apply: " + why);
    } else if (Json patch = correction(actual.object, desired); !patch.empty()) {
        step(target.cluster, k8s::json_patch(target.resource, target.key, std::move(patch), kFieldManager), "correct: " + why);
    }
}

Plan Planner::go_on() {
    if (!plan_.reads.empty()) plan_.steps.clear();
    return std::move(plan_);
}

Plan Planner::end(Outcome outcome) {
    plan_.outcome = std::move(outcome);
    return go_on();
}

std::optional<Plan> Planner::failed(std::vector<Target> const& targets) {
    for (auto const& target : targets) {
        if (seen(target).failed()) return fail(target.cluster, *seen(target).error);
    }
    return std::nullopt;
}

/// Contract section 3, step 1: asks Flux to reconcile what there is, then takes the annotation off. Whether anything was left to do.
/// Where a fault keeps us from what there is, the annotation stays for the next try.
bool Planner::forward_reconcile_request() {
    if (kro.operation != Operation::Reconcile || kro.being_deleted || failing_) return false;
    if (!know({oci_repository(), helm_release()})) return true;
    if (seen(oci_repository()).failed() || seen(helm_release()).failed()) return false;
    std::string const token = base::rfc3339_nano(now);
    for (auto const& target : {oci_repository(), helm_release()}) {
        if (!seen(target).present() || k8s::annotation_of(seen(target).object, kRequestedAt) == token) continue;
        Json annotations = {{kRequestedAt, token}};
        if (target.resource == kHelmReleases) annotations[std::string{kResetAt}] = token;
        patch_metadata(target, {{"annotations", std::move(annotations)}}, "hand the request to reconcile on to Flux");
    }
    if (!has_steps()) {
        Json taken_off = {{kOperationAnnotation, nullptr}};
        patch_metadata(kro_target(), {{"annotations", std::move(taken_off)}}, "the request to reconcile is being met");
    }
    return true;
}

Plan Planner::conclude(Verdict const& verdict, Outcome::Kind kind, std::optional<Json> resources) {
    if (!plan_.reads.empty() || has_steps()) return go_on();
    if (forward_reconcile_request()) return go_on();
    plan_.outcome = {kind, verdict.message, std::nullopt};
    if (is_orphaned()) return go_on();
    Json const& known = member(status(), "resources");
    Json const wanted = desired_status(kro, status(), verdict, resources ? *resources : known, now);
    if (!status_differs(status(), wanted)) return go_on();

    Json object = {{"apiVersion", k8s::api_version(observed_.kros)},
                   {"kind", observed_.kros.kind},
                   {"metadata",
                    {{"name", kro.tenant.name},
                     {"namespace", kro.tenant.namespace_},
                     {"uid", kro.uid},
                     {"resourceVersion", kro.resource_version}}},
                   {"status", wanted}};
    step(Cluster::Onboarding, k8s::apply_status(observed_.kros, std::move(object), kFieldManager),
         "tell the tenant: " + verdict.message);
    bool const worth_an_event = verdict.reason == kReasonError || verdict.message.starts_with("deletion blocked");
    if (worth_an_event) {
        add({Cluster::Onboarding,
             k8s::create(k8s::kEvents, warning_event(kro, verdict.reason, verdict.message, now), kFieldManager),
             "record it as an Event", true});
    }
    return go_on();
}

Plan Planner::fail(Cluster cluster, Error const& error) {
    plan_ = {};
    failing_ = true;
    if (k8s::has_cause(error, "NamespaceTerminating")) {
        return conclude({phase_in_progress(), std::string{kReasonReconciling},
                         "Namespace " + tenant_namespace + " on the platform cluster is being deleted; waiting until it is gone"},
                        Outcome::Kind::Waiting);
    }
    bool const asked_to_wait =
        error.kind == Error::Kind::Throttled || (error.kind == Error::Kind::Unavailable && error.retry_after);
    if (cluster != Cluster::ControlPlane && asked_to_wait) {
        return end({Outcome::Kind::Retry, std::string{name_of(cluster)} + ": " + error.message, error.retry_after});
    }
    // A fault of one tenant's own control plane is not worth stalling the others: the next resync tries again.
    auto const kind = cluster != Cluster::ControlPlane && k8s::may_pass(error) ? Outcome::Kind::Retry : Outcome::Kind::Waiting;
    return conclude(
        {phase_in_progress(), std::string{kReasonError}, std::string{name_of(cluster)} + ": " + error.message + next_step(error)},
        kind);
}

Verdict::Phase Planner::phase_in_progress() const {
    return kro.being_deleted ? Verdict::Phase::Terminating : Verdict::Phase::Progressing;
}

bool Planner::is_ours(Json const& object) { return k8s::label_of(object, kManagedByLabel) == kGroup; }

std::optional<std::string> Planner::foreign_access(Json const& labels) const {
    Json const& request = seen(access_request()).object;
    for (auto const& [label, value] : labels.items()) {
        std::string const& ours = base::text_of(value);
        std::string const& actual = k8s::label_of(request, label);
        if (actual == ours) continue;
        return "AccessRequest " + k8s::to_string(k8s::key_of(request)) + " belongs to someone else: its label " + label +
               (actual.empty() ? " is missing" : " is \"" + actual + "\"") + ", not \"" + ours +
               "\"; rename or remove it, it is never taken over";
    }
    return std::nullopt;
}

Plan plan_for(Observed const& observed, Provider const& provider, base::Time now) {
    Planner planner{observed, provider, now};
    bool known = planner.know(planner.kro_target());
    known = planner.know(planner.provider_config()) && known;
    known = planner.know(planner.access_request()) && known;
    if (observed.expects_flux) {
        known = planner.know(planner.oci_repository()) && known;
        known = planner.know(planner.helm_release()) && known;
    }
    if (!known) return planner.go_on();

    Seen const& kro = planner.seen(planner.kro_target());
    if (kro.absent() && !observed.orphaned) return planner.end({Outcome::Kind::Done, "the Kro is gone", std::nullopt});
    if (kro.failed()) {
        return planner.end({Outcome::Kind::Retry, std::string{name_of(Cluster::Onboarding)} + ": " + kro.error->message,
                            kro.error->retry_after});
    }
    if (planner.kro.operation == Operation::Ignore) {
        return planner.end(
            {Outcome::Kind::Done, "left alone: " + std::string{kOperationAnnotation} + " is ignore", std::nullopt});
    }
    if (observed.failed_step) return planner.fail(observed.failed_step->cluster, observed.failed_step->error);
    return planner.kro.being_deleted ? plan_deletion(std::move(planner)) : plan_installation(std::move(planner));
}

}  // namespace kro
