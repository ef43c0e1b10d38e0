#include "function/handle/resync.hpp"

#include "function/server/server.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

/// A tick from the event to what is then on the API servers, where it is interrupted, and where its work is spread.
namespace {

using component::Json;
using component::Pod;
using component::Simulation;
using events::HttpMessage;
using k8s::Request;
using support::kro_named;
using support::tenant_named;
using namespace std::chrono_literals;

constexpr int kTenants = 4;

std::string name_of(int number) { return "t" + std::to_string(number); }

/// Tenants that are Ready; then one changed its version, one is being deleted, one is new, one's HelmRelease was changed by hand, and one's
/// Kro was removed by force; and no event told of it.
std::unique_ptr<Simulation> neglected() {
    auto simulation = std::make_unique<Simulation>();
    simulation->create(support::pull_secret("chart-pull"));
    simulation->change_provider_config({{"spec", {{"imagePullSecret", {{"name", "chart-pull"}}}}}});
    for (int i = 0; i < kTenants; ++i) simulation->create(kro_named(name_of(i)));
    simulation->settle();
    simulation->change_kro(name_of(0), {{"spec", {{"version", "0.9.2"}}}});
    simulation->remove_kro(name_of(1));
    simulation->create(kro_named("new"));
    simulation->change(kro::kHelmReleases, support::helm_release_key(tenant_named(name_of(2))),
                       {{"spec", {{"values", {{"by", "hand"}}}}}});
    simulation->world.onboarding->erase(kro::kKros, {std::string{support::kOnboardingNamespace}, name_of(3)});
    simulation->take_events();
    return simulation;
}

/// Three ticks bring everything about, whatever happened before.
void mend(Simulation& simulation) {
    for (int i = 0; i < 3; ++i) simulation.ping();
}

TEST(KilledPod, AnywhereInATickLeavesNothingThatTheNextTicksDoNotMend) {
    auto const beginning = neglected();
    auto const reference = beginning->copy();
    reference->count_from_here();
    reference->deliver(component::ping_event());
    std::size_t const requests = reference->requests();
    reference->settle();
    mend(*reference);
    Json const wanted = reference->state();
    EXPECT_EQ(reference->orphans(), std::vector<std::string>{});
    ASSERT_GT(requests, 20U);

    for (std::size_t survived = 0; survived < requests; ++survived) {
        SCOPED_TRACE("killed after " + std::to_string(survived) + " requests");
        auto const simulation = beginning->copy();
        std::atomic<std::size_t> seen{0};
        for (auto const& api : {simulation->world.onboarding, simulation->world.platform}) {
            auto const of_the_pod = [&](Request const& request) {
                bool const by_pod = request.field_manager.empty() || request.field_manager == kro::kFieldManager;
                return by_pod && seen++ >= survived;
            };
            api->fail_when(of_the_pod, k8s::connection_refused(), 1'000'000);
        }
        simulation->pod->handle(component::ping_event());
        for (auto const& api : {simulation->world.onboarding, simulation->world.platform}) api->heal();
        simulation->replace_pod();
        mend(*simulation);
        Json const differences = Json::diff(wanted, simulation->state());
        ASSERT_TRUE(differences.empty()) << base::dump_json(differences);
        ASSERT_EQ(simulation->wrongs(), std::vector<std::string>{});
        ASSERT_EQ(simulation->orphans(), std::vector<std::string>{});
    }
}

TEST(Tick, ThatComesDuringAnotherSharesItsPass) {
    Simulation simulation;
    for (int i = 0; i < kTenants; ++i) simulation.create(kro_named(name_of(i)));
    simulation.settle();
    simulation.ping();
    simulation.count_from_here();
    simulation.deliver(component::ping_event());
    std::size_t const one_pass = simulation.requests();

    simulation.count_from_here();
    std::promise<void> reached;
    std::promise<void> opened;
    simulation.world.onboarding->before(k8s::on(Request::Verb::List, kro::kKros), [&](k8s::MemoryApi&) {
        reached.set_value();
        opened.get_future().wait();
    });
    auto first = std::async(std::launch::async, [&] { return simulation.pod->handle(component::ping_event()).status; });
    reached.get_future().wait();
    auto second = std::async(std::launch::async, [&] { return simulation.pod->handle(component::ping_event()).status; });
    while (simulation.pod->handler().waiting_for_everyone() < 2) std::this_thread::yield();
    opened.set_value();
    EXPECT_EQ(first.get(), 204);
    EXPECT_EQ(second.get(), 204);
    EXPECT_EQ(simulation.requests(), one_pass);
}

// --- Fan-out

HttpMessage reconcile_event(std::string const& subject) {
    return {{{"Ce-Specversion", "1.0"},
             {"Ce-Id", "1"},
             {"Ce-Source", "/kro-function/resync"},
             {"Ce-Type", std::string{kro::kReconcileType}},
             {"Ce-Subject", subject}},
            ""};
}

TEST(ReconcileEvent, IsAboutItsSubject) {
    Simulation simulation;
    simulation.create(kro_named("acme"));
    simulation.take_events();
    EXPECT_EQ(simulation.pod->handle(reconcile_event(std::string{support::kOnboardingNamespace} + "/acme")).status, 204);
    EXPECT_FALSE(simulation.world.access_request_of(tenant_named("acme")).is_null());
}

TEST(ReconcileEvent, WithoutATenantIsRefused) {
    Simulation simulation;
    for (auto const* subject : {"acme", "/acme", "a/b/c"}) {
        auto const answer = simulation.pod->handle(reconcile_event(subject));
        EXPECT_EQ(answer.status, 400) << subject;
    }
    EXPECT_EQ(simulation.requests(), 0U);
}

/// A pod with one worker behind a port, and a sink.
class Served {
  public:
    explicit Served(Simulation& simulation) : simulation_(simulation) {
        kro::Service service;
        service.handle = [this](HttpMessage const& message) { return pod_->handle(message); };
        service.metrics = [] { return std::string{}; };
        server_ =
            kro::Server::listen({.port = 0, .workers = 1, .drain_grace = 50ms, .drain_quiet = 20ms}, std::move(service)).value();
    }
    ~Served() {
        server_->drain();
        ended_.wait();
    }
    Served(Served const&) = delete;
    Served& operator=(Served const&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

    void start(kro::Sink sink) {
        kro::EventHandler::Options options;
        options.budget = std::chrono::minutes{10};
        options.resync = {.parallel = 4, .fan_out_above = 0};
        options.sink = std::move(sink);
        auto const& world = simulation_.world;
        pod_ = std::make_unique<Pod>(
            world.platform, world.onboarding,
            [api = world.control_plane](std::string const&) { return k8s::Result<kro::SharedApi>{api}; }, world.clock(), options);
        ended_ = std::async(std::launch::async, [this] { return server_->run(); });
    }

  private:
    Simulation& simulation_;
    std::unique_ptr<Pod> pod_;
    std::unique_ptr<kro::Server> server_;
    std::future<kro::Server::Ended> ended_;
};

void drift_all(Simulation& simulation) {
    for (int i = 0; i < kTenants; ++i) {
        simulation.change(kro::kHelmReleases, support::helm_release_key(tenant_named(name_of(i))),
                          {{"spec", {{"values", {{"by", "hand"}}}}}});
    }
    simulation.take_events();
}

int drifted(Simulation const& simulation) {
    int count = 0;
    for (int i = 0; i < kTenants; ++i) {
        if (!base::member(simulation.world.helm_release_of(tenant_named(name_of(i))), "spec", "values").is_null()) ++count;
    }
    return count;
}

void post_ping(std::string const& url) {
    events::CloudEvent event = events::parse_http(component::ping_event()).value().at(0);
    auto const sink = kro::open_sink({.url = url, .ca = {}, .ce_overrides = {}}, 1min).value();
    EXPECT_EQ(sink({event}, support::kNever), std::vector<bool>{true});
}

/// As behind an in-memory Broker with container concurrency 1 and max-scale 1: what it posts is answered when it has been handled, and the
/// only worker is busy with the tick.
TEST(FanOut, DoesNotWaitForItself) {
    Simulation simulation;
    for (int i = 0; i < kTenants; ++i) simulation.create(kro_named(name_of(i)));
    simulation.settle();
    drift_all(simulation);
    Served served{simulation};
    served.start(kro::open_sink({.url = served.url(), .ca = {}, .ce_overrides = {}}, 200ms).value());
    post_ping(served.url());
    EXPECT_EQ(drifted(simulation), 0);
}

TEST(FanOut, HasAnotherPodDoTheWork) {
    Simulation simulation;
    for (int i = 0; i < kTenants; ++i) simulation.create(kro_named(name_of(i)));
    simulation.settle();
    drift_all(simulation);
    Served other{simulation};
    other.start(nullptr);
    Served served{simulation};
    served.start(
        kro::open_sink({.url = other.url(), .ca = {}, .ce_overrides = R"({"extensions": {"region": "here"}})"}, 1min).value());
    post_ping(served.url());
    EXPECT_EQ(drifted(simulation), 0) << "this sink answers when the event has been handled";
}

TEST(Sink, ThatIsNoAddressIsRefusedByItsVariable) {
    auto const sink = kro::open_sink({.url = "broker.test", .ca = {}, .ce_overrides = {}}, 1s);
    ASSERT_FALSE(sink);
    EXPECT_TRUE(sink.error().starts_with("K_SINK ")) << sink.error();
    EXPECT_FALSE(kro::open_sink({.url = "http://broker.test", .ca = {}, .ce_overrides = "no json"}, 1s));
}

TEST(Sink, ThatIsNotThereTakesNothing) {
    auto const sink = kro::open_sink({.url = "http://127.0.0.1:1", .ca = {}, .ce_overrides = {}}, 1s).value();
    events::CloudEvent const event = events::parse_http(component::ping_event()).value().at(0);
    EXPECT_EQ(sink({event, event}, support::kNever), (std::vector<bool>{false, false}));
}

}  // namespace
