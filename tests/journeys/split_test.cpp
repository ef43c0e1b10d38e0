#include "tests/journeys/installation.hpp"

namespace journeys {
namespace {

TEST_F(Split, TenantsOfAnotherClusterAreServed) {
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
