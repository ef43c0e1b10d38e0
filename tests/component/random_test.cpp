#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Users do anything, and events arrive in any order, twice or never: after one tick everything is as if they had come in order.
namespace {

using component::Json;
using component::Simulation;
using support::kro_named;

/// Numbers that are the same on every machine for the same seed.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    /// 0 to `sides` - 1.
    std::size_t roll(std::size_t sides) { return static_cast<std::size_t>(engine_() % sides); }
    bool one_in(std::size_t sides) { return roll(sides) == 0; }
    template <class T>
    T const& pick(std::vector<T> const& from) {
        return from.at(roll(from.size()));
    }

  private:
    std::mt19937_64 engine_;
};

struct Action {
    std::string what;
    std::function<void(Simulation&)> act;
};

/// What happens between two ticks.
using Phase = std::vector<Action>;

k8s::ObjectKey source(std::string const& name) { return {std::string{support::kProviderNamespace}, name}; }

Action set_config(std::string const& what, Json const& spec) {
    return {what, [spec](Simulation& simulation) { simulation.change_provider_config({{"spec", spec}}); }};
}

Action change_of_config(Dice& dice) {
    std::string const number = std::to_string(dice.roll(3));
    switch (dice.roll(7)) {
        case 0: return set_config("set values " + number, {{"values", {{"replicas", number}}}});
        case 1:
            return set_config("set image pull secrets", {{"values", {{"imagePullSecrets", {{{"name", "image-" + number}}}}}}});
        case 2: return set_config("drop values", {{"values", nullptr}});
        case 3: return set_config("set the pull secret", {{"imagePullSecret", {{"name", "chart-" + number}}}});
        case 4: return set_config("drop the pull secret", {{"imagePullSecret", nullptr}});
        case 5: return set_config("set the CA", {{"caBundleRef", {{"name", "ca"}, {"key", "ca.crt"}}}});
        default: return set_config("drop the CA", {{"caBundleRef", nullptr}});
    }
}

Action rotation(Dice& dice) {
    std::string const name = (dice.one_in(2) ? "chart-" : "image-") + std::to_string(dice.roll(3));
    std::string const registry = "r" + std::to_string(dice.roll(100)) + ".test";
    return {"rotate " + name, [=](Simulation& simulation) {
                simulation.change(k8s::kSecrets, source(name), {{"data", support::pull_secret(name, registry)["data"]}});
            }};
}

/// Which Kros there are when everything has settled, while the script is written.
class Script {
  public:
    explicit Script(std::uint64_t seed) : dice_(seed) {}

    Phase next_phase() {
        Phase phase;
        std::set<std::string> deleted;
        for (int i = 0; i < 10; ++i) phase.push_back(next(deleted));
        // Nothing stays frozen or blocked: what such a tenant looks like depends on when that began.
        for (auto const& name : kNames) {
            phase.push_back({"end of " + name, [name](Simulation& simulation) {
                                 simulation.annotate_kro(name, kro::kOperationAnnotation, nullptr);
                                 simulation.control_plane_of(name)->erase(kro::kResourceGraphDefinitions, {{}, "web"});
                             }});
        }
        return phase;
    }

  private:
    static inline std::vector<std::string> const kNames{"acme", "beta", "gamma"};

    Action next(std::set<std::string>& deleted) {
        std::string const name = dice_.pick(kNames);
        if (!alive_.contains(name) && !deleted.contains(name)) {
            alive_.insert(name);
            return {"create " + name, [name](Simulation& simulation) { simulation.create(kro_named(name)); }};
        }
        switch (dice_.roll(9)) {
            case 0:
            case 1: return change_of_config(dice_);
            case 2: return rotation(dice_);
            case 3:
                alive_.erase(name);
                deleted.insert(name);
                return {"delete " + name, [name](Simulation& simulation) { simulation.remove_kro(name); }};
            case 4: return annotate(name, "ignore");
            case 5: return annotate(name, "reconcile");
            case 6:
                return {"use " + name, [name](Simulation& simulation) {
                            simulation.control_plane_of(name)->put(kro::kResourceGraphDefinitions,
                                                                   support::resource_graph_definition("web"));
                        }};
            default: {
                std::string const version = "0.9." + std::to_string(dice_.roll(9));
                return {name + " to " + version, [=](Simulation& simulation) {
                            simulation.change_kro(name, {{"spec", {{"version", version}}}});
                        }};
            }
        }
    }

    static Action annotate(std::string const& name, std::string const& operation) {
        return {operation + " " + name,
                [=](Simulation& simulation) { simulation.annotate_kro(name, kro::kOperationAnnotation, operation); }};
    }

    Dice dice_;
    std::set<std::string> alive_;
};

/// A source that has lost all order.
class Chaos {
  public:
    explicit Chaos(std::uint64_t seed) : dice_(seed) {}

    void after(Simulation& simulation) {
        for (auto& event : simulation.take_events()) waiting_.push_back(std::move(event));
        for (std::size_t i = dice_.roll(4); i > 0; --i) deliver_any(simulation);
        if (dice_.one_in(8)) simulation.replace_pod();
        if (dice_.one_in(8)) simulation.deliver(component::ping_event());
    }

    void end(Simulation& simulation) {
        waiting_.clear();
        simulation.take_events();
        for (auto const cluster : {kro::Cluster::Onboarding, kro::Cluster::Platform, kro::Cluster::ControlPlane}) {
            simulation.traffic(cluster).fails_at = 0;
        }
    }

  private:
    void deliver_any(Simulation& simulation) {
        if (waiting_.empty() || (dice_.one_in(5) && !delivered_.empty())) {
            if (!delivered_.empty()) simulation.deliver(dice_.pick(delivered_));
            return;
        }
        if (dice_.one_in(3)) break_something(simulation);
        std::size_t const at = dice_.roll(waiting_.size());
        auto const event = waiting_.at(at);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
        if (dice_.one_in(4)) return;
        simulation.deliver(event);
        delivered_.push_back(event);
    }

    void break_something(Simulation& simulation) {
        std::vector<k8s::Fault> const faults{k8s::answer_with(500), k8s::answer_with(403), k8s::conflict(), k8s::cut_after(),
                                             k8s::timeout()};
        std::vector<kro::Cluster> const clusters{kro::Cluster::Onboarding, kro::Cluster::Platform, kro::Cluster::Platform,
                                                 kro::Cluster::ControlPlane};
        auto& traffic = simulation.traffic(dice_.pick(clusters));
        traffic.fault = dice_.pick(faults);
        traffic.fails_at = traffic.requests + 1 + dice_.roll(8);
    }

    Dice dice_;
    std::vector<events::HttpMessage> waiting_;
    std::vector<events::HttpMessage> delivered_;
};

/// Without what tells of the way there: who owns which field, namespaces that were needed for a while, requests handed on to Flux.
Json comparable(Json state) {
    std::function<void(Json&)> const strip = [&](Json& value) {
        if (!value.is_structured()) return;
        if (value.is_object()) {
            for (auto const* name : {"managedFields", "reconcile.fluxcd.io/requestedAt", "reconcile.fluxcd.io/resetAt"})
                value.erase(name);
        }
        for (auto& item : value) strip(item);
    };
    strip(state);
    std::erase_if(state.get_ref<Json::object_t&>(), [](auto const& entry) { return entry.second["kind"] == "Namespace"; });
    return state;
}

void prepare(Simulation& simulation) {
    simulation.most_tries = 4;
    for (auto const* kind : {"chart-", "image-"}) {
        for (int i = 0; i < 3; ++i) simulation.create(support::pull_secret(kind + std::to_string(i)));
    }
    simulation.create(support::ca_bundle("ca"));
    simulation.settle();
}

void expect_sound(Simulation& simulation) {
    simulation.count_from_here();
    simulation.ping();
    EXPECT_EQ(simulation.writes(), 0u) << "a settled world is written to";
    EXPECT_EQ(simulation.wrongs(), std::vector<std::string>{});
    EXPECT_EQ(simulation.orphans(), std::vector<std::string>{});
}

class Chance : public testing::TestWithParam<int> {};

TEST_P(Chance, LeadsWhereOrderLeads) {
    auto const seed = static_cast<std::uint64_t>(GetParam());
    Script script{seed};
    Chaos chaos{seed + 1000};
    Simulation in_order;
    Simulation in_chaos;
    prepare(in_order);
    prepare(in_chaos);
    std::string story = "seed " + std::to_string(seed) + ":";
    for (int i = 0; i < 3; ++i) {
        for (auto const& [what, act] : script.next_phase()) {
            story += "\n  " + what;
            act(in_order);
            in_order.settle();
            act(in_chaos);
            chaos.after(in_chaos);
        }
        story += "\n  tick";
        SCOPED_TRACE(story);
        chaos.end(in_chaos);
        in_order.ping();
        in_chaos.ping();
        Json const difference = Json::diff(comparable(in_order.state()), comparable(in_chaos.state()));
        ASSERT_TRUE(difference.empty()) << base::dump_json(difference);
        expect_sound(in_order);
        expect_sound(in_chaos);
        if (HasFailure()) return;
    }
}

/// KRO_FAULTS=all asks for minutes of it.
int seeds() {
    char const* const wanted = std::getenv("KRO_FAULTS");
    return wanted != nullptr && std::string_view{wanted} == "all" ? 100 : 3;
}

INSTANTIATE_TEST_SUITE_P(, Chance, testing::Range(1, seeds() + 1),
                         [](auto const& row) { return "Seed" + std::to_string(row.param); });

}  // namespace
