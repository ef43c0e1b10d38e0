#include "base/base64.hpp"
#include "function/reconcile/act.hpp"
#include "function/reconcile/observe.hpp"
#include "function/reconcile/plan.hpp"
#include "function/record/redact.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

/// With what is left of the secrets, the same is decided.
namespace {

using k8s::Json;
using support::tenant_named;
using support::World;

kro::Redactor const kRedactor{kro::Placeholders{"a key that is long enough for a test"}};

kro::Observed redacted(kro::Observed observed) {
    for (auto& [target, seen] : observed.seen) {
        kRedactor.redact(seen.object, target.resource.kind);
        if (seen.error) seen.error->message = kRedactor.redacted(seen.error->message);
    }
    return observed;
}

void expect_same(kro::Plan const& plan, kro::Plan const& clean) {
    EXPECT_EQ(clean.reads, plan.reads);
    EXPECT_EQ(clean.outcome.kind, plan.outcome.kind);
    EXPECT_EQ(clean.outcome.why, kRedactor.redacted(plan.outcome.why));
    ASSERT_EQ(clean.steps.size(), plan.steps.size());
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        kro::Step const& step = plan.steps[i];
        EXPECT_EQ(k8s::describe(clean.steps[i].request), k8s::describe(step.request));
        EXPECT_EQ(clean.steps[i].why, step.why);
        Json body = step.request.body;
        kRedactor.redact(body, step.request.resource.kind);
        EXPECT_EQ(clean.steps[i].request.body, body) << step.why;
    }
}

/// What a run of reconcile() does, with every plan of it made a second time from redacted objects. How many steps were planned.
std::size_t run(World& world, kro::Tenant const& tenant) {
    kro::Observed observed{tenant, world.clusters.kros(), false, {}, std::nullopt};
    kro::Report report;
    std::size_t steps = 0;
    for (int turn = 0; turn < 40; ++turn) {
        kro::Plan const plan = kro::plan_for(observed, world.provider, world.now);
        expect_same(plan, kro::plan_for(redacted(observed), world.provider, world.now));
        if (!plan.reads.empty()) {
            kro::observe(world.clusters, observed, plan.reads, support::kNever, report);
        } else if (!plan.steps.empty()) {
            steps += plan.steps.size();
            EXPECT_EQ(kro::act(world.clusters, observed, plan.steps, support::kNever, report), kro::Acted::Well);
        } else {
            return steps;
        }
    }
    ADD_FAILURE() << "does not end";
    return steps;
}

/// Lets the platform and Flux react in between, until nothing is left to do. How many steps were planned.
std::size_t settle(World& world, kro::Tenant const& tenant) {
    std::size_t steps = 0;
    for (int round = 0; round < 20; ++round) {
        std::size_t const planned = run(world, tenant);
        bool changed = false;
        for (auto changes = world.platform->take_changes(); !changes.empty(); changes = world.platform->take_changes()) {
            changed = true;
            for (auto const& change : changes) world.stand_in->react(change);
        }
        steps += planned;
        if (planned == 0 && !changed) return steps;
    }
    ADD_FAILURE() << "does not settle";
    return steps;
}

Json config(std::string const& password) {
    return support::provider_config(
        {{"imagePullSecret", {{"name", "chart-pull"}}},
         {"caBundleRef", {{"name", "corporate-ca"}, {"key", "ca.crt"}}},
         {"values", {{"imagePullSecrets", {{{"name", "image-pull"}}}}, {"db", {{"password", password}, {"pin", 12345}}}}}});
}

/// A tenant with everything that can be set, brought to Ready.
void install(World& world) {
    world.put(config("one"));
    world.put(support::pull_secret("chart-pull"));
    world.put(support::pull_secret("image-pull"));
    world.put(support::ca_bundle("corporate-ca"));
    world.put(support::kro_named("acme"), kro::Cluster::Onboarding);
    EXPECT_GT(settle(world, tenant_named("acme")), 8U);
    ASSERT_EQ(world.phase_of(tenant_named("acme")), "Ready");
}

TEST(RedactedObjects, LeadToTheSamePlanOfAnInstallation) {
    World world;
    install(world);
}

struct Change {
    char const* name;
    std::function<void(World&)> make;
    bool needs_steps = true;

    friend void PrintTo(Change const& change, std::ostream* out) { *out << change.name; }
};

class RedactedObjectsAfter : public testing::TestWithParam<Change> {};

TEST_P(RedactedObjectsAfter, LeadToTheSamePlan) {
    World world;
    install(world);
    EXPECT_EQ(settle(world, tenant_named("acme")), 0U);
    GetParam().make(world);
    EXPECT_EQ(settle(world, tenant_named("acme")) > 0, GetParam().needs_steps);
}

Json kubeconfig_with(World const& world, std::string const& text) {
    Json secret = world.object(k8s::kSecrets, support::kubeconfig_key(tenant_named("acme")));
    secret["data"]["kubeconfig"] = base::encode_base64(text);
    return secret;
}

INSTANTIATE_TEST_SUITE_P(
    , RedactedObjectsAfter,
    testing::Values(
        Change{"AnotherVersion", [](World& world) { world.put(support::kro_named("acme", "0.9.2"), kro::Cluster::Onboarding); }},
        Change{"APasswordInTheValues", [](World& world) { world.put(config("two")); }},
        Change{"TheSameValues", [](World& world) { world.put(config("one")); }, false},
        Change{"ARotatedPullSecret", [](World& world) { world.put(support::pull_secret("chart-pull", "other.test")); }},
        Change{"ARotatedImagePullSecret", [](World& world) { world.put(support::pull_secret("image-pull", "other.test")); }},
        Change{"ABrokenPullSecret",
               [](World& world) {
                   world.put(support::secret("chart-pull", "kubernetes.io/dockerconfigjson", {{".dockerconfigjson", "no JSON"}}));
               }},
        Change{"APullSecretOfAnotherType",
               [](World& world) {
                   world.put(support::secret("image-pull", "Opaque", {{"x", "y"}}));
               }},
        Change{"AChangedCopy",
               [](World& world) {
                   Json copy = world.object(k8s::kSecrets, support::copy_key(tenant_named("acme"), "chart-pull"));
                   copy["data"][".dockerconfigjson"] = "e30=";
                   world.put(copy);
               }},
        Change{"AnotherCaBundle",
               [](World& world) {
                   Json bundle = support::ca_bundle("corporate-ca");
                   bundle["data"]["ca.crt"] = bundle["data"]["ca.crt"].get<std::string>() + "# one more\n";
                   world.put(bundle);
               }},
        Change{"ACaBundleWithoutCertificate",
               [](World& world) {
                   Json bundle = support::ca_bundle("corporate-ca");
                   bundle["data"]["ca.crt"] = "nothing of the kind";
                   world.put(bundle);
               }},
        Change{"AKubeconfigThatIsNoText",
               [](World& world) {
                   Json secret = kubeconfig_with(world, "");
                   secret["data"]["kubeconfig"] = "no base64!";
                   world.put(secret);
               }},
        Change{"ADeletion",
               [](World& world) {
                   Json kro = world.kro(tenant_named("acme"));
                   world.put(support::deleted(kro), kro::Cluster::Onboarding);
               }}),
    [](auto const& row) { return row.param.name; });

}  // namespace
