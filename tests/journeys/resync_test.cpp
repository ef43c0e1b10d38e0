#include "tests/journeys/installation.hpp"

#include "base/clock.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace journeys {
namespace {

using namespace std::chrono_literals;

class Resync : public FixedAdapter {
  protected:
    std::string last_resync() {
        return text_of(member(platform().read(kro::kProviderConfigs, {{}, "kro"}), "status", "lastResyncTime"));
    }
    /// Somebody changes what is ours, and no adapter tells it.
    void drift(kro::Tenant const& tenant) {
        platform().patch(kro::kOciRepositories, in_tenant(tenant, std::string{kro::kOciRepositoryName}),
                         {{"spec", {{"ref", {{"tag", "0.9.2"}}}}}});
    }
};

TEST_F(Resync, TheRealPingSourceFollowsAChangedPollInterval) {
    configure({{"pollInterval", "2s"}});
    eventually("the schedule is the interval", [&] { return schedule() == "*/2 * * * * *"; });
    std::size_t const before = answered_ticks();
    eventually("ticks come at the new pace", [&] { return answered_ticks() >= before + 3; });
    configure({{"pollInterval", "1h"}});
    eventually("the schedule is the interval again", [&] { return schedule() == "0 * * * *"; });
}

TEST_F(Resync, AnIntervalOfSevenMinutesIsKeptByAFinerTickAndTheTimeOfTheLastResync) {
    configure({{"pollInterval", "7m"}});
    eventually("it ticks every minute", [&] { return schedule() == "* * * * *"; });
    settle();
    std::string const long_ago = base::rfc3339(std::chrono::system_clock::now() - 7min);
    platform().patch(kro::kProviderConfigs, {{}, "kro"}, {{"status", {{"lastResyncTime", long_ago}}}}, "status");
    tick();
    eventually("a resync was due", [&] { return last_resync() > long_ago; });
    settle();
    std::string const now = last_resync();
    std::this_thread::sleep_for(1s);  // of the status, whose times are whole seconds
    tick();
    settle();
    EXPECT_EQ(last_resync(), now) << "the next one is not due yet";
    EXPECT_EQ(schedule(), "* * * * *");
}

TEST_F(Resync, TicksThatWereLostForThreeIntervalsAreMadeUpForByTheNextOne) {
    auto const tenant = new_tenant();
    install(tenant);
    scale_adapters(0);
    platform().patch(kPingSources, {std::string{kNamespace}, "kro-function-resync"}, {{"spec", {{"schedule", "*/2 * * * * *"}}}});
    signal_ping_adapter(SIGSTOP);
    settle();  // a tick may have been on its way
    drift(tenant);
    std::this_thread::sleep_for(6s);  // three intervals
    EXPECT_EQ(chart_tag(tenant), "0.9.2");
    signal_ping_adapter(SIGCONT);
    tick();
    eventually("what drifted is repaired", [&] { return chart_tag(tenant) == "0.9.1"; });
    scale_adapters(1);
}

TEST_F(Resync, WhatIsLeftOfAKroThatIsGoneIsCleanedUp) {
    auto const tenant = new_tenant();
    install(tenant);
    settle();
    scale_adapters(0);
    onboarding().patch(kro::kKros, {tenant.namespace_, tenant.name}, {{"metadata", {{"finalizers", nullptr}}}});
    remove_kro(tenant);
    eventually("the Kro is gone", [&] { return kro(tenant).is_null(); });
    scale_adapters(1);
    ASSERT_FALSE(helm_release(tenant).is_null());
    tick();
    eventually("nothing of it is left", [&] {
        return helm_release(tenant).is_null() && oci_repository(tenant).is_null() && installed("mcp-01").empty() &&
               platform().list(kro::kAccessRequests, kro::tenant_namespace(tenant)).empty();
    });
}

}  // namespace
}  // namespace journeys
