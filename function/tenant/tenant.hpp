#pragma once

#include "base/json.hpp"
#include "k8s/object.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// Whose control plane: the Kro object's namespace and name on the onboarding cluster, which are the ManagedControlPlane's too.
struct Tenant {
    std::string namespace_;
    std::string name;

    auto operator<=>(Tenant const&) const = default;
};

/// "namespace/name": what logs, the tenant annotation and people call a tenant.
std::string to_string(Tenant const& tenant);

/// Reads "namespace/name"; none where a part is missing.
std::optional<Tenant> parse_tenant(std::string_view text);

/// The API group of this provider; also its name as a controller and the value of the managed-by label.
inline constexpr std::string_view kGroup = "kro.services.openmcp.cloud";

inline constexpr std::string_view kFinalizer = "kro.services.openmcp.cloud/finalizer";
inline constexpr std::string_view kAccessFinalizer = "clusters.openmcp.cloud/clusteraccess";
inline constexpr std::string_view kOperationAnnotation = "openmcp.cloud/operation";
inline constexpr std::string_view kAbandonAnnotation = "kro.services.openmcp.cloud/abandon";
inline constexpr std::string_view kTenantAnnotation = "kro.services.openmcp.cloud/tenant";
inline constexpr std::string_view kLeftoversAnnotation = "kro.services.openmcp.cloud/removes-pull-secrets";
/// In a replay, on objects that nobody has shown and that are taken to be there, since another one names them.
inline constexpr std::string_view kAssumedAnnotation = "kro.services.openmcp.cloud/assumed";
inline constexpr std::string_view kManagedByLabel = "openmcp.cloud/managed-by";
inline constexpr std::string_view kManagedPurposeLabel = "openmcp.cloud/managed-purpose";
inline constexpr std::string_view kOnboardingNameLabel = "openmcp.cloud/onboarding-name";
inline constexpr std::string_view kOnboardingNamespaceLabel = "openmcp.cloud/onboarding-namespace";

/// Kubernetes' limit for label values and for the names of most objects.
inline constexpr std::size_t kNameLimit = 63;

/// Eight characters that stand for `text`: the first 5 bytes of SHAKE128, base32 in lower case.
/// Source: openMCP's controller-utils; the platform computes the same.
std::string hash8(std::string_view text);

/// `text`, or where it is longer than `limit` its beginning, "--" and hash8 of the whole. `limit` is more than 10.
std::string shorten(std::string_view text, std::size_t limit);

/// A UUID made of SHAKE128 over `text`: always the same for the same text.
std::string stable_uuid(std::string_view text);

/// The tenant's namespace on the platform cluster, "mcp--<uuid>". Neither part of the tenant is empty.
std::string tenant_namespace(Tenant const& tenant);

/// The AccessRequest's name in the tenant namespace; `suffix` says which cluster: "mcp" or "wl".
std::string request_name(Tenant const& tenant, std::string_view suffix = "mcp");

/// The labels that lead an event about one of our objects back to its tenant: managed-by, onboarding-name, onboarding-namespace.
k8s::Json tenant_labels(Tenant const& tenant);

/// The annotation with the tenant's full names, since a shortened label can't be turned back.
k8s::Json tenant_annotations(Tenant const& tenant);

/// Whose object this is, by our annotation, or else by our labels where those fit its namespace; none where it is not one of ours or
/// where shortened labels leave it open.
std::optional<Tenant> tenant_of(k8s::Json const& object);

}  // namespace kro
