#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using component::Json;
using component::Simulation;
using kro::Cluster;
using support::kro_named;
using support::pull_secret;

constexpr std::array kClusters{Cluster::Onboarding, Cluster::Platform, Cluster::ControlPlane};

/// Something that users or operators do, and where it leads.
struct Scenario {
    enum class Events { Delivered, Lost };  ///< those of what `before` does

    std::string name;
    std::function<void(Simulation&)> before;
    std::function<void(Simulation&)> act;
    char const* phase = "Ready";  ///< of the Kro acme in the end; "" where it is gone
    Events events = Events::Delivered;
    bool gives_control_plane_up = false;  ///< a fault there may leave something behind
};

void PrintTo(Scenario const& scenario, std::ostream* out) { *out << scenario.name; }

std::size_t index_of(Cluster cluster) { return static_cast<std::size_t>(cluster); }

struct Failure {
    char const* name;
    k8s::Fault fault;
};

/// Every request fails in each of these ways.
std::vector<Failure> usual_failures() {
    return {{"500", k8s::answer_with(500)},
            {"409", k8s::conflict()},
            {"timeout", k8s::timeout()},
            {"cut before", k8s::cut_before()},
            {"cut after", k8s::cut_after()}};
}

std::vector<Failure> rare_failures() {
    return {{"503 with Retry-After", k8s::answer_with(503, {}, "7")},
            {"429 with Retry-After", k8s::answer_with(429, {}, "7")},
            {"403", k8s::answer_with(403)},
            {"401", k8s::answer_with(401)},
            {"404 for the path", k8s::answer_with(404)},
            {"connection refused", k8s::connection_refused()},
            {"truncated", k8s::truncated()}};
}

Json image_secrets(std::initializer_list<char const*> names) {
    Json list = Json::array();
    for (auto const* name : names) list.push_back({{"name", name}});
    return list;
}

void make_sources(Simulation& simulation) {
    simulation.create(pull_secret("chart-pull"));
    simulation.create(pull_secret("image-pull"));
    simulation.create(support::ca_bundle("corporate-ca"));
}

/// Everything that a ProviderConfig can ask to be copied.
Json copies() {
    return {{"imagePullSecret", {{"name", "chart-pull"}}},
            {"values", {{"replicas", 2}, {"imagePullSecrets", image_secrets({"image-pull"})}}},
            {"caBundleRef", {{"name", "corporate-ca"}, {"key", "ca.crt"}}}};
}

void nothing(Simulation&) {}
void create_acme(Simulation& simulation) { simulation.create(kro_named("acme")); }
void sources_alone(Simulation& simulation) {
    make_sources(simulation);
    simulation.change_provider_config({{"spec", copies()}});
}
void acme_with_sources(Simulation& simulation) {
    make_sources(simulation);
    create_acme(simulation);
}
void acme_with_copies(Simulation& simulation) {
    sources_alone(simulation);
    create_acme(simulation);
}
void delete_acme(Simulation& simulation) { simulation.remove_kro("acme"); }

k8s::ObjectKey source(std::string const& name) { return {std::string{support::kProviderNamespace}, name}; }

void rotate(Simulation& simulation) {
    for (auto const* name : {"chart-pull", "image-pull"}) {
        simulation.change(k8s::kSecrets, source(name), {{"data", pull_secret(name, "other.test")["data"]}});
    }
}

void replace_type(Simulation& simulation) {
    simulation.remove(k8s::kSecrets, source("image-pull"));
    simulation.create(support::secret("image-pull", "kubernetes.io/dockercfg", {{".dockercfg", R"({"registry.test":{}})"}}));
}

/// A copy that an earlier release made as another type.
void acme_with_opaque_copy(Simulation& simulation) {
    acme_with_copies(simulation);
    simulation.settle();
    auto const tenant = support::tenant_named("acme");
    auto const key = support::copy_key(tenant, "chart-pull");
    Json copy = support::ours(support::secret("chart-pull", "Opaque", {{"key", "value"}}), tenant);
    simulation.world.put(support::in_namespace(std::move(copy), key.namespace_));
}

/// As the older operator leaves a tenant: without our labels, annotations and managers, and with a setting that we don't have.
void acme_of_older_operator(Simulation& simulation) {
    auto const tenant = support::tenant_named("acme");
    auto const put = [&](Json object) { simulation.world.put(std::move(object)); };
    put(support::granted(support::access_request(tenant)));
    Json const request = simulation.world.access_request_of(tenant);
    Json kubeconfig = support::kubeconfig_secret(tenant);
    kubeconfig["data"]["kubeconfig"] =
        support::secret("", "", {{"kubeconfig", kro::pretended_kubeconfig(request)}})["data"]["kubeconfig"];
    put(std::move(kubeconfig));
    Json repository = support::oci_repository(tenant);
    repository["spec"]["secretRef"] = {{"name", "gone"}};
    put(support::ready(std::move(repository)));
    Json release = support::helm_release(tenant);
    release["spec"]["values"] = {{"old", true}};
    put(support::ready(std::move(release)));
    simulation.world.put(support::with_finalizer(kro_named("acme")), Cluster::Onboarding);
}

void update_of_acme(Simulation& simulation) { simulation.change_kro("acme", {{"metadata", {{"labels", {{"seen", "yes"}}}}}}); }

void delete_blocked_acme(Simulation& simulation) {
    auto const control_plane = simulation.control_plane_of("acme");
    control_plane->put(kro::kResourceGraphDefinitions, support::resource_graph_definition("web"));
    delete_acme(simulation);
    simulation.settle();
    control_plane->erase(kro::kResourceGraphDefinitions, {{}, "web"});
}

void abandon_acme(Simulation& simulation) {
    simulation.control_plane_of("acme")->put(kro::kResourceGraphDefinitions, support::resource_graph_definition("web"));
    delete_acme(simulation);
    simulation.settle();
    simulation.annotate_kro("acme", kro::kAbandonAnnotation, "true");
}

void lose_events(Simulation& simulation) {
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.remove_kro("beta");
    simulation.create(kro_named("gamma"));
    simulation.take_events();
}

void acme_and_beta(Simulation& simulation) {
    acme_with_copies(simulation);
    simulation.create(kro_named("beta"));
}

/// Beta's Kro goes without a deletion, and nobody is told.
void orphan_beta(Simulation& simulation) {
    simulation.world.onboarding->erase(kro::kKros, {std::string{support::kOnboardingNamespace}, "beta"});
    simulation.take_events();
    for (int i = 0; i < 3; ++i) simulation.ping();
}

/// A change by hand of which no event tells, and an operator who has everything looked at.
void resync_on_demand(Simulation& simulation) {
    auto const tenant = support::tenant_named("acme");
    simulation.change(kro::kHelmReleases, support::helm_release_key(tenant), {{"spec", {{"values", {{"by", "hand"}}}}}});
    simulation.change(k8s::kSecrets, support::copy_key(tenant, "chart-pull"), {{"data", {{".dockerconfigjson", "e30="}}}});
    simulation.take_events();
    simulation.change_provider_config({{"metadata", {{"annotations", {{kro::kOperationAnnotation, "reconcile"}}}}}});
}

std::vector<Scenario> scenarios() {
    return {
        {"install", nothing, create_acme, "Ready"},
        {"install with copies", sources_alone, create_acme, "Ready"},
        {"change the version", create_acme,
         [](Simulation& one) {
             one.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
         },
         "Ready"},
        {"change values", create_acme,
         [](Simulation& one) {
             one.change_provider_config({{"spec", {{"values", {{"replicas", 3}, {"keep", nullptr}}}}}});
         },
         "Ready"},
        {"add pull secrets", acme_with_sources,
         [](Simulation& one) {
             one.change_provider_config({{"spec", copies()}});
         },
         "Ready"},
        {"rotate pull secrets", acme_with_copies, rotate, "Ready"},
        {"remove pull secrets", acme_with_copies,
         [](Simulation& one) {
             one.change_provider_config(
                 {{"spec", {{"imagePullSecret", nullptr}, {"values", nullptr}, {"caBundleRef", nullptr}}}});
         },
         "Ready"},
        {"replace a pull secret's type", acme_with_copies, replace_type, "Ready"},
        {"mend a copy of another type", acme_with_opaque_copy, update_of_acme, "Ready"},
        {"ask to reconcile", create_acme,
         [](Simulation& one) { one.annotate_kro("acme", kro::kOperationAnnotation, "reconcile"); }, "Ready"},
        {"adopt from the older operator", acme_of_older_operator, update_of_acme, "Ready", Scenario::Events::Lost},
        {"delete", create_acme, delete_acme, ""},
        {"delete with copies", acme_with_copies, delete_acme, ""},
        {"delete after a block", create_acme, delete_blocked_acme, ""},
        {"abandon", acme_with_copies, abandon_acme, "", Scenario::Events::Delivered, true},
        {"resync several",
         [](Simulation& one) {
             create_acme(one);
             one.create(kro_named("beta"));
         },
         lose_events, "Ready"},
        {"resync an orphan", acme_and_beta, orphan_beta, "Ready", Scenario::Events::Delivered, true},
        {"resync on demand", acme_with_copies, resync_on_demand, "Ready"},
    };
}

/// What there is before the scenario begins.
std::unique_ptr<Simulation> beginning_of(Scenario const& scenario) {
    auto simulation = std::make_unique<Simulation>();
    scenario.before(*simulation);
    if (scenario.events == Scenario::Events::Delivered) simulation->settle();
    EXPECT_EQ(simulation->wrongs(), std::vector<std::string>{});
    return simulation;
}

using Counts = std::array<std::size_t, kClusters.size()>;

/// From the beginning to the end, and how many requests to each cluster it took. The second tick is for what failed in the first.
Counts play(Scenario const& scenario, Simulation& simulation) {
    scenario.act(simulation);
    simulation.settle();
    simulation.ping();
    Counts requests{};
    for (auto const cluster : kClusters) requests.at(index_of(cluster)) = simulation.traffic(cluster).requests;
    simulation.ping();
    return requests;
}

/// All failures for every request take long without optimization: KRO_FAULTS=all asks for that. Otherwise each request fails in two
/// of the usual ways and in one of the rare ones, which take turns.
bool all_are_wanted() {
    char const* const wanted = std::getenv("KRO_FAULTS");
    return wanted != nullptr && std::string_view{wanted} == "all";
}

struct Attempt {
    Cluster cluster;
    std::size_t nth;  ///< request, counted from 1
    Failure failure;
};

/// Adds as many of these failures of a request as have their turn.
void add_turns(std::vector<Attempt>& list, Attempt attempt, std::vector<Failure> const& failures, std::size_t at_a_time) {
    for (std::size_t i = 0; i < failures.size(); ++i) {
        bool const has_its_turn = (i + failures.size() - attempt.nth % failures.size()) % failures.size() < at_a_time;
        if (!all_are_wanted() && !has_its_turn) continue;
        attempt.failure = failures[i];
        list.push_back(attempt);
    }
}

std::vector<Attempt> attempts(Counts const& requests) {
    auto const usual = usual_failures();
    auto const rare = rare_failures();
    std::vector<Attempt> list;
    for (auto const cluster : kClusters) {
        for (std::size_t nth = 1; nth <= requests.at(index_of(cluster)); ++nth) {
            add_turns(list, {cluster, nth, {}}, usual, 2);
            add_turns(list, {cluster, nth, {}}, rare, 1);
        }
    }
    return list;
}

bool is_on_control_plane(std::string const& place) { return place.starts_with("mcp--"); }

/// What must be so whatever happened: nothing forbidden was done, nothing is left over, and nothing is written any more.
void expect_sound(Simulation& simulation, bool control_plane_counts = true) {
    std::size_t const writes = simulation.writes();
    simulation.ping();
    EXPECT_EQ(simulation.writes(), writes) << "a settled world is written to";
    EXPECT_EQ(simulation.wrongs(), std::vector<std::string>{});
    auto orphans = simulation.orphans();
    if (!control_plane_counts) std::erase_if(orphans, is_on_control_plane);
    EXPECT_EQ(orphans, std::vector<std::string>{});
}

/// The objects that are other ones than in the reference run, and how.
Json difference(Json wanted, Json actual, bool control_plane_counts) {
    for (auto* state : {&wanted, &actual}) {
        std::erase_if(state->get_ref<Json::object_t&>(),
                      [&](auto const& entry) { return !control_plane_counts && is_on_control_plane(entry.first); });
    }
    return Json::diff(wanted, actual);
}

void expect_retry_after(std::vector<kro::HttpAnswer> const& answers, k8s::Fault const& fault) {
    for (auto const& answer : answers) {
        if (answer.status != 503 || fault.retry_after.empty()) continue;
        EXPECT_EQ(answer.retry_after, std::chrono::seconds{7}) << answer.reason;
    }
}

class Faults : public testing::TestWithParam<Scenario> {
  protected:
    static inline std::size_t tried = 0;

    static void TearDownTestSuite() { std::cout << "faults tried: " << tried << "\n"; }
};

TEST_P(Faults, ChangeNothingInTheEnd) {
    Scenario const& scenario = GetParam();
    auto const beginning = beginning_of(scenario);
    auto const reference = beginning->copy();
    Counts const requests = play(scenario, *reference);
    Json const wanted = reference->state();
    EXPECT_EQ(reference->world.phase_of(support::tenant_named("acme")), scenario.phase);
    expect_sound(*reference);

    auto const list = attempts(requests);
    ASSERT_GT(list.size(), 2 * (requests[0] + requests[1]));
    for (auto const& [cluster, nth, failure] : list) {
        SCOPED_TRACE(std::string{failure.name} + " for request " + std::to_string(nth) + " to the " +
                     std::string{name_of(cluster)});
        auto const simulation = beginning->copy();
        simulation->traffic(cluster).fails_at = nth;
        simulation->traffic(cluster).fault = failure.fault;
        static_cast<void>(play(scenario, *simulation));
        ++tried;
        bool const control_plane_counts = cluster != Cluster::ControlPlane || !scenario.gives_control_plane_up;
        Json const differences = difference(wanted, simulation->state(), control_plane_counts);
        EXPECT_TRUE(differences.empty()) << base::dump_json(differences);
        expect_sound(*simulation, control_plane_counts);
        expect_retry_after(simulation->answers, failure.fault);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(, Faults, testing::ValuesIn(scenarios()), [](auto const& row) {
    std::string name;
    for (char const c : row.param.name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    }
    return name;
});

}  // namespace
