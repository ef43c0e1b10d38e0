#include "function/reconcile/plan.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using base::Json;
using kro::Cluster;
using kro::Observed;
using kro::Outcome;
using kro::Plan;
using kro::Seen;
using kro::Target;
using support::json;
using support::kNoon;
using support::kro_named;
using support::stored;

kro::Tenant const kAcme = support::tenant_named("acme");
kro::Provider const kProvider;

Target const kKro{Cluster::Onboarding, kro::kKros, {kAcme.namespace_, kAcme.name}};
Target const kConfig{Cluster::Platform, kro::kProviderConfigs, {{}, "kro"}};
Target const kAccess{Cluster::Platform, kro::kAccessRequests, {kro::tenant_namespace(kAcme), kro::request_name(kAcme)}};

Seen found(Json object) { return {Seen::State::Present, std::move(object), std::nullopt, false}; }
Seen failed(k8s::Error::Kind kind) {
    k8s::Error error;
    error.kind = kind;
    error.message = "get x: no";
    return {Seen::State::Failed, {}, error, false};
}

Observed nothing_yet() { return {kAcme, kro::kKros, false, {}, std::nullopt}; }

Observed first_look(Json kro) {
    Observed observed = nothing_yet();
    observed.seen[kKro] = found(std::move(kro));
    observed.seen[kConfig] = found(stored(support::provider_config()));
    observed.seen[kAccess] = {};
    return observed;
}

TEST(Plan, StartsWithOneRoundOfReads) {
    Plan const plan = kro::plan_for(nothing_yet(), kProvider, kNoon);
    EXPECT_EQ(plan.reads, (std::vector<Target>{kKro, kConfig, kAccess}));
    EXPECT_TRUE(plan.steps.empty());
}

TEST(Plan, LooksAtTheFluxObjectsAtOnceForAnEventAboutOne) {
    Observed observed = nothing_yet();
    observed.expects_flux = true;
    EXPECT_EQ(kro::plan_for(observed, kProvider, kNoon).reads.size(), 5U);
}

TEST(Plan, IsTheSameForTheSameObserved) {
    Observed const observed = first_look(stored(kro_named("acme")));
    Plan const one = kro::plan_for(observed, kProvider, kNoon);
    Plan const two = kro::plan_for(observed, kProvider, kNoon);
    ASSERT_EQ(one.steps.size(), two.steps.size());
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
        EXPECT_EQ(base::dump_json(one.steps[i].request.body), base::dump_json(two.steps[i].request.body));
        EXPECT_EQ(one.steps[i].why, two.steps[i].why);
    }
}

TEST(Plan, OfANewTenantSetsTheFinalizerAndMakesTheNamespaceFirst) {
    Plan const plan = kro::plan_for(first_look(stored(kro_named("acme"))), kProvider, kNoon);
    EXPECT_TRUE(plan.reads.empty());
    ASSERT_EQ(plan.steps.size(), 2U);
    EXPECT_EQ(k8s::describe(plan.steps[0].request), "patch kros.kro.services.openmcp.cloud project-a--ws-b/acme");
    EXPECT_EQ(plan.steps[0].request.body["metadata"]["resourceVersion"], "100");
    EXPECT_EQ(plan.steps[0].request.body["metadata"]["finalizers"], json(R"(["kro.services.openmcp.cloud/finalizer"])"));
    EXPECT_EQ(k8s::describe(plan.steps[1].request), "create namespaces " + kro::tenant_namespace(kAcme));
    for (auto const& step : plan.steps) EXPECT_NE(step.why, "");
}

TEST(Plan, OfAKroThatIsGoneIsEmpty) {
    Observed observed = first_look({});
    observed.seen[kKro] = {};
    Plan const plan = kro::plan_for(observed, kProvider, kNoon);
    EXPECT_TRUE(plan.reads.empty() && plan.steps.empty());
    EXPECT_EQ(plan.outcome.kind, Outcome::Kind::Done);
}

TEST(Plan, OfAKroThatCannotBeReadIsAnotherTry) {
    Observed observed = first_look({});
    observed.seen[kKro] = failed(k8s::Error::Kind::Forbidden);
    Plan const plan = kro::plan_for(observed, kProvider, kNoon);
    EXPECT_TRUE(plan.reads.empty() && plan.steps.empty());
    EXPECT_EQ(plan.outcome.kind, Outcome::Kind::Retry);
}

TEST(Plan, OfADeletionNeverMakesAnything) {
    Observed observed = first_look(support::deleted(support::with_finalizer(stored(kro_named("acme")))));
    observed.seen[kAccess] = found(stored(support::granted(support::access_request(kAcme))));
    for (int turn = 0; turn < 10; ++turn) {
        Plan const plan = kro::plan_for(observed, kProvider, kNoon);
        for (auto const& target : plan.reads) observed.seen[target] = {};
        for (auto const& step : plan.steps) {
            bool const makes = step.request.verb == k8s::Request::Verb::Apply || step.request.verb == k8s::Request::Verb::Create;
            EXPECT_TRUE(!makes || step.cluster == Cluster::Onboarding) << k8s::describe(step.request);
            if (step.request.resource == kro::kKros) observed.seen[kKro].object["status"] = step.request.body["status"];
        }
        if (plan.reads.empty() && plan.steps.empty()) break;
    }
}

TEST(ReadOf, ATargetWithoutANameIsTheListOfWhatIsOurs) {
    k8s::Request const secrets = kro::read_of({Cluster::Platform, k8s::kSecrets, {"ns", {}}});
    EXPECT_EQ(secrets.verb, k8s::Request::Verb::List);
    EXPECT_EQ(secrets.label_selector, "openmcp.cloud/managed-by=kro.services.openmcp.cloud");
    k8s::Request const definitions = kro::read_of({Cluster::ControlPlane, kro::kResourceGraphDefinitions, {}});
    EXPECT_EQ(definitions.label_selector, "") << "the user's own objects";
    EXPECT_EQ(definitions.contents, k8s::Request::Contents::Metadata);
    EXPECT_GT(definitions.limit, 0);
}

TEST(KubeconfigTarget, IsWhatTheAccessRequestSays) {
    Observed observed = first_look({});
    EXPECT_FALSE(kro::kubeconfig_target(observed));
    observed.seen[kAccess] = found(support::access_request(kAcme));
    EXPECT_FALSE(kro::kubeconfig_target(observed));
    observed.seen[kAccess] = found(support::granted(support::access_request(kAcme)));
    EXPECT_EQ(kro::kubeconfig_target(observed)->key,
              (k8s::ObjectKey{kro::tenant_namespace(kAcme), kro::request_name(kAcme) + ".kubeconfig"}));
}

TEST(KubeconfigText, IsTakenFromItsKeyOrRefusedByIt) {
    Json secret = support::kubeconfig_secret(kAcme);
    EXPECT_TRUE(kro::kubeconfig_text(secret).value().starts_with("apiVersion: v1"));
    for (Json const& data : {json("{}"), json(R"({"kubeconfig": ""})"), json(R"({"kubeconfig": "s3cr3t!"})"), json("null")}) {
        secret["data"] = data;
        auto const text = kro::kubeconfig_text(secret);
        ASSERT_FALSE(text) << data;
        EXPECT_NE(text.error().find(kro::request_name(kAcme) + ".kubeconfig, key kubeconfig"), std::string::npos) << text.error();
        EXPECT_EQ(text.error().find("s3cr3t"), std::string::npos) << text.error();
    }
}

}  // namespace
