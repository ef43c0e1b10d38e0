#pragma once

#include "k8s/object.hpp"

#include <string_view>

namespace kro {

using k8s::Json;

/// `Kro` on the onboarding cluster. Where an older CRD with the plural `kroes` is installed, that plural is found by discovery.
inline constexpr k8s::Resource kKros{"kro.services.openmcp.cloud", "v1alpha1", "kros", "Kro"};
inline constexpr k8s::Resource kProviderConfigs{"kro.services.openmcp.cloud", "v1alpha1", "providerconfigs", "ProviderConfig",
                                                k8s::Resource::Scope::Cluster};
inline constexpr k8s::Resource kAccessRequests{"clusters.openmcp.cloud", "v1alpha1", "accessrequests", "AccessRequest"};
inline constexpr k8s::Resource kClusterRequests{"clusters.openmcp.cloud", "v1alpha1", "clusterrequests", "ClusterRequest"};
inline constexpr k8s::Resource kOciRepositories{"source.toolkit.fluxcd.io", "v1", "ocirepositories", "OCIRepository"};
inline constexpr k8s::Resource kHelmReleases{"helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease"};
/// Knative's: what sends us the ticks. Source: Knative Eventing v0.50.
inline constexpr k8s::Resource kPingSources{"sources.knative.dev", "v1", "pingsources", "PingSource"};
inline constexpr k8s::Resource kResourceGraphDefinitions{"kro.run", "v1alpha1", "resourcegraphdefinitions",
                                                         "ResourceGraphDefinition", k8s::Resource::Scope::Cluster};

inline constexpr std::string_view kOciRepositoryName = "kro-oci-repository";
inline constexpr std::string_view kHelmReleaseName = "kro-helm-release";
inline constexpr std::string_view kControlPlaneNamespace = "kro-system";
inline constexpr std::string_view kCaBundleName = "ca-bundle";

/// The manager of every field that this provider writes by server-side apply.
inline constexpr std::string_view kFieldManager = "kro-function";

}  // namespace kro
