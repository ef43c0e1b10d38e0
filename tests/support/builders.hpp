#pragma once

#include "base/clock.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/object.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace support {

using base::Json;

inline constexpr base::Time kNoon{std::chrono::seconds{1'796'040'000}};  // 2026-11-30T12:00:00Z
inline constexpr base::Deadline kNever = base::Deadline::max();
inline constexpr std::string_view kOnboardingNamespace = "project-a--ws-b";
inline constexpr std::string_view kProviderNamespace = "openmcp-system";

/// The tenant of that name in kOnboardingNamespace.
kro::Tenant tenant_named(std::string name);

/// The JSON that `text` spells; throws where it is none.
Json json(std::string_view text);

// --- What users and operators write

Json kro_named(std::string const& name, std::string const& version = "0.9.1");
/// The ProviderConfig `kro`.
Json provider_config(Json spec = Json::object());
/// A Secret in the provider's namespace; `data` is plain text by key.
Json secret(std::string const& name, std::string const& type, Json const& data);
/// One of the type kubernetes.io/dockerconfigjson in the provider's namespace.
Json pull_secret(std::string const& name, std::string const& registry = "registry.test");
/// A ConfigMap with one PEM certificate under `key`, in the provider's namespace.
Json ca_bundle(std::string const& name, std::string const& key = "ca.crt");
Json resource_graph_definition(std::string const& name);

// --- What the platform and Flux hold, as the Go operator leaves it: no labels or annotations of ours but on the AccessRequest

Json access_request(kro::Tenant const& tenant);
/// Granted for its generation; the kubeconfig is in kubeconfig_secret().
Json granted(Json access_request);
Json kubeconfig_secret(kro::Tenant const& tenant);
Json oci_repository(kro::Tenant const& tenant, std::string const& tag = "0.9.1");
Json helm_release(kro::Tenant const& tenant);
/// Ready=True for its generation; an OCIRepository gets its artifact, a HelmRelease acted on the one of `tag`.
Json ready(Json flux_object, std::string const& tag = "0.9.1");
/// Ready=False for its generation.
Json not_ready(Json flux_object, std::string const& reason, std::string const& message);
/// `sha256:...`, the digest of the artifact that ready() gives an OCIRepository for this tag.
std::string digest_of(std::string const& tag);

// --- Changes to any object

/// As stored: uid, resourceVersion and generation filled in where they are missing. For tests without an API server.
Json stored(Json object);
/// With a deletionTimestamp.
Json deleted(Json object);
Json with_finalizer(Json object, std::string_view finalizer = kro::kFinalizer);
Json annotated(Json object, std::string_view annotation, std::string_view value);
Json labelled(Json object, std::string_view label, std::string_view value);
/// With the labels and the annotation that this provider puts on what it makes.
Json ours(Json object, kro::Tenant const& tenant);
Json in_namespace(Json object, std::string_view namespace_);

}  // namespace support
