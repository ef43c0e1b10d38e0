#include "function/tenant/desired.hpp"

#include "base/base64.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <array>

namespace kro {
namespace {

using base::object;
using k8s::Json;

constexpr char kOpaque[] = "Opaque";
constexpr std::array<std::string_view, 1> kData{"/data"};
constexpr std::array<std::string_view, 3> kOfRepository{"/spec/ref", "/spec/secretRef", "/spec/certSecretRef"};
constexpr std::array<std::string_view, 3> kOfRelease{"/spec/values", "/spec/kubeConfig", "/spec/chartRef"};

Json metadata(Tenant const& tenant, k8s::ObjectKey const& key, Json labels) {
    return object("name", key.name, "namespace", key.namespace_, "labels", std::move(labels), "annotations",
                  tenant_annotations(tenant));
}

Json metadata(Tenant const& tenant, k8s::ObjectKey const& key) { return metadata(tenant, key, tenant_labels(tenant)); }

/// The value at the JSON pointer; nullptr where there is none.
Json const* at(Json const& whole, std::string_view pointer) {
    Json const* value = &whole;
    while (!pointer.empty()) {
        std::size_t const end = std::min(pointer.find('/', 1), pointer.size());
        auto const found = value->is_object() ? value->find(pointer.substr(1, end - 1)) : value->end();
        if (!value->is_object() || found == value->end()) return nullptr;
        value = &*found;
        pointer.remove_prefix(end);
    }
    return value;
}

bool same_at(Json const& actual, Json const& wanted, std::string_view pointer) {
    Json const* const one = at(actual, pointer);
    Json const* const other = at(wanted, pointer);
    return one == nullptr || other == nullptr ? one == other : base::same_json(*one, *other);
}

bool has_member(Json const& actual, std::string const& name, Json const& wanted) {
    auto const found = actual.is_object() ? actual.find(name) : actual.end();
    return found != actual.end() && base::contains_json(*found, wanted);
}

/// Finalizers are a set: others have theirs beside ours.
bool has_finalizers(Json const& actual, Json const& wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](Json const& finalizer) { return k8s::has_finalizer(actual, base::text_of(finalizer)); });
}

}  // namespace

bool holds(Json const& actual, Desired const& desired) {
    for (auto const& [name, wanted] : desired.object.items()) {
        if (name != "metadata" && !has_member(actual, name, wanted)) return false;
    }
    Json const& metadata = base::member(actual, "metadata");
    for (auto const& [name, wanted] : desired.object["metadata"].items()) {
        if (!(name == "finalizers" ? has_finalizers(actual, wanted) : has_member(metadata, name, wanted))) return false;
    }
    return true;
}

bool differs(Json const& actual, Desired const& desired) {
    return !holds(actual, desired) || !correction(actual, desired).empty();
}

Json correction(Json const& actual, Desired const& desired) {
    Json patch = Json::array();
    for (auto const pointer : desired.exact) {
        if (same_at(actual, desired.object, pointer)) continue;
        if (Json const* const wanted = at(desired.object, pointer)) {
            patch.push_back({{"op", "add"}, {"path", pointer}, {"value", *wanted}});
        } else {
            patch.push_back({{"op", "remove"}, {"path", pointer}});
        }
    }
    if (patch.empty()) return patch;
    Json const test = {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", k8s::resource_version_of(actual)}};
    patch.insert(patch.begin(), test);
    return patch;
}

Json for_update(Desired const& desired, Json const& actual) {
    Json update = desired.object;
    update["metadata"]["uid"] = k8s::uid_of(actual);
    update["metadata"]["resourceVersion"] = k8s::resource_version_of(actual);
    return update;
}

Json access_request_labels(Tenant const& tenant) {
    Json labels = tenant_labels(tenant);
    labels[std::string{kManagedPurposeLabel}] = shorten(tenant.namespace_ + "." + tenant.name + ".mcp", kNameLimit);
    return labels;
}

Desired desired_access_request(Tenant const& tenant) {
    static Json const everything{
        {"permissions",
         Json::array({{{"rules", Json::array({{{"apiGroups", {"*"}}, {"resources", {"*"}}, {"verbs", {"*"}}}})}}})},
        {"roleRefs", Json::array({{{"kind", "ClusterRole"}, {"name", "cluster-admin"}}})}};
    std::string const namespace_ = tenant_namespace(tenant);
    Json whole = metadata(tenant, {namespace_, request_name(tenant)}, access_request_labels(tenant));
    whole["finalizers"] = Json::array({kAccessFinalizer});
    Json spec = object("requestRef", object("name", tenant.name, "namespace", namespace_), "token", everything);
    return {object("apiVersion", k8s::api_version(kAccessRequests), "kind", kAccessRequests.kind, "metadata", std::move(whole),
                   "spec", std::move(spec)),
            {}};
}

Desired desired_oci_repository(Tenant const& tenant, Chart const& chart, std::string const& ca_secret) {
    Json ref = Json::object();
    base::put_text(ref, "tag", chart.ref.tag);
    base::put_text(ref, "digest", chart.ref.digest);
    Json spec = object("interval", "1m0s", "url", chart.url, "ref", std::move(ref));
    if (!chart.pull_secret.empty()) spec["secretRef"] = object("name", chart.pull_secret);
    if (!ca_secret.empty()) spec["certSecretRef"] = object("name", ca_secret);
    return {object("apiVersion", k8s::api_version(kOciRepositories), "kind", kOciRepositories.kind, "metadata",
                   metadata(tenant, {tenant_namespace(tenant), std::string{kOciRepositoryName}}), "spec", std::move(spec)),
            kOfRepository};
}

Desired desired_helm_release(Tenant const& tenant, Chart const& chart, std::string const& kubeconfig_secret) {
    static Json const always{
        {"releaseName", "kro"},
        {"interval", "1m0s"},
        {"targetNamespace", kControlPlaneNamespace},
        {"storageNamespace", kControlPlaneNamespace},
        {"install", {{"crds", "Create"}, {"createNamespace", true}, {"remediation", {{"retries", 3}}}}},
        {"upgrade",
         {{"crds", "CreateReplace"}, {"cleanupOnFail", true}, {"remediation", {{"retries", 3}, {"strategy", "rollback"}}}}}};
    std::string const namespace_ = tenant_namespace(tenant);
    Json spec = always;
    spec["chartRef"] = object("kind", kOciRepositories.kind, "name", kOciRepositoryName, "namespace", namespace_);
    spec["kubeConfig"] = object("secretRef", object("name", kubeconfig_secret, "key", "kubeconfig"));
    if (!chart.values.is_null()) spec["values"] = chart.values;
    return {object("apiVersion", k8s::api_version(kHelmReleases), "kind", kHelmReleases.kind, "metadata",
                   metadata(tenant, {namespace_, std::string{kHelmReleaseName}}), "spec", std::move(spec)),
            kOfRelease};
}

Desired copied_secret(Tenant const& tenant, Json const& source, k8s::ObjectKey const& to) {
    return {object("apiVersion", "v1", "kind", "Secret", "metadata", metadata(tenant, to), "type",
                   base::text_of(base::member(source, "type")), "data", base::member(source, "data")),
            kData};
}

Desired ca_secret(Tenant const& tenant, std::string const& pem, k8s::ObjectKey const& to) {
    return {object("apiVersion", "v1", "kind", "Secret", "metadata", metadata(tenant, to), "type", kOpaque, "data",
                   object("ca.crt", base::encode_base64(pem))),
            kData};
}

Desired ca_config_map(Tenant const& tenant, std::string const& pem) {
    k8s::ObjectKey const to{std::string{kControlPlaneNamespace}, std::string{kCaBundleName}};
    return {object("apiVersion", "v1", "kind", "ConfigMap", "metadata", metadata(tenant, to), "data", object("ca.crt", pem)),
            kData};
}

Json bare_namespace(std::string_view name) {
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

}  // namespace kro
