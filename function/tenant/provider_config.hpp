#pragma once

#include "base/result.hpp"
#include "function/tenant/chart.hpp"
#include "k8s/object.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kro {

/// One entry of `spec.versions`: what a tenant may ask for, and what differs for it. Empty members: as in the rest of the ProviderConfig.
struct Offer {
    std::string version;
    std::string chart_version;
    std::string chart_url;
    std::string chart_pull_secret;
    k8s::Json helm_values;  ///< null where the entry has none
};

/// A ConfigMap's key in the provider's own namespace that holds a CA bundle.
struct CaBundleRef {
    std::string name;
    std::string key;
};

/// The ProviderConfig as read; everything in it may be wrong still, which is found when it is used.
struct ProviderConfig {
    std::string chart_url;          ///< never empty: the default is filled in
    std::string image_pull_secret;  ///< "" where none is set
    std::string poll_interval;      ///< Go duration as written; never empty
    k8s::Json values;               ///< as it is, whole; null where there is none
    std::optional<CaBundleRef> ca_bundle;
    std::optional<std::vector<Offer>> offers;  ///< none: every version is on offer
};

inline constexpr std::string_view kDefaultChartUrl = "oci://registry.k8s.io/kro/charts/kro";
inline constexpr std::string_view kDefaultPollInterval = "1m";

/// Reads the kind. The error is a sentence that names the field and the form that is expected.
base::Result<ProviderConfig, std::string> read_provider_config(k8s::Json const& object);

/// How often everything is looked at. The error is a sentence that names the field and the value.
base::Result<std::chrono::nanoseconds, std::string> poll_interval_of(ProviderConfig const& config);

/// The Secrets that are named under `imagePullSecrets` of Helm values; what is not of that form counts for nothing.
std::set<std::string> pull_secrets_of(k8s::Json const& values);

/// The Secrets that any setting names: for the chart, or under `imagePullSecrets` of values.
std::set<std::string> pull_secrets_of(ProviderConfig const& config);

/// What one tenant gets: the ProviderConfig, with what its version's offer says differently.
struct Chart {
    std::string url;
    ChartRef ref;
    std::string pull_secret;                      ///< "" where the chart needs none
    k8s::Json values;                             ///< null where there are none
    std::vector<std::string> image_pull_secrets;  ///< the names under `imagePullSecrets` of the values
};

/// What a tenant that asks for `version` gets. The error is a sentence for the tenant: what is on offer, or what is wrong and where.
base::Result<Chart, std::string> chart_for(ProviderConfig const& config, std::string const& version);

}  // namespace kro
