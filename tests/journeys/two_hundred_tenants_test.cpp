// These leave their tenants behind, so they run after all others: GoogleTest keeps the order in which the files are linked. With
// hundreds of namespaces an ApiServerSource over all of them takes minutes to become Ready, so that one comes first.

#include "tests/journeys/installation.hpp"

#include <algorithm>
#include <iostream>

namespace journeys {
namespace {

constexpr std::size_t kCrowd = 200;

class CrowdByFixedAdapter : public FixedAdapter {};
class CrowdByApiServerSource : public Direct {};

TEST_F(CrowdByApiServerSource, TwoHundredTenantsAtOnceAreAllThereAfterTwoTicks) {
    hold_flux();
    leave_tenants();
    auto const tenants = many_tenants(kCrowd);
    order_all(tenants, "0.9.1");
    settle();
    std::size_t const by_events = count_with_helm_release(tenants);
    std::cout << "by events alone: " << by_events << " of " << kCrowd << "\n";
    RecordProperty("missed_by_events", static_cast<int>(kCrowd - by_events));
    for (int ticks = 0; ticks < 2 && count_with_helm_release(tenants) < kCrowd; ++ticks) {
        tick();
        settle();
    }
    EXPECT_EQ(count_with_helm_release(tenants), kCrowd);
}

TEST_F(CrowdByFixedAdapter, OfTwoHundredTenantsAtOnceNoneIsMissed) {
    hold_flux();
    leave_tenants();
    auto const tenants = many_tenants(kCrowd);
    order_all(tenants, "0.9.1");
    eventually("every tenant has its HelmRelease, without a tick", [&] { return count_with_helm_release(tenants) == kCrowd; });
}

TEST_F(CrowdByFixedAdapter, OneTickRepairsFiveHundredTenantsThatHaveDrifted) {
    hold_flux();
    leave_tenants();
    auto const more = many_tenants(100);
    order_all(more, "0.9.1");
    eventually("a hundred more are there", [&] { return count_with_helm_release(more) == more.size(); });
    settle();
    scale_adapters(0);
    std::vector<k8s::ObjectKey> all;
    for (auto const& repository : platform().list(kro::kOciRepositories)) all.push_back(k8s::key_of(repository));
    ASSERT_GE(all.size(), 500U) << "with those of the tests before";
    EXPECT_EQ(platform().patch_all(kro::kOciRepositories, all, {{"spec", {{"ref", {{"tag", "0.9.2"}}}}}}), all.size());
    tick();
    eventually("all of them are as they were", [&] {
        auto const now = platform().list(kro::kOciRepositories);
        return std::all_of(now.begin(), now.end(),
                           [](Json const& one) { return text_of(member(one, "spec", "ref", "tag")) == "0.9.1"; });
    });
}

}  // namespace
}  // namespace journeys
