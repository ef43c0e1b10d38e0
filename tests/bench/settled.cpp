#include "settled.hpp"

#include "function/tenant/kinds.hpp"
#include "function/tenant/status.hpp"
#include "tests/support/builders.hpp"

namespace bench {

using base::Json;

kro::Chart chart() {
    kro::Chart chart;
    chart.url = kro::kDefaultChartUrl;
    chart.ref.tag = "0.9.1";
    return chart;
}

std::string kubeconfig_name(kro::Tenant const& whom) { return kro::request_name(whom) + ".kubeconfig"; }

Json kro_of(kro::Tenant const& whom) {
    return {{"apiVersion", k8s::api_version(kro::kKros)},
            {"kind", "Kro"},
            {"metadata", {{"name", whom.name}, {"namespace", whom.namespace_}, {"finalizers", {kro::kFinalizer}}}},
            {"spec", {{"version", "0.9.1"}}}};
}

Json settled_status(Json const& kro, kro::Tenant const& whom) {
    std::string const namespace_ = kro::tenant_namespace(whom);
    Json const resources =
        Json::array({kro::resource_entry(kro::kOciRepositories, {namespace_, std::string{kro::kOciRepositoryName}}, "Ready", ""),
                     kro::resource_entry(kro::kHelmReleases, {namespace_, std::string{kro::kHelmReleaseName}}, "Ready", "")});
    kro::Verdict const verdict{kro::Verdict::Phase::Ready, "ReconcileSuccess", "Domain Service is ready"};
    return kro::desired_status(kro::read_kro(kro), nullptr, verdict, resources, support::kNoon);
}

}  // namespace bench
