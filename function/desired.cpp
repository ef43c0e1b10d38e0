#include "function/desired.hpp"

#include "base/base64.hpp"
#include "function/kinds.hpp"

#include <algorithm>

namespace kro {
namespace {

using k8s::Json;

constexpr char kOpaque[] = "Opaque";

Json metadata(Tenant const& tenant, k8s::ObjectKey const& key) {
    return {{"name", key.name},
            {"namespace", key.namespace_},
            {"labels", tenant_labels(tenant)},
            {"annotations", tenant_annotations(tenant)}};
}

/// The value at the path, or null where there is none.
Json const& at(Json const& object, Json::json_pointer const& path) {
    static Json const null;
    return object.contains(path) ? object.at(path) : null;
}

bool same_at(Json const& actual, Json const& wanted, Json::json_pointer const& path) {
    if (actual.contains(path) != wanted.contains(path)) return false;
    return base::same_json(at(actual, path), at(wanted, path));
}

/// Finalizers are a set: others have theirs beside ours.
bool has_its_finalizers(Json const& actual, Json const& desired) {
    auto const wanted = k8s::finalizers_of(desired);
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](std::string const& finalizer) { return k8s::has_finalizer(actual, finalizer); });
}

bool contains(Json const& actual, Json const& desired) {
    if (!desired["metadata"].contains("finalizers")) return base::contains_json(actual, desired);
    Json rest = desired;
    rest["metadata"].erase("finalizers");
    return has_its_finalizers(actual, desired) && base::contains_json(actual, rest);
}

}  // namespace

bool differs(Json const& actual, Desired const& desired) {
    if (!contains(actual, desired.object)) return true;
    return !std::all_of(desired.exact.begin(), desired.exact.end(),
                        [&](auto const& path) { return same_at(actual, desired.object, path); });
}

Json correction(Json const& actual, Desired const& desired) {
    Json patch = Json::array();
    for (auto const& path : desired.exact) {
        if (same_at(actual, desired.object, path)) continue;
        if (desired.object.contains(path)) {
            patch.push_back({{"op", "add"}, {"path", path.to_string()}, {"value", at(desired.object, path)}});
        } else {
            patch.push_back({{"op", "remove"}, {"path", path.to_string()}});
        }
    }
    if (patch.empty()) return patch;
    Json const test = {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", k8s::resource_version_of(actual)}};
    patch.insert(patch.begin(), test);
    return patch;
}

Json for_update(Desired const& desired, Json const& actual) {
    Json object = desired.object;
    object["metadata"]["uid"] = k8s::uid_of(actual);
    object["metadata"]["resourceVersion"] = k8s::resource_version_of(actual);
    return object;
}

Desired desired_access_request(Tenant const& tenant) {
    std::string const namespace_ = tenant_namespace(tenant);
    Json object = {
        {"apiVersion", k8s::api_version(kAccessRequests)},
        {"kind", kAccessRequests.kind},
        {"metadata", metadata(tenant, {namespace_, request_name(tenant)})},
        {"spec",
         {{"requestRef", {{"name", tenant.name}, {"namespace", namespace_}}},
          {"token",
           {{"permissions",
             Json::array({{{"rules", Json::array({{{"apiGroups", {"*"}}, {"resources", {"*"}}, {"verbs", {"*"}}}})}}})},
            {"roleRefs", Json::array({{{"kind", "ClusterRole"}, {"name", "cluster-admin"}}})}}}}}};
    object["metadata"]["finalizers"] = Json::array({kAccessFinalizer});
    object["metadata"]["labels"][std::string{kManagedPurposeLabel}] =
        shorten(tenant.namespace_ + "." + tenant.name + ".mcp", kNameLimit);
    return {std::move(object), {}};
}

Desired desired_oci_repository(Tenant const& tenant, Chart const& chart, std::string const& ca_secret) {
    Json object = {{"apiVersion", k8s::api_version(kOciRepositories)},
                   {"kind", kOciRepositories.kind},
                   {"metadata", metadata(tenant, {tenant_namespace(tenant), std::string{kOciRepositoryName}})},
                   {"spec", {{"interval", "1m0s"}, {"url", chart.url}, {"ref", Json::object()}}}};
    Json& spec = object["spec"];
    if (!chart.ref.tag.empty()) spec["ref"]["tag"] = chart.ref.tag;
    if (!chart.ref.digest.empty()) spec["ref"]["digest"] = chart.ref.digest;
    if (!chart.pull_secret.empty()) spec["secretRef"] = {{"name", chart.pull_secret}};
    if (!ca_secret.empty()) spec["certSecretRef"] = {{"name", ca_secret}};
    return {std::move(object),
            {Json::json_pointer{"/spec/ref"}, Json::json_pointer{"/spec/secretRef"}, Json::json_pointer{"/spec/certSecretRef"}}};
}

Desired desired_helm_release(Tenant const& tenant, Chart const& chart, std::string const& kubeconfig_secret) {
    std::string const namespace_ = tenant_namespace(tenant);
    Json object = {
        {"apiVersion", k8s::api_version(kHelmReleases)},
        {"kind", kHelmReleases.kind},
        {"metadata", metadata(tenant, {namespace_, std::string{kHelmReleaseName}})},
        {"spec",
         {{"releaseName", "kro"},
          {"interval", "1m0s"},
          {"targetNamespace", kControlPlaneNamespace},
          {"storageNamespace", kControlPlaneNamespace},
          {"chartRef", {{"kind", kOciRepositories.kind}, {"name", kOciRepositoryName}, {"namespace", namespace_}}},
          {"install", {{"crds", "Create"}, {"createNamespace", true}, {"remediation", {{"retries", 3}}}}},
          {"upgrade",
           {{"crds", "CreateReplace"}, {"cleanupOnFail", true}, {"remediation", {{"retries", 3}, {"strategy", "rollback"}}}}},
          {"kubeConfig", {{"secretRef", {{"name", kubeconfig_secret}, {"key", "kubeconfig"}}}}}}}};
    if (!chart.values.is_null()) object["spec"]["values"] = chart.values;
    return {std::move(object),
            {Json::json_pointer{"/spec/values"}, Json::json_pointer{"/spec/kubeConfig"}, Json::json_pointer{"/spec/chartRef"}}};
}

Desired copied_secret(Tenant const& tenant, Json const& source, k8s::ObjectKey const& to) {
    Json object = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", metadata(tenant, to)},
                   {"type", base::text_of(base::member(source, "type"))},
                   {"data", base::member(source, "data")}};
    return {std::move(object), {Json::json_pointer{"/data"}}};
}

Desired ca_secret(Tenant const& tenant, std::string const& pem, k8s::ObjectKey const& to) {
    Json object = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", metadata(tenant, to)},
                   {"type", kOpaque},
                   {"data", {{"ca.crt", base::encode_base64(pem)}}}};
    return {std::move(object), {Json::json_pointer{"/data"}}};
}

Desired ca_config_map(Tenant const& tenant, std::string const& pem) {
    Json object = {{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", metadata(tenant, {std::string{kControlPlaneNamespace}, std::string{kCaBundleName}})},
                   {"data", {{"ca.crt", pem}}}};
    return {std::move(object), {Json::json_pointer{"/data"}}};
}

Json bare_namespace(std::string_view name) {
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

}  // namespace kro
