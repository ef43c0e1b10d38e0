#include "tests/support/builders.hpp"

#include "base/base64.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/condition.hpp"

namespace support {
namespace {

Json object_of(k8s::Resource const& resource, k8s::ObjectKey const& key) {
    Json object = json(R"({"metadata": {}})");
    object["apiVersion"] = k8s::api_version(resource);
    object["kind"] = resource.kind;
    object["metadata"]["name"] = key.name;
    if (!key.namespace_.empty()) object["metadata"]["namespace"] = key.namespace_;
    return object;
}

k8s::ObjectKey in_provider_namespace(std::string const& name) { return {std::string{kProviderNamespace}, name}; }

std::string kubeconfig_name(std::string const& access_request) { return access_request + ".kubeconfig"; }

Json with_ready_condition(Json object, k8s::Condition condition) {
    condition.type = "Ready";
    condition.observed_generation = k8s::generation_of(object);
    object["status"]["conditions"] = k8s::with_condition(base::member(object, "status", "conditions"), condition, kNoon);
    object["status"]["observedGeneration"] = k8s::generation_of(object);
    return object;
}

}  // namespace

Json json(std::string_view text) { return base::parse_json(text).value(); }

kro::Tenant tenant_named(std::string name) { return {std::string{kOnboardingNamespace}, std::move(name)}; }

Json kro_named(std::string const& name, std::string const& version) {
    Json object = object_of(kro::kKros, {std::string{kOnboardingNamespace}, name});
    object["spec"]["version"] = version;
    return object;
}

Json provider_config(Json spec) {
    Json object = object_of(kro::kProviderConfigs, {{}, "kro"});
    object["spec"] = std::move(spec);
    return object;
}

Json secret(std::string const& name, std::string const& type, Json const& data) {
    Json object = object_of(k8s::kSecrets, in_provider_namespace(name));
    object["type"] = type;
    object["data"] = Json::object();
    for (auto const& [key, value] : data.items()) object["data"][key] = base::encode_base64(value.get<std::string>());
    return object;
}

Json pull_secret(std::string const& name, std::string const& registry) {
    Json data = Json::object();
    data[".dockerconfigjson"] = R"({"auths":{")" + registry + R"(":{"auth":"dXNlcjpwYXNz"}}})";
    return secret(name, "kubernetes.io/dockerconfigjson", data);
}

Json ca_bundle(std::string const& name, std::string const& key) {
    Json object = object_of(k8s::kConfigMaps, in_provider_namespace(name));
    object["data"][key] = "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n";
    return object;
}

Json resource_graph_definition(std::string const& name) { return object_of(kro::kResourceGraphDefinitions, {{}, name}); }

Json access_request(kro::Tenant const& tenant) {
    std::string const namespace_ = kro::tenant_namespace(tenant);
    Json object = object_of(kro::kAccessRequests, {namespace_, kro::request_name(tenant)});
    object["metadata"]["finalizers"] = json(R"(["clusters.openmcp.cloud/clusteraccess"])");
    object["metadata"]["labels"] = kro::tenant_labels(tenant);
    object["metadata"]["labels"]["openmcp.cloud/managed-purpose"] =
        kro::shorten(tenant.namespace_ + "." + tenant.name + ".mcp", 63);
    object["spec"] = json(R"({
        "token": {"permissions": [{"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}],
                  "roleRefs": [{"kind": "ClusterRole", "name": "cluster-admin"}]}})");
    object["spec"]["requestRef"]["name"] = tenant.name;
    object["spec"]["requestRef"]["namespace"] = namespace_;
    return object;
}

Json granted(Json request) {
    request["metadata"].emplace("generation", 1);
    request["status"]["phase"] = "Granted";
    request["status"]["observedGeneration"] = k8s::generation_of(request);
    request["status"]["secretRef"]["name"] = kubeconfig_name(k8s::name_of(request));
    return request;
}

Json kubeconfig_secret(kro::Tenant const& tenant) {
    std::string const name = kubeconfig_name(kro::request_name(tenant));
    std::string const text =
        "apiVersion: v1\nkind: Config\ncurrent-context: mcp\n"
        "clusters: [{name: mcp, cluster: {server: \"https://mcp.test:6443\"}}]\n"
        "contexts: [{name: mcp, context: {cluster: mcp, user: kro}}]\n"
        "users: [{name: kro, user: {token: t0ken}}]\n";
    Json data = Json::object();
    data["kubeconfig"] = text;
    return in_namespace(secret(name, "Opaque", data), kro::tenant_namespace(tenant));
}

Json oci_repository(kro::Tenant const& tenant, std::string const& tag) {
    Json object = object_of(kro::kOciRepositories, {kro::tenant_namespace(tenant), "kro-oci-repository"});
    object["spec"] =
        json(R"({"interval": "1m0s", "provider": "generic", "timeout": "60s", "url": "oci://registry.k8s.io/kro/charts/kro"})");
    object["spec"]["ref"]["tag"] = tag;
    return object;
}

Json helm_release(kro::Tenant const& tenant) {
    std::string const namespace_ = kro::tenant_namespace(tenant);
    Json object = object_of(kro::kHelmReleases, {namespace_, "kro-helm-release"});
    object["spec"] = json(R"({
        "chartRef": {"kind": "OCIRepository", "name": "kro-oci-repository"},
        "install": {"crds": "Create", "createNamespace": true, "remediation": {"retries": 3}},
        "interval": "1m0s",
        "kubeConfig": {"secretRef": {"key": "kubeconfig"}},
        "releaseName": "kro",
        "storageNamespace": "kro-system",
        "targetNamespace": "kro-system",
        "upgrade": {"cleanupOnFail": true, "crds": "CreateReplace", "remediation": {"retries": 3, "strategy": "rollback"}}})");
    object["spec"]["chartRef"]["namespace"] = namespace_;
    object["spec"]["kubeConfig"]["secretRef"]["name"] = kubeconfig_name(kro::request_name(tenant));
    return object;
}

std::string digest_of(std::string const& tag) { return "sha256:" + kro::hash8(tag); }

Json ready(Json object, std::string const& tag) {
    object["metadata"].emplace("generation", 1);
    if (object["kind"] == "OCIRepository") object["status"]["artifact"]["revision"] = tag + "@" + digest_of(tag);
    if (object["kind"] == "HelmRelease") object["status"]["lastAttemptedRevisionDigest"] = digest_of(tag);
    return with_ready_condition(std::move(object),
                                {.type = {}, .status = "True", .reason = "Succeeded", .message = "as it should be"});
}

Json not_ready(Json object, std::string const& reason, std::string const& message) {
    object["metadata"].emplace("generation", 1);
    return with_ready_condition(std::move(object), {.type = {}, .status = "False", .reason = reason, .message = message});
}

Json stored(Json object) {
    object["metadata"].emplace("uid", "uid-of-" + k8s::name_of(object));
    object["metadata"].emplace("resourceVersion", "100");
    object["metadata"].emplace("generation", 1);
    return object;
}

Json deleted(Json object) {
    object["metadata"]["deletionTimestamp"] = base::rfc3339(kNoon);
    return object;
}

Json with_finalizer(Json object, std::string_view finalizer) {
    object["metadata"]["finalizers"].push_back(finalizer);
    return object;
}

Json annotated(Json object, std::string_view annotation, std::string_view value) {
    object["metadata"]["annotations"][std::string{annotation}] = value;
    return object;
}

Json labelled(Json object, std::string_view label, std::string_view value) {
    object["metadata"]["labels"][std::string{label}] = value;
    return object;
}

Json ours(Json object, kro::Tenant const& tenant) {
    object["metadata"]["labels"].update(kro::tenant_labels(tenant));
    object["metadata"]["annotations"].update(kro::tenant_annotations(tenant));
    return object;
}

Json in_namespace(Json object, std::string_view namespace_) {
    object["metadata"]["namespace"] = namespace_;
    return object;
}

}  // namespace support
