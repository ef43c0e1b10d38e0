#include "tests/journeys/installation.hpp"

namespace journeys {
namespace {

TEST_F(FixedAdapter, ANewNamespaceDoesNotRestartTheAdapter) {
    std::string const adapter = std::string{kNamespace} + "/kro-function-platform-deployment";
    Json const before = pods()["deployments"].at(adapter);
    auto const tenant = new_tenant();
    order(tenant, "0.9.1");
    eventually("the Kro is Ready, by the events of this adapter", [&] { return is_ready(tenant); });
    EXPECT_EQ(pods()["deployments"].at(adapter), before);
}

}  // namespace
}  // namespace journeys
