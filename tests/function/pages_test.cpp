#include "function/handle/pages.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

using kro::Report;
using support::kNever;
using support::kro_named;
using support::World;

void put_kros(World const& world, int count) {
    for (int i = 0; i < count; ++i) world.put(kro_named("t" + std::to_string(1000 + i)), kro::Cluster::Onboarding);
}

TEST(AllTenants, AreReadPageByPageAndWithoutTheirContents) {
    World world;
    put_kros(world, 1200);
    Report report;
    auto const tenants = kro::all_tenants(world.clusters, kNever, report).value();
    ASSERT_EQ(tenants.size(), 1200U);
    EXPECT_EQ(tenants.front(), support::tenant_named("t1000"));
    EXPECT_EQ(report.requests, 3U);
    for (auto const& request : world.requests(kro::Cluster::Onboarding)) {
        EXPECT_LE(request.limit, 500);
        EXPECT_EQ(request.contents, k8s::Request::Contents::Metadata);
    }
}

TEST(AllTenants, GoOnWhereTheTokenHasExpired) {
    for (auto const expiry : {k8s::MemoryApi::Expiry::WithToken, k8s::MemoryApi::Expiry::WithoutToken}) {
        World world;
        put_kros(world, 1200);
        bool expired = false;
        world.onboarding->before(
            [&](k8s::Request const& request) { return !request.continue_token.empty() && !std::exchange(expired, true); },
            [expiry](k8s::MemoryApi& api) { api.expire_continue_tokens(expiry); });
        Report report;
        auto const tenants = kro::all_tenants(world.clusters, kNever, report);
        ASSERT_TRUE(tenants) << tenants.error().message;
        EXPECT_EQ(tenants->size(), 1200U) << "each of them once";
    }
}

TEST(AllTenants, GiveUpWhereEveryTokenExpires) {
    World world;
    put_kros(world, 600);
    world.onboarding->fail_when([](k8s::Request const& request) { return !request.continue_token.empty(); },
                                k8s::answer_with(410), 1000);
    Report report;
    auto const tenants = kro::all_tenants(world.clusters, kNever, report);
    ASSERT_FALSE(tenants);
    EXPECT_EQ(tenants.error().kind, k8s::Error::Kind::Expired);
    EXPECT_LE(report.requests, 10U);
}

TEST(AllTenants, AreFoundUnderAnOlderPlural) {
    World world;
    constexpr k8s::Resource kKroes{"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"};
    world.onboarding->stop_serving(kro::kKros);
    world.onboarding->serve(kKroes);
    world.onboarding->put(kKroes, kro_named("acme"));
    Report report;
    EXPECT_EQ(kro::all_tenants(world.clusters, kNever, report).value().size(), 1U);
}

struct Broken {
    char const* name;
    k8s::Fault fault;
};

class PageThatIsBroken : public testing::TestWithParam<Broken> {};

TEST_P(PageThatIsBroken, IsAskedForAgain) {
    for (std::size_t page = 1; page <= 3; ++page) {
        World world;
        put_kros(world, 1200);
        world.onboarding->fail(page, GetParam().fault);
        Report report;
        auto const tenants = kro::all_tenants(world.clusters, kNever, report);
        ASSERT_TRUE(tenants) << tenants.error().message;
        EXPECT_EQ(tenants->size(), 1200U) << "each of them once";
        EXPECT_LE(report.requests, 6U);
    }
}

INSTANTIATE_TEST_SUITE_P(, PageThatIsBroken,
                         testing::Values(Broken{"Truncated", k8s::truncated()}, Broken{"CutBefore", k8s::cut_before()},
                                         Broken{"Expired", k8s::answer_with(410)}),
                         [](auto const& row) { return row.param.name; });

class PageThatIsRefused : public testing::TestWithParam<Broken> {};

TEST_P(PageThatIsRefused, EndsTheListAndSaysWhenToComeAgain) {
    for (std::size_t page = 1; page <= 3; ++page) {
        World world;
        put_kros(world, 1200);
        world.onboarding->fail(page, GetParam().fault);
        Report report;
        auto const tenants = kro::all_tenants(world.clusters, kNever, report);
        ASSERT_FALSE(tenants);
        EXPECT_EQ(report.requests, page) << "nothing is repeated before its time";
        EXPECT_EQ(tenants.error().retry_after, std::chrono::seconds{7});
    }
}

INSTANTIATE_TEST_SUITE_P(, PageThatIsRefused,
                         testing::Values(Broken{"Throttled", k8s::answer_with(429, {}, "7")},
                                         Broken{"Unavailable", k8s::answer_with(503, {}, "7")}),
                         [](auto const& row) { return row.param.name; });

}  // namespace
