#include "tests/journeys/installation.hpp"

namespace journeys {
namespace {

TEST_F(Split, TenantsOfAnotherClusterAreServed) {
    tick();  // the function asks for access to the onboarding cluster, and its adapter starts with that
    eventually("the adapter watches the onboarding cluster", [&] {
        return pods()["deployments"]
                   .value(std::string{kNamespace} + "/kro-function-tenants-deployment", Json::object())
                   .value("ready", 0) == 1;
    });
    auto const tenant = new_tenant();
    install(tenant);
    EXPECT_EQ(installed("mcp-01"), "0.9.1");
    EXPECT_TRUE(platform().list(kro::kKros).empty());
    remove_kro(tenant);
    eventually("the Kro is gone", [&] { return kro(tenant).is_null(); });
    EXPECT_EQ(installed("mcp-01"), "");
}

}  // namespace
}  // namespace journeys
