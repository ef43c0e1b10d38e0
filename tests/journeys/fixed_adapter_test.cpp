#include "tests/journeys/installation.hpp"

namespace journeys {
namespace {

constexpr std::size_t kCrowd = 200;

TEST_F(FixedAdapter, ANewNamespaceDoesNotRestartTheAdapter) {
    std::string const adapter = std::string{kNamespace} + "/kro-function-platform-deployment";
    Json const before = pods()["deployments"].at(adapter);
    auto const tenant = new_tenant();
    order(tenant, "0.9.1");
    eventually("the Kro is Ready, by the events of this adapter", [&] { return is_ready(tenant); });
    EXPECT_EQ(pods()["deployments"].at(adapter), before);
}

TEST_F(FixedAdapter, OfTwoHundredTenantsAtOnceNoneIsMissed) {
    hold_flux();
    auto const tenants = many_tenants(kCrowd);
    order_all(tenants, "0.9.1");
    eventually("every tenant has its HelmRelease, without a tick", [&] { return count_with_helm_release(tenants) == kCrowd; });
}

}  // namespace
}  // namespace journeys
