#include "function/tenant/provider_status.hpp"

#include "function/tenant/tenant.hpp"
#include "k8s/condition.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using k8s::Json;
using kro::ProviderFindings;
using support::kNoon;
using namespace std::chrono_literals;

Json config() { return support::stored(support::provider_config()); }

Json with_status(Json provider_config, Json status) {
    provider_config["status"] = std::move(status);
    return provider_config;
}

struct Row {
    char const* name;
    ProviderFindings findings;
    char const* available;
    char const* progressing;
    char const* degraded;  ///< its reason
};

void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }

class ProviderConditions : public testing::TestWithParam<Row> {};

TEST_P(ProviderConditions, SayHowItIs) {
    Json const object = with_status(config(), kro::desired_provider_status(config(), GetParam().findings, kNoon));
    EXPECT_EQ(k8s::find_condition(object, "Available")->status, GetParam().available);
    EXPECT_EQ(k8s::find_condition(object, "Progressing")->status, GetParam().progressing);
    EXPECT_EQ(k8s::find_condition(object, "Degraded")->reason, GetParam().degraded);
}

INSTANTIATE_TEST_SUITE_P(
    , ProviderConditions,
    testing::Values(Row{"NoTenants", {}, "True", "False", "AsExpected"},
                    Row{"AllReady", {{2, 2, 0, 0}, "", "", ""}, "True", "False", "AsExpected"},
                    Row{"SomeProgressing", {{2, 1, 1, 0}, "", "", ""}, "True", "True", "AsExpected"},
                    Row{"SomeTerminating", {{2, 1, 0, 1}, "", "", ""}, "True", "True", "AsExpected"},
                    Row{"FaultyConfig", {{}, "spec.values must be an object", "", ""}, "False", "False", "InvalidConfiguration"},
                    Row{"FaultyInterval", {{}, "", "spec.pollInterval is 0", ""}, "True", "False", "InvalidPollInterval"},
                    Row{"FaultySchedule", {{}, "", "", "403"}, "True", "False", "ScheduleNotSet"}),
    [](auto const& row) { return row.param.name; });

TEST(TenantCounts, CountEachByItsPhase) {
    kro::TenantCounts counts;
    for (auto const* phase : {"Ready", "Progressing", "Terminating", "Pending", "", "Ready"}) counts.add(phase);
    EXPECT_EQ(counts.total, 6);
    EXPECT_EQ(counts.ready, 2);
    EXPECT_EQ(counts.progressing, 3);
    EXPECT_EQ(counts.terminating, 1);
}

TEST(ProviderStatus, IsWrittenAgainWhenTheIntervalIsOverOrSomethingIsNew) {
    auto const schedule = kro::schedule_for(1min);
    Json const status = kro::desired_provider_status(config(), {}, kNoon);
    Json const object = with_status(config(), status);
    auto const differs = [&](ProviderFindings const& findings, base::Time now) {
        return kro::provider_status_differs(object, kro::desired_provider_status(object, findings, now), schedule, now);
    };
    EXPECT_TRUE(kro::provider_status_differs(config(), status, schedule, kNoon)) << "there is none yet";
    EXPECT_FALSE(differs({}, kNoon));
    EXPECT_FALSE(differs({}, kNoon + 59s));
    EXPECT_TRUE(differs({}, kNoon + 60s));
    EXPECT_TRUE(differs({}, kNoon + 59s + 600ms)) << "a tick may be a moment early";
    EXPECT_TRUE(differs({}, kNoon - 1h)) << "a clock was set back";
    EXPECT_TRUE(differs({{1, 0, 1, 0}, "", "", ""}, kNoon));
    EXPECT_TRUE(differs({{}, "", "spec.pollInterval is 0", ""}, kNoon));
}

TEST(ProviderStatus, KeepsTheTimeOfATransition) {
    Json const object = with_status(config(), kro::desired_provider_status(config(), {}, kNoon));
    EXPECT_EQ(kro::desired_provider_status(object, {}, kNoon + 1h)["conditions"], object["status"]["conditions"]);
}

}  // namespace
