#include "function/resync.hpp"

#include "function/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

namespace {

using kro::Outcome;
using kro::Report;
using kro::Tenant;
using support::kNever;
using support::kro_named;
using support::World;
using Verb = k8s::Request::Verb;

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

TEST(Resync, RunsEveryTenantOnceAndSaysTheWorst) {
    std::vector<Tenant> tenants;
    for (int i = 0; i < 100; ++i) tenants.push_back(support::tenant_named("t" + std::to_string(i)));
    std::mutex mutex;
    std::map<Tenant, int> runs;
    Report const report = kro::resync(tenants, 8, [&](Tenant const& tenant) {
        std::lock_guard const lock{mutex};
        ++runs[tenant];
        Report one;
        one.requests = 5;
        one.writes = 1;
        one.outcome = {tenant.name == "t42" ? Outcome::Kind::Retry : Outcome::Kind::Waiting, "busy", std::chrono::seconds{3}};
        return one;
    });
    EXPECT_EQ(runs.size(), 100U);
    for (auto const& [tenant, count] : runs) EXPECT_EQ(count, 1) << to_string(tenant);
    EXPECT_EQ(report.requests, 500U);
    EXPECT_EQ(report.writes, 100U);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Retry);
    EXPECT_EQ(report.outcome.why, "project-a--ws-b/t42: busy");
    EXPECT_EQ(report.outcome.retry_after, std::chrono::seconds{3});
}

TEST(Resync, OfNobodyIsDone) {
    EXPECT_EQ(kro::resync({}, 8, [](Tenant const&) { return Report{}; }).outcome.kind, Outcome::Kind::Done);
}

}  // namespace
