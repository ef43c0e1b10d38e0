#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// Several pods, or several threads of one, at the same tenants.
namespace {

using base::member;
using base::text_of;
using component::Json;
using component::Pod;
using component::Simulation;
using events::HttpMessage;
using k8s::on;
using k8s::Request;
using support::kro_named;
using support::tenant_named;

constexpr int kTries = 50;
constexpr int kRounds = 15;

kro::Tenant acme() { return tenant_named("acme"); }

/// One source's way to one pod: every event in order, again after a 503.
void deliver_all(Pod& pod, std::vector<HttpMessage> const& messages) {
    for (auto const& message : messages) {
        int status = 503;
        for (int i = 0; i < kTries && status == 503; ++i) status = pod.handle(message).status;
        EXPECT_EQ(status, 204);
    }
}

/// What the Kros in these events were told, where that is an error.
std::vector<std::string> errors_in(std::vector<HttpMessage> const& messages) {
    std::vector<std::string> errors;
    for (auto const& message : messages) {
        Json const object = base::parse_json(message.body).value();
        auto const ready = k8s::find_condition(object, "Ready");
        if (object["kind"] == "Kro" && ready && ready->reason == "ReconcileError") errors.push_back(ready->message);
    }
    return errors;
}

/// Both pods get all events at the same time until nothing changes any more.
void settle_by_both(Simulation& simulation, Pod& one, Pod& other) {
    for (auto messages = simulation.take_events(); !messages.empty(); messages = simulation.take_events()) {
        EXPECT_EQ(errors_in(messages), std::vector<std::string>{});
        std::thread second{[&] { deliver_all(other, messages); }};
        deliver_all(one, messages);
        second.join();
    }
}

void make_sources(Simulation& simulation) {
    simulation.create(support::pull_secret("chart-pull"));
    simulation.create(support::pull_secret("image-pull"));
    simulation.change_provider_config(
        {{"spec",
          {{"imagePullSecret", {{"name", "chart-pull"}}}, {"values", {{"imagePullSecrets", {{{"name", "image-pull"}}}}}}}}});
    simulation.settle();
}

enum class Pods { Two, OneWithTwoThreads };

class AtTheSameMoment : public testing::TestWithParam<Pods> {};

TEST_P(AtTheSameMoment, TheSameEventsLeadWhereOneOfThemLeads) {
    Simulation single;
    make_sources(single);
    single.create(kro_named("acme"));
    single.settle();
    Json const wanted = single.state();

    for (int i = 0; i < kRounds; ++i) {
        Simulation simulation;
        make_sources(simulation);
        auto const extra = simulation.make_pod();
        Pod& other = GetParam() == Pods::Two ? *extra : *simulation.pod;
        simulation.create(kro_named("acme"));
        settle_by_both(simulation, *simulation.pod, other);
        Json const difference = Json::diff(wanted, simulation.state());
        ASSERT_TRUE(difference.empty()) << base::dump_json(difference);
        ASSERT_EQ(simulation.wrongs(), std::vector<std::string>{});
    }
}

INSTANTIATE_TEST_SUITE_P(, AtTheSameMoment, testing::Values(Pods::Two, Pods::OneWithTwoThreads),
                         [](auto const& row) { return row.param == Pods::Two ? "InTwoPods" : "InOnePod"; });

TEST(TwoPods, DeleteInOneWhileTheOtherUpdates) {
    for (int i = 0; i < kRounds; ++i) {
        Simulation simulation;
        make_sources(simulation);
        simulation.create(kro_named("acme"));
        simulation.settle();
        auto const other = simulation.make_pod();
        simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
        auto const update = simulation.take_events();
        std::thread second{[&] { deliver_all(*other, update); }};
        simulation.remove_kro("acme");
        deliver_all(*simulation.pod, update);
        second.join();
        settle_by_both(simulation, *simulation.pod, *other);

        ASSERT_TRUE(simulation.world.kro(acme()).is_null());
        ASSERT_EQ(simulation.orphans(), std::vector<std::string>{});
    }
}

struct Meeting {
    char const* name;
    k8s::Resource resource;  ///< whose first apply the other pod is faster than
};

class DeletionDuringInstallation : public testing::TestWithParam<Meeting> {};

/// The worst moment: one pod has decided to make something, and before it does the other pod has deleted the whole tenant.
TEST_P(DeletionDuringInstallation, LeavesNothingBehind) {
    Simulation simulation;
    auto const other = simulation.make_pod();
    simulation.create(kro_named("acme"));
    simulation.world.platform->before(on(Request::Verb::Apply, GetParam().resource), [&](k8s::MemoryApi&) {
        simulation.remove_kro("acme");
        for (int i = 0; i < kTries && !simulation.world.kro(acme()).is_null(); ++i) deliver_all(*other, simulation.take_events());
        EXPECT_TRUE(simulation.world.kro(acme()).is_null());
    });
    simulation.settle();

    EXPECT_TRUE(simulation.world.kro(acme()).is_null());
    EXPECT_EQ(simulation.orphans(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(, DeletionDuringInstallation,
                         testing::Values(Meeting{"BeforeTheAccessRequest", kro::kAccessRequests},
                                         Meeting{"BeforeTheOciRepository", kro::kOciRepositories},
                                         Meeting{"BeforeTheHelmRelease", kro::kHelmReleases}),
                         [](auto const& row) { return row.param.name; });

/// Holds whoever passes until it is opened.
class Gate {
  public:
    void pass() {
        entered_.set_value();
        opened_.get_future().wait();
    }
    void wait_for_guest() { entered_.get_future().wait(); }
    void open() { opened_.set_value(); }

  private:
    std::promise<void> entered_;
    std::promise<void> opened_;
};

TEST(SlowTenant, HoldsUpNobodyElse) {
    Simulation simulation;
    make_sources(simulation);
    for (auto const* name : {"acme", "beta"}) simulation.create(kro_named(name));
    simulation.settle();
    for (auto const* name : {"acme", "beta"}) simulation.change_kro(name, {{"spec", {{"version", "0.9.2"}}}});
    auto const messages = simulation.take_events();
    ASSERT_EQ(messages.size(), 2u);

    Gate gate;
    simulation.control_plane_of("acme")->before(on(Request::Verb::List, k8s::kSecrets), [&](k8s::MemoryApi&) { gate.pass(); });
    auto slow = std::async(std::launch::async, [&] { return simulation.pod->handle(messages.at(0)).status; });
    gate.wait_for_guest();
    EXPECT_EQ(simulation.pod->handle(messages.at(1)).status, 204);
    EXPECT_EQ(simulation.world.oci_repository_of(tenant_named("beta"))["spec"]["ref"]["tag"], "0.9.2");
    EXPECT_EQ(slow.wait_for(std::chrono::seconds{0}), std::future_status::timeout);
    gate.open();
    EXPECT_EQ(slow.get(), 204);
    simulation.settle();
    EXPECT_EQ(simulation.world.oci_repository_of(acme())["spec"]["ref"]["tag"], "0.9.2");
}

TEST(Ticks, ThatOverlapAreBothAnsweredAndWriteNothing) {
    Simulation simulation;
    for (auto const* name : {"acme", "beta"}) simulation.create(kro_named(name));
    simulation.settle();
    simulation.count_from_here();

    Gate gate;
    simulation.world.platform->before(on(Request::Verb::Get, kro::kProviderConfigs), [&](k8s::MemoryApi&) { gate.pass(); });
    auto first = std::async(std::launch::async, [&] { return simulation.pod->handle(component::ping_event()).status; });
    gate.wait_for_guest();
    auto second = std::async(std::launch::async, [&] {
        return simulation.pod
            ->handle(
                {{{"ce-specversion", "1.0"}, {"ce-id", "2"}, {"ce-source", "/p"}, {"ce-type", "dev.knative.sources.ping"}}, ""})
            .status;
    });
    gate.open();
    EXPECT_EQ(first.get(), 204);
    EXPECT_EQ(second.get(), 204);
    EXPECT_EQ(simulation.writes(), 0u);
}

}  // namespace
