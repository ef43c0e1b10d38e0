#pragma once

#include "function/tenant/provider_config.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/object.hpp"

#include <span>
#include <string>
#include <string_view>

namespace kro {

/// An object as it should be: what is applied, and which parts of it are ours alone, so that whatever else is in there must go.
struct Desired {
    k8s::Json object;
    /// JSON pointers (RFC 6901), without escapes: compared both ways; a path that `object` lacks must be absent.
    std::span<std::string_view const> exact;
};

/// Whether everything that an apply of `desired` sets is in `actual` as it is set; there may be more.
bool holds(k8s::Json const& actual, Desired const& desired);

/// Whether `actual` is not as desired: it does not hold everything, or an exact part of it has more.
bool differs(k8s::Json const& actual, Desired const& desired);

/// A JSON patch that makes the exact parts of `actual` what they should be, tested against its resourceVersion: for what an apply
/// leaves, because another manager wrote it by update. Empty where nothing is left.
k8s::Json correction(k8s::Json const& actual, Desired const& desired);

/// `desired` for an object that was seen: with its uid and resourceVersion, so that neither a newer one is overwritten nor a deleted
/// one made anew.
k8s::Json for_update(Desired const& desired, k8s::Json const& actual);

/// The labels of the AccessRequest, by which it is ours.
k8s::Json access_request_labels(Tenant const& tenant);

Desired desired_access_request(Tenant const& tenant);

/// The OCIRepository. `ca_secret` is the name of the copied CA bundle, "" for none.
Desired desired_oci_repository(Tenant const& tenant, Chart const& chart, std::string const& ca_secret);

/// The HelmRelease. `kubeconfig_secret` is the AccessRequest's secret.
Desired desired_helm_release(Tenant const& tenant, Chart const& chart, std::string const& kubeconfig_secret);

/// A copy of `source` at `to`: type and data only, so that nothing of the original's identity goes along.
Desired copied_secret(Tenant const& tenant, k8s::Json const& source, k8s::ObjectKey const& to);

/// The CA bundle (PEM) as the Secret that an OCIRepository's `certSecretRef` takes: Opaque, key `ca.crt`.
Desired ca_secret(Tenant const& tenant, std::string const& pem, k8s::ObjectKey const& to);

/// The CA bundle (PEM) as the ConfigMap `ca-bundle`, key `ca.crt`, for what runs on the control plane.
Desired ca_config_map(Tenant const& tenant, std::string const& pem);

k8s::Json bare_namespace(std::string_view name);

}  // namespace kro
