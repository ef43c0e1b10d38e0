// What the inner parts cost, without any socket: `scripts/bench inner`.

#include "base/json.hpp"
#include "events/http_binding.hpp"
#include "events/knative.hpp"
#include "function/reconcile/plan.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <benchmark/benchmark.h>

namespace {

kro::Tenant const kTenant{std::string{support::kOnboardingNamespace}, "acme"};

events::HttpMessage kro_event(kro::Tenant const& tenant) {
    base::Json const object = support::kro_named(tenant.name);
    return {{{"ce-specversion", "1.0"},
             {"ce-id", "1"},
             {"ce-type", "dev.knative.apiserver.resource.update"},
             {"ce-source", "https://10.96.0.1:443"},
             {"ce-kind", "Kro"},
             {"ce-apiversion", "kro.services.openmcp.cloud/v1alpha1"},
             {"ce-name", tenant.name},
             {"ce-namespace", tenant.namespace_},
             {"content-type", "application/json"}},
            base::dump_json(object)};
}

void read_event(benchmark::State& state) {
    auto const message = kro_event(kTenant);
    for (auto _ : state) {
        auto const parsed = events::parse_http(message);
        benchmark::DoNotOptimize(events::meaning_of(parsed->front()));
    }
}
BENCHMARK(read_event);

/// A tenant that is as it should be, decided on what was read of it before.
void plan_steady_tenant(benchmark::State& state) {
    support::World world;
    world.install(support::kro_named(kTenant.name));
    kro::Observed observed{kTenant, kro::kKros, false, {}, std::nullopt};
    for (;;) {
        kro::Plan const plan = kro::plan_for(observed, world.provider, world.now);
        if (plan.reads.empty()) break;
        for (auto const& target : plan.reads) {
            kro::Seen seen;
            if (auto object = world.api_of(target.cluster).find(target.resource, target.key)) {
                seen.state = kro::Seen::State::Present;
                seen.object = *std::move(object);
            }
            observed.seen[target] = std::move(seen);
        }
    }
    for (auto _ : state) benchmark::DoNotOptimize(kro::plan_for(observed, world.provider, world.now));
}
BENCHMARK(plan_steady_tenant);

void reconcile_steady_tenant(benchmark::State& state) {
    support::World world{{.kept_requests = 0, .keep_changes = false}};
    world.install(support::kro_named(kTenant.name));
    for (auto _ : state) benchmark::DoNotOptimize(world.reconcile(kTenant));
}
BENCHMARK(reconcile_steady_tenant);

/// From the Kro's creation until both Flux objects are ready, all events together.
void bring_up_a_tenant(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        support::World world;
        state.ResumeTiming();
        world.put_kro(support::kro_named(kTenant.name));
        auto const settled = world.settle();
        state.counters["requests"] = static_cast<double>(settled.requests);
        state.counters["writes"] = static_cast<double>(settled.writes);
    }
}
BENCHMARK(bring_up_a_tenant);

}  // namespace

BENCHMARK_MAIN();
