#include "tests/journeys/installation.hpp"

#include <chrono>
#include <thread>

namespace journeys {
namespace {

TEST_F(Direct, WhatChangedWhileTheAdapterWasDownIsRepairedByOneTick) {
    auto const tenant = new_tenant();
    install(tenant);
    scale_adapters(0);
    order(tenant, "0.9.2");
    scale_adapters(1);
    settle();
    EXPECT_EQ(chart_tag(tenant), "0.9.1") << "an adapter tells nothing of what changed before it started";
    tick();
    eventually("the newer version is installed", [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
}

TEST_F(Direct, WhatWasLostWhileTheLinkWasCutIsRepairedByOneTick) {
    auto const tenant = new_tenant();
    install(tenant);
    cut_link();
    order(tenant, "0.9.2");
    std::this_thread::sleep_for(std::chrono::seconds{10});  // how long the link is down is what this is about
    restore_link();
    settle();
    EXPECT_EQ(chart_tag(tenant), "0.9.1") << "a source gives up after 3.1 s";
    tick();
    eventually("the newer version is installed", [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
}

TEST_F(Direct, ARestartOfTheWatchedApiServerIsRepairedByOneTick) {
    auto const tenant = new_tenant();
    install(tenant);
    restart_api_server();
    order(tenant, "0.9.2");
    tick();
    eventually("the newer version is installed", [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
}

TEST_F(Direct, ANewNamespaceRestartsTheAdapterOfAnApiServerSource) {
    auto const rollouts = [&] {
        int sum = 0;
        Json const report = pods();
        for (auto const& [name, deployment] : report.at("deployments").items()) {
            if (name.find("apiserversource-kro-function") != std::string::npos) sum += deployment.value("rollouts", 0);
        }
        return sum;
    };
    int const before = rollouts();
    new_tenant();
    eventually("an adapter was replaced", [&] { return rollouts() > before; });
}

}  // namespace
}  // namespace journeys
