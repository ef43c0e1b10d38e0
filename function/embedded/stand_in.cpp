#include "function/embedded/stand_in.hpp"

#include "base/base64.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/condition.hpp"

#include <chrono>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::string_view kPlatformManager = "platform";
constexpr std::string_view kFluxManager = "flux";
constexpr char kProviderLabel[] = "clusters.openmcp.cloud/provider";
constexpr char kProfileLabel[] = "clusters.openmcp.cloud/profile";
constexpr std::string_view kFluxFinalizer = "finalizers.fluxcd.io";
constexpr std::string_view kNoDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

k8s::ResourceRules access_request_rules() {
    k8s::ResourceRules rules;
    rules.validate = [](Json const& before, Json const& after) -> std::vector<k8s::Violation> {
        if (before.is_null() || member(before, "spec", "requestRef") == member(after, "spec", "requestRef")) return {};
        return {{"spec.requestRef", "requestRef is immutable"}};
    };
    return rules;
}

/// Flux's CRD fills these in.
k8s::ResourceRules oci_repository_rules() {
    k8s::ResourceRules rules;
    rules.fill_defaults = [](Json& object) {
        Json& spec = object["spec"];
        if (!spec.contains("provider")) spec["provider"] = "generic";
        if (!spec.contains("timeout")) spec["timeout"] = "60s";
    };
    return rules;
}

k8s::ResourceRules provider_config_rules() {
    k8s::ResourceRules rules;
    rules.fill_defaults = [](Json& object) {
        if (!object.contains("spec")) return;
        Json& spec = object["spec"];
        if (!spec.contains("chartURL")) spec["chartURL"] = "oci://registry.k8s.io/kro/charts/kro";
        if (!spec.contains("pollInterval")) spec["pollInterval"] = "1m";
    };
    return rules;
}

base::Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds{10}; }

bool up_to_date(Json const& object) {
    return base::integer_of(member(object, "status", "observedGeneration"), -1) == k8s::generation_of(object);
}

}  // namespace

void serve_onboarding_kinds(k8s::MemoryApi& api) { api.serve(kKros); }

void serve_platform_kinds(k8s::MemoryApi& api) {
    api.serve(kProviderConfigs, provider_config_rules());
    api.serve(kAccessRequests, access_request_rules());
    api.serve(kClusterRequests);
    api.serve(kOciRepositories, oci_repository_rules());
    api.serve(kHelmReleases);
    api.serve(kPingSources);
}

std::string pretended_kubeconfig(Json const& request) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: mcp\n"
           "clusters:\n- name: mcp\n  cluster: {server: \"https://mcp.invalid:6443\"}\n"
           "contexts:\n- name: mcp\n  context: {cluster: mcp, user: kro}\n"
           "users:\n- name: kro\n  user: {token: embedded-" +
           k8s::uid_of(request) + "}\n";
}

std::optional<Json> StandIn::find(k8s::Resource const& resource, k8s::ObjectKey key) {
    auto found = k8s::send_one(platform_, k8s::get(resource, std::move(key)), soon());
    return found ? std::optional{std::move(found).value()} : std::nullopt;
}

/// A write that fails met a newer change, which comes to react() by itself.
void StandIn::write(k8s::Request request) { static_cast<void>(k8s::send_one(platform_, std::move(request), soon())); }

void StandIn::react(k8s::Change const& change) {
    if (change.kind == k8s::Change::Kind::Deleted) return;
    auto const object = find(change.resource, k8s::key_of(change.object));
    if (!object) return;
    if (change.resource == kClusterRequests) grant_cluster(*object);
    if (change.resource == kAccessRequests) grant(*object);
    if (change.resource == kOciRepositories) fetch(*object);
    if (change.resource == kHelmReleases) install(*object);
}

void StandIn::write_status(k8s::Resource const& resource, Json const& object, Json status) {
    status["observedGeneration"] = k8s::generation_of(object);
    Json written = {{"apiVersion", k8s::api_version(resource)},
                    {"kind", resource.kind},
                    {"metadata", {{"name", k8s::name_of(object)}, {"namespace", k8s::namespace_of(object)}}},
                    {"status", std::move(status)}};
    write(k8s::apply_status(resource, std::move(written), kPlatformManager));
}

Json StandIn::ready_condition(Json const& object, std::string const& reason, std::string const& message) const {
    k8s::Condition const ready{"Ready", "True", reason, message, k8s::generation_of(object)};
    return k8s::with_condition(member(object, "status", "conditions"), ready, clock_());
}

void StandIn::grant_cluster(Json const& request) {
    if (k8s::is_being_deleted(request) || up_to_date(request)) return;
    write_status(
        kClusterRequests, request,
        {{"phase", "Granted"}, {"cluster", {{"name", k8s::name_of(request)}, {"namespace", k8s::namespace_of(request)}}}});
}

void StandIn::grant(Json const& request) {
    if (k8s::is_being_deleted(request) || up_to_date(request)) return;
    if (member(request, "spec", "clusterRef").is_null()) {
        // The platform's scheduler says which cluster it is before another of its controllers grants the access.
        Json patch = {{"metadata", {{"labels", {{kProviderLabel, "stand-in"}, {kProfileLabel, "stand-in"}}}}},
                      {"spec", {{"clusterRef", member(request, "spec", "requestRef")}}}};
        write(k8s::merge_patch(kAccessRequests, k8s::key_of(request), std::move(patch), kPlatformManager));
        return;
    }
    std::string const secret = k8s::name_of(request) + ".kubeconfig";
    Json object = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", {{"name", secret}, {"namespace", k8s::namespace_of(request)}}},
                   {"type", "Opaque"},
                   {"data", {{"kubeconfig", base::encode_base64(kubeconfig_(request))}}}};
    write(k8s::apply(k8s::kSecrets, std::move(object), kPlatformManager));
    write_status(kAccessRequests, request, {{"phase", "Granted"}, {"secretRef", {{"name", secret}}}});
}

void StandIn::fetch(Json const& repository) {
    if (k8s::is_being_deleted(repository) || up_to_date(repository)) return;
    Json const& ref = member(repository, "spec", "ref");
    std::string const tag = text_of(member(ref, "tag"));
    std::string const digest = text_of(member(ref, "digest"));
    std::string const revision = tag + "@" + (digest.empty() ? "sha256:" + stable_uuid(tag) : digest);
    write_status(kOciRepositories, repository,
                 {{"conditions", ready_condition(repository, "Succeeded", "stored artifact for digest '" + revision + "'")},
                  {"artifact",
                   {{"revision", revision},
                    {"digest", kNoDigest},
                    {"path", "chart.tar.gz"},
                    {"url", "http://source-controller.invalid/chart.tar.gz"},
                    {"lastUpdateTime", base::rfc3339(clock_())}}}});
    // helm-controller looks at a HelmRelease again when its chart's artifact is another one.
    auto const release = find(kHelmReleases, {k8s::namespace_of(repository), std::string{kHelmReleaseName}});
    if (release) install(*release);
}

void StandIn::install(Json const& release) {
    k8s::ObjectKey const key = k8s::key_of(release);
    bool const uninstalled = k8s::is_being_deleted(release);
    if (k8s::has_finalizer(release, kFluxFinalizer) == uninstalled) {
        Json finalizers = Json::array();
        for (auto const& finalizer : k8s::finalizers_of(release)) {
            if (finalizer != kFluxFinalizer) finalizers.push_back(finalizer);
        }
        if (!uninstalled) finalizers.push_back(kFluxFinalizer);
        Json patch = {{"metadata", {{"finalizers", std::move(finalizers)}}}};
        write(k8s::merge_patch(kHelmReleases, key, std::move(patch), kFluxManager));
    }
    if (uninstalled || !k8s::has_finalizer(release, kFluxFinalizer)) return;
    if (member(release, "spec", "suspend") == true) return;
    auto const repository = find(kOciRepositories, {key.namespace_, std::string{kOciRepositoryName}});
    if (!repository || !up_to_date(*repository)) return;
    std::string const revision = text_of(member(*repository, "status", "artifact", "revision"));
    std::string const digest = revision.substr(revision.find('@') + 1);
    if (up_to_date(release) && text_of(member(release, "status", "lastAttemptedRevisionDigest")) == digest) return;
    write_status(kHelmReleases, release,
                 {{"conditions", ready_condition(release, "InstallSucceeded",
                                                 "Helm install succeeded for release kro-system/kro with chart kro@" +
                                                     revision.substr(0, revision.find('@')))},
                  {"lastAttemptedRevisionDigest", digest}});
}

}  // namespace kro
