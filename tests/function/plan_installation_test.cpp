// Contract section 3: what a tenant gets that is not being deleted. Every test runs reconcile() on clusters in memory and looks at what is there.
#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using base::Json;
using base::member;
using kro::Cluster;
using kro::Outcome;
using kro::Report;
using kro::Tenant;
using support::json;
using support::kro_named;
using support::World;
using Verb = k8s::Request::Verb;

Tenant const kAcme = support::tenant_named("acme");
constexpr std::string_view kOperation = "openmcp.cloud/operation";
constexpr std::string_view kGoOperator = "service-provider-kro";

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A tenant whose access is granted, with nothing of Flux yet and nobody who would make it ready.
struct Granted : World {
    explicit Granted(Json kro = kro_named("acme"), Json config = support::provider_config(),
                     k8s::MemoryOptions const& options = {})
        : World(options) {
        stand_in.reset();
        put(std::move(config));
        put(support::with_finalizer(std::move(kro)), Cluster::Onboarding);
        put(support::granted(support::access_request(kAcme)));
        put(support::kubeconfig_secret(kAcme));
    }
};

Json config_with(std::string_view spec) { return support::provider_config(json(spec)); }

/// What another manager writes by update, as the Go operator does: created, so that it owns its fields.
void create_as(World& world, Json object, Cluster cluster = Cluster::Platform) {
    k8s::Resource const resource = support::resource_of(object);
    Json const status = member(object, "status");
    Json namespace_ = json(R"({"apiVersion": "v1", "kind": "Namespace"})");
    namespace_["metadata"]["name"] = k8s::namespace_of(object);
    if (!k8s::namespace_of(object).empty()) world.api_of(cluster).put(k8s::kNamespaces, namespace_);
    k8s::ObjectKey const key = k8s::key_of(object);
    k8s::send_one(world.api_of(cluster), k8s::create(resource, std::move(object), kGoOperator), support::kNever).value();
    if (status.is_null()) return;
    k8s::Request patch = k8s::merge_patch(resource, key, {{"status", status}}, kGoOperator);
    patch.subresource = "status";
    k8s::send_one(world.api_of(cluster), patch, support::kNever).value();
}

// --- Step 1: whether to look at all

TEST(IgnoreAnnotation, OnAKroFreezesIt) {
    for (auto const* state : {"new", "deleted"}) {
        World world;
        Json kro = support::annotated(support::with_finalizer(kro_named("acme")), kOperation, "ignore");
        if (std::string{state} == "deleted") kro = support::deleted(kro);
        world.put_kro(kro);
        Report const report = world.reconcile(kAcme);
        EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done) << state;
        EXPECT_EQ(report.writes, 0U) << state;
    }
}

TEST(IgnoreAnnotation, OnTheProviderConfigFreezesEveryTenant) {
    World world;
    world.put(support::annotated(support::provider_config(), kOperation, "ignore"));
    world.put_kro(kro_named("acme"));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(report.writes, 0U);
}

TEST(IgnoreAnnotation, OnTheProviderConfigDoesNotHoldUpADeletion) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::annotated(support::provider_config(), kOperation, "ignore"));
    world.put(support::deleted(world.kro(kAcme)), Cluster::Onboarding);
    world.settle();
    EXPECT_TRUE(world.kro(kAcme).is_null());
}

TEST(UnknownOperation, IsNone) {
    World world;
    world.install(support::annotated(kro_named("acme"), kOperation, "dance"));
    EXPECT_EQ(k8s::annotation_of(world.kro(kAcme), kOperation), "dance");
}

TEST(ReconcileAnnotation, IsHandedOnToFluxAndTakenOff) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::annotated(world.kro(kAcme), kOperation, "reconcile"), Cluster::Onboarding);
    world.reconcile(kAcme);
    std::string const token = base::rfc3339_nano(world.now);
    EXPECT_EQ(k8s::annotation_of(world.oci_repository_of(kAcme), "reconcile.fluxcd.io/requestedAt"), token);
    EXPECT_EQ(k8s::annotation_of(world.helm_release_of(kAcme), "reconcile.fluxcd.io/requestedAt"), token);
    EXPECT_EQ(k8s::annotation_of(world.helm_release_of(kAcme), "reconcile.fluxcd.io/resetAt"), token);
    EXPECT_EQ(k8s::annotation_of(world.oci_repository_of(kAcme), "reconcile.fluxcd.io/resetAt"), "");
    EXPECT_EQ(k8s::annotation_of(world.kro(kAcme), kOperation), "");
    EXPECT_EQ(k8s::annotation_of(world.helm_release_of(kAcme), "kro.services.openmcp.cloud/tenant"), "project-a--ws-b/acme");
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U) << "the annotations are none of the applied fields";
}

TEST(ReconcileAnnotation, IsTakenOffLast) {
    World world;
    world.install(kro_named("acme"));
    world.put(support::annotated(world.kro(kAcme), kOperation, "reconcile"), Cluster::Onboarding);
    world.platform->fail_when(k8s::on(Verb::MergePatch, kro::kHelmReleases), k8s::answer_with(500));
    world.reconcile(kAcme);
    EXPECT_EQ(k8s::annotation_of(world.kro(kAcme), kOperation), "reconcile") << "a retry must still know of it";
}

TEST(ReconcileAnnotation, OfATenantWithoutFluxObjectsIsJustTakenOff) {
    World world;
    world.put_kro(support::annotated(kro_named("acme"), kOperation, "reconcile"));
    world.reconcile(kAcme);
    EXPECT_EQ(k8s::annotation_of(world.kro(kAcme), kOperation), "");
}

TEST(ReconcileAnnotation, ReachesFluxThoughTheConfigurationIsInError) {
    World world;
    world.install(kro_named("acme"));
    world.put(config_with(R"({"chartURL": "https://no.test/kro"})"));
    world.put(support::annotated(world.kro(kAcme), kOperation, "reconcile"), Cluster::Onboarding);
    world.reconcile(kAcme);
    EXPECT_NE(k8s::annotation_of(world.helm_release_of(kAcme), "reconcile.fluxcd.io/requestedAt"), "");
    EXPECT_EQ(k8s::annotation_of(world.kro(kAcme), kOperation), "");
}

TEST(ReconcileAnnotation, MendsWhatUsedUpItsRetriesAsTheStatusSays) {
    Granted world;
    world.reconcile(kAcme);
    world.put(support::ready(world.oci_repository_of(kAcme)));
    world.put(support::not_ready(world.helm_release_of(kAcme), "RetriesExceeded", "Failed to install after 4 attempt(s)"));
    world.reconcile(kAcme);
    std::string const message = world.status_of(kAcme)["resources"][1]["message"];
    EXPECT_TRUE(contains(message, "Failed to install after 4 attempt(s)")) << message;
    EXPECT_TRUE(contains(message, "openmcp.cloud/operation=reconcile")) << message;
}

// --- Step 2: the ProviderConfig

TEST(ProviderConfig, ThatIsMissingIsToldAndWaitedFor) {
    World world;
    world.put(kro_named("acme"), Cluster::Onboarding);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "No ProviderConfig found")) << world.ready_of(kAcme).message;

    world.put(support::provider_config());
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

TEST(ProviderConfig, OfAnotherNameDoesNotCount) {
    World world;
    world.put(kro_named("acme"), Cluster::Onboarding);
    Json other = support::provider_config();
    other["metadata"]["name"] = "other";
    world.put(other);
    world.settle();
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "No ProviderConfig found"));
}

TEST(ProviderConfig, ThatChangesReachesEveryTenant) {
    World world;
    world.install(kro_named("acme"));
    world.install(kro_named("bolt"));
    world.put(config_with(R"({"chartURL": "oci://other.test/kro"})"));
    world.settle();
    for (auto const* name : {"acme", "bolt"}) {
        EXPECT_EQ(world.oci_repository_of(support::tenant_named(name))["spec"]["url"], "oci://other.test/kro");
    }
}

TEST(Version, ThatIsNotOnOfferIsToldWithWhatIs) {
    World world;
    world.put(config_with(R"({"versions": [{"version": "0.9.0"}, {"version": "1.0.0"}]})"));
    world.put_kro(kro_named("acme"));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting) << "no retry until something changes";
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "0.9.0, 1.0.0")) << world.ready_of(kAcme).message;
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
}

TEST(Version, ThatIsNoLongerOnOfferDoesNotHoldUpADeletion) {
    World world;
    world.install(kro_named("acme"));
    world.put(config_with(R"({"versions": [{"version": "2.0.0"}]})"));
    world.put(support::deleted(world.kro(kAcme)), Cluster::Onboarding);
    world.settle();
    EXPECT_TRUE(world.kro(kAcme).is_null());
}

TEST(UnusableChartUrl, ThatCannotBeUsedIsToldBeforeAnythingOfFluxIsWritten) {
    for (auto const* url :
         {"oci://registry.test:5000", "oci://registry.test/charts/kro:0.9.1", "https://registry.test/charts/kro"}) {
        Granted world{kro_named("acme"), config_with(R"({"chartURL": ")" + std::string{url} + R"("})")};
        world.reconcile(kAcme);
        EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
        EXPECT_TRUE(contains(world.ready_of(kAcme).message, url)) << world.ready_of(kAcme).message;
        EXPECT_TRUE(world.oci_repository_of(kAcme).is_null());
        EXPECT_TRUE(world.helm_release_of(kAcme).is_null());
    }
}

// --- Step 3: the finalizer

TEST(Finalizer, IsThereBeforeAnythingThatWouldHaveToBeCleanedUp) {
    World world;
    world.put_kro(kro_named("acme"));
    world.platform->fail_when(k8s::on(Verb::Apply, kro::kAccessRequests), k8s::answer_with(500));
    world.reconcile(kAcme);
    EXPECT_TRUE(k8s::has_finalizer(world.kro(kAcme), kro::kFinalizer));
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
}

TEST(Finalizer, ThatCannotBeSetKeepsEverythingElseFromBeingMade) {
    World world;
    world.put_kro(kro_named("acme"));
    world.onboarding->fail_when(k8s::on(Verb::MergePatch, kro::kKros), k8s::answer_with(403), 100);
    world.settle();
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
}

// --- Step 4 and section 5: access

TEST(Access, IsAskedForInTheTenantsNamespace) {
    World world;
    world.stand_in.reset();
    world.put_kro(kro_named("acme"));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_TRUE(world.exists(k8s::kNamespaces, {{}, kro::tenant_namespace(kAcme)}));
    Json const request = world.access_request_of(kAcme);
    Json const wanted = support::access_request(kAcme);
    EXPECT_EQ(request["spec"], wanted["spec"]);
    EXPECT_EQ(request["metadata"]["labels"], wanted["metadata"]["labels"]);
    EXPECT_EQ(request["metadata"]["finalizers"], wanted["metadata"]["finalizers"]);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.ready_of(kAcme).reason, "Reconciling");
    EXPECT_EQ(world.ready_of(kAcme).message, "Waiting for access to the control plane");
    EXPECT_TRUE(world.event_messages().empty()) << "waiting is no Warning";
}

struct Unfinished {
    std::string name;
    void (*change)(Json& access_request, Json& secret);  ///< null secret: none
    std::string said;
};

class AccessThatIsNotThere : public testing::TestWithParam<Unfinished> {};

TEST_P(AccessThatIsNotThere, IsWaitedForWithoutAHelmRelease) {
    World world;
    world.stand_in.reset();
    world.put_kro(support::with_finalizer(kro_named("acme")));
    Json request = support::granted(support::access_request(kAcme));
    Json secret = support::kubeconfig_secret(kAcme);
    GetParam().change(request, secret);
    world.put(request);
    if (!secret.is_null()) world.put(secret);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, GetParam().said)) << world.ready_of(kAcme).message;
    EXPECT_TRUE(world.helm_release_of(kAcme).is_null());
}

INSTANTIATE_TEST_SUITE_P(
    , AccessThatIsNotThere,
    testing::Values(Unfinished{"WithoutStatus", [](Json& request, Json&) { request.erase("status"); },
                               "Waiting for access to the control plane"},
                    Unfinished{"Pending", [](Json& request, Json&) { request["status"]["phase"] = "Pending"; },
                               "Waiting for access to the control plane"},
                    Unfinished{"GrantedForAnOlderGeneration", [](Json& request, Json&) { request["metadata"]["generation"] = 2; },
                               "Waiting for access to the control plane"},
                    Unfinished{"GrantedWithoutASecretsName", [](Json& request, Json&) { request["status"].erase("secretRef"); },
                               "names no secret"},
                    Unfinished{"GrantedButTheSecretIsNotThereYet", [](Json&, Json& secret) { secret = nullptr; },
                               "kro.services.openmcp.cloud--acme--mcp.kubeconfig is not there yet"},
                    Unfinished{"SecretWithoutTheKey", [](Json&, Json& secret) { secret["data"] = json(R"({"other": "eA=="})"); },
                               "kro.services.openmcp.cloud--acme--mcp.kubeconfig, key kubeconfig"},
                    Unfinished{"EmptyKey", [](Json&, Json& secret) { secret["data"]["kubeconfig"] = ""; },
                               "kro.services.openmcp.cloud--acme--mcp.kubeconfig, key kubeconfig"},
                    Unfinished{"WithoutData", [](Json&, Json& secret) { secret.erase("data"); }, "key kubeconfig"}),
    [](auto const& row) { return row.param.name; });

TEST(Access, ThatWasDeniedIsToldWithTheReasons) {
    World world;
    world.stand_in.reset();
    world.put_kro(support::with_finalizer(kro_named("acme")));
    Json request = support::access_request(kAcme);
    request["status"] = json(R"({"phase": "Denied", "observedGeneration": 1, "conditions": [
        {"type": "A", "status": "False", "reason": "R", "message": "no such cluster"}, {"type": "B", "status": "True", "message": "fine"},
        {"type": "C", "status": "Unknown", "message": "profile is unknown"}]})");
    world.put(request);
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "no such cluster; profile is unknown")) << world.ready_of(kAcme).message;
    EXPECT_FALSE(contains(world.ready_of(kAcme).message, "fine"));
}

TEST(Access, ThatWasDeniedWithoutAWordIsTold) {
    World world;
    world.stand_in.reset();
    world.put_kro(support::with_finalizer(kro_named("acme")));
    Json request = support::access_request(kAcme);
    request["status"] = json(R"({"phase": "Denied", "observedGeneration": 1})");
    world.put(request);
    world.reconcile(kAcme);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "access was denied")) << world.ready_of(kAcme).message;
}

TEST(Access, OfSomeoneElseIsNeverTakenOver) {
    for (auto const* label : {"openmcp.cloud/managed-by", "openmcp.cloud/managed-purpose", "openmcp.cloud/onboarding-name"}) {
        World world;
        world.put_kro(support::with_finalizer(kro_named("acme")));
        Json const before = world.put(support::labelled(support::granted(support::access_request(kAcme)), label, "other"));
        EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
        EXPECT_EQ(world.access_request_of(kAcme), before);
        EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
        EXPECT_TRUE(contains(world.ready_of(kAcme).message, label)) << world.ready_of(kAcme).message;
    }
}

TEST(Access, ForAnotherRequestIsToldAndLeftAlone) {
    World world;
    world.put_kro(support::with_finalizer(kro_named("acme")));
    Json request = support::granted(support::access_request(kAcme));
    request["spec"]["requestRef"]["name"] = "other";
    Json const before = world.put(request);
    world.reconcile(kAcme);
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(report.writes, 0U) << "no 422 again and again";
    EXPECT_EQ(world.access_request_of(kAcme), before);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "spec.requestRef")) << world.ready_of(kAcme).message;
}

TEST(Access, WithOtherRolesGetsOurs) {
    Granted world;
    Json request = world.access_request_of(kAcme);
    request["spec"]["token"]["roleRefs"][0]["name"] = "view";
    world.put(request);
    world.reconcile(kAcme);
    EXPECT_EQ(world.access_request_of(kAcme)["spec"]["token"]["roleRefs"],
              json(R"([{"kind": "ClusterRole", "name": "cluster-admin"}])"));
}

TEST(Access, KeepsWhatThePlatformSetsOnIt) {
    Granted world;
    Json request = world.access_request_of(kAcme);
    request["spec"]["clusterRef"] = json(R"({"name": "c", "namespace": "n"})");
    request["metadata"]["labels"]["clusters.openmcp.cloud/provider"] = "p";
    request["metadata"]["labels"]["clusters.openmcp.cloud/profile"] = "f";
    world.put(request);
    world.reconcile(kAcme);
    Json const after = world.access_request_of(kAcme);
    EXPECT_EQ(after["spec"]["clusterRef"]["name"], "c");
    EXPECT_EQ(k8s::label_of(after, "clusters.openmcp.cloud/provider"), "p");
    EXPECT_EQ(k8s::label_of(after, "clusters.openmcp.cloud/profile"), "f");
    EXPECT_FALSE(world.helm_release_of(kAcme).is_null());
}

TEST(Access, ThatIsBeingGivenBackIsAskedForAnewWhenItIsGone) {
    World world;
    world.put_kro(support::with_finalizer(kro_named("acme")));
    Json const before =
        world.put(support::with_finalizer(support::deleted(support::granted(support::access_request(kAcme))), "provider/x"));
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.access_request_of(kAcme), before) << "never renewed";
    world.platform->erase(kro::kAccessRequests, support::access_request_key(kAcme));
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

TEST(Kubeconfig, ThatWouldRunACommandIsRefusedByItsField) {
    Granted world;
    Json data = Json::object();
    data["kubeconfig"] =
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: \"https://a.test\"}}]\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "users: [{name: a, user: {exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1}}}]\n";
    world.put(support::in_namespace(support::secret(support::kubeconfig_key(kAcme).name, "Opaque", data),
                                    kro::tenant_namespace(kAcme)));
    world.reconcile(kAcme);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "exec")) << world.ready_of(kAcme).message;
    EXPECT_TRUE(world.helm_release_of(kAcme).is_null()) << "Flux would run it";
}

TEST(Namespace, OfOthersKeepsItsLabels) {
    World world;
    Json namespace_ = json(
        R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"foreign": "yes"}, "annotations": {"a": "b"}}})");
    namespace_["metadata"]["name"] = kro::tenant_namespace(kAcme);
    world.put(namespace_);
    world.install(kro_named("acme"));
    Json const after = world.object(k8s::kNamespaces, {{}, kro::tenant_namespace(kAcme)});
    EXPECT_EQ(k8s::label_of(after, "foreign"), "yes");
    EXPECT_EQ(after["metadata"]["annotations"], json(R"({"a": "b"})"));
}

TEST(Namespace, ThatIsMadeByOthersAtTheSameMomentIsUsed) {
    World world;
    world.put_kro(kro_named("acme"));
    world.platform->before(k8s::on(Verb::Create, k8s::kNamespaces), [](k8s::MemoryApi& api) {
        Json namespace_ = json(R"({"metadata": {"labels": {"foreign": "yes"}}})");
        namespace_["metadata"]["name"] = kro::tenant_namespace(kAcme);
        api.put(k8s::kNamespaces, namespace_);
    });
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_EQ(k8s::label_of(world.object(k8s::kNamespaces, {{}, kro::tenant_namespace(kAcme)}), "foreign"), "yes");
}

TEST(Namespace, ThatIsTerminatingIsToldAndNotHammered) {
    World world{{.namespaces = k8s::MemoryOptions::Namespaces::Left}};
    world.put_kro(kro_named("acme"));
    Json namespace_ = json(R"({"status": {"phase": "Terminating"}, "spec": {"finalizers": ["kubernetes"]}})");
    namespace_["metadata"]["name"] = kro::tenant_namespace(kAcme);
    world.put(support::deleted([&] {
        namespace_["kind"] = "Namespace";
        return namespace_;
    }()));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting) << report.outcome.why;
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "is being deleted")) << world.ready_of(kAcme).message;
    auto const asked = world.requests(Cluster::Platform);
    EXPECT_LE(std::count_if(asked.begin(), asked.end(), [](auto const& one) { return one.verb == Verb::Apply; }), 1);
}

// --- Step 5: the chart's pull secret

constexpr std::string_view kWithPullSecret = R"({"imagePullSecret": {"name": "pull"}})";

TEST(PullSecret, IsCopiedWithDataAndTypeAlone) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    world.put(support::annotated(support::labelled(support::pull_secret("pull"), "of", "theirs"), "secret", "yes"));
    world.reconcile(kAcme);
    Json const copy = world.object(k8s::kSecrets, support::copy_key(kAcme, "pull"));
    EXPECT_EQ(copy["data"], support::pull_secret("pull")["data"]);
    EXPECT_EQ(copy["type"], "kubernetes.io/dockerconfigjson");
    EXPECT_EQ(copy["metadata"]["labels"], kro::tenant_labels(kAcme));
    EXPECT_EQ(copy["metadata"]["annotations"], kro::tenant_annotations(kAcme));
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["secretRef"], json(R"({"name": "pull"})"));
}

TEST(PullSecret, ThatIsRotatedIsCopiedAnew) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    world.put(support::pull_secret("pull"));
    world.reconcile(kAcme);
    world.put(support::pull_secret("pull", "new.test"));
    world.reconcile(kAcme);
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull"))["data"],
              support::pull_secret("pull", "new.test")["data"]);
}

struct BadSource {
    std::string name;
    std::optional<Json> secret;
};

class UnusablePullSecret : public testing::TestWithParam<BadSource> {};

TEST_P(UnusablePullSecret, IsToldAndNotCopied) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    if (GetParam().secret) world.put(*GetParam().secret);
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    std::string const message = world.ready_of(kAcme).message;
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(message, "pull")) << message;
    EXPECT_TRUE(contains(message, "openmcp-system")) << message;
    EXPECT_TRUE(contains(message, "kubernetes.io/dockerconfigjson")) << message;
    EXPECT_FALSE(contains(message, "s3cr3t")) << message;
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    EXPECT_TRUE(world.oci_repository_of(kAcme).is_null());

    world.put(support::pull_secret("pull"));
    world.settle();
    EXPECT_FALSE(world.oci_repository_of(kAcme).is_null()) << "seen at once when it is put right";
}

INSTANTIATE_TEST_SUITE_P(
    , UnusablePullSecret,
    testing::Values(
        BadSource{"ThatIsMissing", std::nullopt},
        BadSource{"OfTheOldType", support::secret("pull", "kubernetes.io/dockercfg", json(R"({".dockercfg": "{}"})"))},
        BadSource{"OfTheTypeOpaque", support::secret("pull", "Opaque", json(R"({".dockerconfigjson": "{\"auths\": {}}"})"))},
        BadSource{"ThatIsNoJson",
                  support::secret("pull", "kubernetes.io/dockerconfigjson", json(R"({".dockerconfigjson": "s3cr3t"})"))}),
    [](auto const& row) { return row.param.name; });

TEST(PullSecret, ThatIsNoLongerSetIsRemovedWithItsReference) {
    World world;
    world.put(support::pull_secret("pull"));
    world.put(config_with(kWithPullSecret));
    world.install(kro_named("acme"));
    ASSERT_TRUE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    world.put(support::provider_config());
    world.settle();
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    EXPECT_TRUE(member(world.oci_repository_of(kAcme), "spec", "secretRef").is_null());
    EXPECT_TRUE(world.exists(k8s::kSecrets, {"openmcp-system", "pull"})) << "the source is theirs";
}

TEST(PullSecret, OfAnotherNameReplacesTheFirst) {
    World world;
    world.put(support::pull_secret("pull"));
    world.put(support::pull_secret("other"));
    world.put(config_with(kWithPullSecret));
    world.install(kro_named("acme"));
    world.put(config_with(R"({"imagePullSecret": {"name": "other"}})"));
    world.settle();
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    EXPECT_TRUE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "other")));
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["secretRef"], json(R"({"name": "other"})"));
}

// --- Copies of ours and of others

Json foreign_copy(Json secret) { return support::in_namespace(std::move(secret), kro::tenant_namespace(kAcme)); }

TEST(Copy, OfOthersThatSaysTheSameIsUsedAndLeft) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    world.put(support::pull_secret("pull"));
    Json const before = world.put(foreign_copy(support::pull_secret("pull")));
    world.reconcile(kAcme);
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull")), before);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["secretRef"]["name"], "pull");

    world.put(support::provider_config());
    world.reconcile(kAcme);
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull")), before) << "not ours to remove";
    EXPECT_TRUE(member(world.oci_repository_of(kAcme), "spec", "secretRef").is_null());
}

TEST(Copy, OfOthersThatSaysSomethingElseIsToldAndLeft) {
    for (auto const& other :
         {support::pull_secret("pull", "other.test"), support::secret("pull", "Opaque", json(R"({"a": "b"})"))}) {
        Granted world{kro_named("acme"), config_with(kWithPullSecret)};
        world.put(support::pull_secret("pull"));
        Json const before = world.put(foreign_copy(other));
        world.reconcile(kAcme);
        EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull")), before);
        EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
        EXPECT_TRUE(contains(world.ready_of(kAcme).message, kro::tenant_namespace(kAcme) + "/pull"))
            << world.ready_of(kAcme).message;
    }
}

TEST(Copy, OfOursWithAnotherTypeIsMadeAnewInTheSameRun) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    world.put(support::pull_secret("pull"));
    world.put(support::ours(foreign_copy(support::secret("pull", "Opaque", json(R"({"a": "b"})"))), kAcme));
    world.reconcile(kAcme);
    Json const copy = world.object(k8s::kSecrets, support::copy_key(kAcme, "pull"));
    EXPECT_EQ(copy["type"], "kubernetes.io/dockerconfigjson");
    EXPECT_EQ(copy["data"], support::pull_secret("pull")["data"]);
    EXPECT_FALSE(world.helm_release_of(kAcme).is_null());
    auto const asked = world.requests(Cluster::Platform);
    auto const removal = std::find_if(asked.begin(), asked.end(), [](auto const& one) { return one.verb == Verb::Delete; });
    ASSERT_NE(removal, asked.end());
    EXPECT_NE(removal->preconditions.uid, "");
}

TEST(Copy, OfOursLosesTheKeysThatAnotherManagerWrote) {
    Granted world{kro_named("acme"), config_with(kWithPullSecret)};
    world.put(support::pull_secret("pull"));
    Json copy = support::ours(foreign_copy(support::pull_secret("pull")), kAcme);
    copy["data"]["leftover"] = "eA==";
    create_as(world, copy);
    world.reconcile(kAcme);
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull"))["data"], support::pull_secret("pull")["data"]);
}

// --- Step 6: the OCIRepository

TEST(OciRepository, PointsAtTheChart) {
    Granted world;
    world.reconcile(kAcme);
    Json const repository = world.oci_repository_of(kAcme);
    EXPECT_EQ(repository["spec"]["url"], "oci://registry.k8s.io/kro/charts/kro");
    EXPECT_EQ(repository["spec"]["ref"], json(R"({"tag": "0.9.1"})"));
    EXPECT_EQ(repository["metadata"]["labels"], kro::tenant_labels(kAcme));
}

TEST(OciRepository, FollowsADigest) {
    std::string const digest = "sha256:" + std::string(64, 'a');
    Granted world{kro_named("acme", "0.9.1@" + digest)};
    world.reconcile(kAcme);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["ref"], Json({{"tag", "0.9.1"}, {"digest", digest}}));
    Json kro = world.kro(kAcme);
    kro["spec"]["version"] = "0.9.2";
    world.put(kro, Cluster::Onboarding);
    world.reconcile(kAcme);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["ref"], json(R"({"tag": "0.9.2"})")) << "a digest that stayed would win";
}

TEST(OciRepository, HasTheTagAsHelmStoresIt) {
    Granted world{kro_named("acme", "0.9.1+build.5")};
    world.reconcile(kAcme);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["ref"], json(R"({"tag": "0.9.1_build.5"})"));
}

TEST(FluxObject, ThatIsBeingDeletedIsMadeAnewWhenItIsGone) {
    World world;
    world.install(kro_named("acme"));
    world.platform->hold_deletion_of(kro::kHelmReleases);
    k8s::send_one(*world.platform, k8s::remove(kro::kHelmReleases, support::helm_release_key(kAcme), {}), support::kNever)
        .value();
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Waiting);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "kro-helm-release is being deleted")) << world.ready_of(kAcme).message;
    world.platform->release_deletion_of(kro::kHelmReleases);
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

TEST(FluxObject, WithMoreThanItShouldHaveIsPutRightInOneWrite) {
    World world;
    world.install(kro_named("acme"));
    Json const patch = {{"spec", {{"values", {{"by", "hand"}}}}}};
    ASSERT_TRUE(k8s::send_one(
        *world.platform, k8s::merge_patch(kro::kHelmReleases, support::helm_release_key(kAcme), patch, "hand"), support::kNever));
    world.forget_requests();
    world.reconcile(kAcme);
    EXPECT_TRUE(member(world.helm_release_of(kAcme), "spec", "values").is_null());
    auto const asked = world.requests(Cluster::Platform);
    auto const writes = std::count_if(asked.begin(), asked.end(), [](auto const& one) { return !k8s::is_read(one.verb); });
    EXPECT_EQ(writes, 1) << "an apply would leave what another manager wrote";
}

TEST(FluxObject, WithMoreAndOtherThanItShouldHaveIsPutRight) {
    World world;
    world.install(kro_named("acme"));
    Json const patch = {{"spec", {{"values", {{"by", "hand"}}}, {"interval", "9h"}}}};
    ASSERT_TRUE(k8s::send_one(
        *world.platform, k8s::merge_patch(kro::kHelmReleases, support::helm_release_key(kAcme), patch, "hand"), support::kNever));
    world.reconcile(kAcme);
    EXPECT_TRUE(member(world.helm_release_of(kAcme), "spec", "values").is_null());
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["interval"], "1m0s");
}

TEST(FluxObject, ThatSomebodyRemovedIsMadeAnew) {
    World world;
    world.install(kro_named("acme"));
    world.platform->erase(kro::kOciRepositories, support::oci_repository_key(kAcme));
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_FALSE(world.oci_repository_of(kAcme).is_null());
}

// --- Step 7: image pull secrets on the control plane

constexpr std::string_view kWithImageSecrets = R"({"values": {"imagePullSecrets": [{"name": "img"}, {"name": "old"}]}})";

struct WithImageSecrets : Granted {
    WithImageSecrets() : Granted(kro_named("acme"), config_with(kWithImageSecrets)) {
        put(support::pull_secret("img"));
        put(support::secret("old", "kubernetes.io/dockercfg", json(R"({".dockercfg": "{}"})")));
    }
    Json remote(std::string const& name) const { return object(k8s::kSecrets, support::remote_key(name), Cluster::ControlPlane); }
};

TEST(ImagePullSecrets, AreCopiedIntoANamespaceThatIsMade) {
    WithImageSecrets world;
    world.reconcile(kAcme);
    EXPECT_TRUE(world.exists(k8s::kNamespaces, {{}, "kro-system"}, Cluster::ControlPlane));
    EXPECT_EQ(world.remote("img")["data"], support::pull_secret("img")["data"]);
    EXPECT_EQ(world.remote("img")["metadata"]["labels"], kro::tenant_labels(kAcme));
    EXPECT_EQ(world.remote("old")["type"], "kubernetes.io/dockercfg");
    EXPECT_FALSE(world.helm_release_of(kAcme).is_null());
}

TEST(ImagePullSecrets, ThatCannotBeCopiedAreToldAndTriedAgain) {
    WithImageSecrets world;
    world.control_plane->fail_when(k8s::on(Verb::Apply, k8s::kSecrets), k8s::answer_with(500));
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "control plane: apply secrets")) << world.ready_of(kAcme).message;
    world.reconcile(kAcme);
    EXPECT_FALSE(world.remote("img").is_null());
    EXPECT_FALSE(world.remote("old").is_null());
}

TEST(ImagePullSecrets, ThatAreRotatedAreCopiedAnew) {
    WithImageSecrets world;
    world.reconcile(kAcme);
    world.put(support::pull_secret("img", "new.test"));
    world.reconcile(kAcme);
    EXPECT_EQ(world.remote("img")["data"], support::pull_secret("img", "new.test")["data"]);
}

TEST(ImagePullSecrets, ThatAreNoLongerNamedAreRemoved) {
    WithImageSecrets world;
    world.reconcile(kAcme);
    world.put(config_with(R"({"values": {"imagePullSecrets": [{"name": "img"}]}})"));
    world.reconcile(kAcme);
    EXPECT_TRUE(world.remote("old").is_null());
    EXPECT_FALSE(world.remote("img").is_null());
    world.put(support::provider_config());
    world.reconcile(kAcme);
    EXPECT_TRUE(world.remote("img").is_null());
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(ImagePullSecrets, ThatCannotBeRemovedYetAreRememberedByTheHelmRelease) {
    WithImageSecrets world;
    world.reconcile(kAcme);
    world.put(support::provider_config());
    world.control_plane->fail_when(k8s::on(Verb::Delete, k8s::kSecrets), k8s::answer_with(500), 2);
    world.reconcile(kAcme);
    EXPECT_TRUE(member(world.helm_release_of(kAcme), "spec", "values").is_null());
    EXPECT_EQ(k8s::annotation_of(world.helm_release_of(kAcme), kro::kLeftoversAnnotation), "true");
    EXPECT_FALSE(world.remote("img").is_null());

    // Whatever the next event is about.
    world.reconcile(kAcme, kro::About::FluxObject);
    EXPECT_TRUE(world.remote("img").is_null());
    EXPECT_TRUE(world.remote("old").is_null());
    EXPECT_EQ(k8s::annotation_of(world.helm_release_of(kAcme), kro::kLeftoversAnnotation), "");
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(ImagePullSecrets, OfOthersAreUsedWhereTheySayTheSame) {
    WithImageSecrets world;
    Json const before = world.put(support::in_namespace(support::pull_secret("img"), "kro-system"), Cluster::ControlPlane);
    world.reconcile(kAcme);
    EXPECT_EQ(world.remote("img"), before);
    EXPECT_FALSE(world.helm_release_of(kAcme).is_null());
}

TEST(ImagePullSecrets, OfOthersThatSaySomethingElseAreToldAndLeft) {
    WithImageSecrets world;
    Json const before =
        world.put(support::in_namespace(support::pull_secret("img", "other.test"), "kro-system"), Cluster::ControlPlane);
    world.reconcile(kAcme);
    EXPECT_EQ(world.remote("img"), before);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "kro-system/img on the control plane")) << world.ready_of(kAcme).message;
}

TEST(ImagePullSecrets, ThatAreMissingAreToldWithTheirPlace) {
    WithImageSecrets world;
    world.platform->erase(k8s::kSecrets, {"openmcp-system", "img"});
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "pull secret img does not exist in namespace openmcp-system"))
        << world.ready_of(kAcme).message;
}

TEST(ImagePullSecrets, OfAnotherFormAreToldWithTheForm) {
    Granted world{kro_named("acme"), config_with(R"({"values": {"imagePullSecrets": ["img"]}})")};
    world.reconcile(kAcme);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "{name: <secret>}")) << world.ready_of(kAcme).message;
}

// --- The CA bundle

TEST(CaBundle, ReachesFluxAndTheControlPlane) {
    Granted world{kro_named("acme"), config_with(R"({"caBundleRef": {"name": "ca", "key": "bundle.pem"}})")};
    world.put(support::ca_bundle("ca", "bundle.pem"));
    world.reconcile(kAcme);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"]["certSecretRef"], json(R"({"name": "ca-bundle"})"));
    Json const copy = world.object(k8s::kSecrets, support::copy_key(kAcme, "ca-bundle"));
    EXPECT_EQ(copy["type"], "Opaque");
    EXPECT_FALSE(base::text_of(member(copy, "data", "ca.crt")).empty());
    Json const map = world.object(k8s::kConfigMaps, support::remote_key("ca-bundle"), Cluster::ControlPlane);
    EXPECT_EQ(map["data"]["ca.crt"], support::ca_bundle("ca")["data"]["ca.crt"]);
}

TEST(CaBundle, ThatIsNoLongerSetIsRemovedEverywhere) {
    Granted world{kro_named("acme"), config_with(R"({"caBundleRef": {"name": "ca", "key": "ca.crt"}})")};
    world.put(support::ca_bundle("ca"));
    world.reconcile(kAcme);
    world.put(support::provider_config());
    world.reconcile(kAcme);
    EXPECT_TRUE(member(world.oci_repository_of(kAcme), "spec", "certSecretRef").is_null());
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "ca-bundle")));
    EXPECT_FALSE(world.exists(k8s::kConfigMaps, support::remote_key("ca-bundle"), Cluster::ControlPlane));
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(CaBundle, ThatIsMissingOrNoCertificateIsTold) {
    Granted world{kro_named("acme"), config_with(R"({"caBundleRef": {"name": "ca", "key": "ca.crt"}})")};
    world.reconcile(kAcme);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "ConfigMap openmcp-system/ca")) << world.ready_of(kAcme).message;
    world.put(support::ca_bundle("ca", "other-key"));
    world.reconcile(kAcme);
    EXPECT_TRUE(contains(world.ready_of(kAcme).message, "key ca.crt")) << world.ready_of(kAcme).message;
}

// --- Step 8: the HelmRelease and its values

TEST(HelmRelease, IsLikeTheOneThatTheGoOperatorWrites) {
    Granted world;
    world.reconcile(kAcme);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"], support::helm_release(kAcme)["spec"]);
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"], support::oci_repository(kAcme)["spec"]);
}

TEST(HelmRelease, GetsEveryNumberWithTheBytesThatWereRead) {
    std::string const values =
        R"({"a":9007199254740993,"b":18446744073709551616,"c":1e3,"d":1.0,"e":-0,"f":0.1,"g":1E+2,"h":123456789012345678901234567890})";
    Granted world{kro_named("acme"), config_with(R"({"values": )" + values + "}"), {.respell_numbers = true}};
    // What an API server re-spells when it stores the ProviderConfig is not ours to mend: the numbers are put as they are.
    Granted exact{kro_named("acme"), config_with(R"({"values": )" + values + "}")};
    exact.reconcile(kAcme);
    EXPECT_EQ(base::dump_json(exact.helm_release_of(kAcme)["spec"]["values"]), values);

    world.reconcile(kAcme);
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U) << "1 in the answer is the 1.0 that was sent";
}

TEST(HelmRelease, SeesNoDifferenceInNumbersThatTheServerSpellsAnew) {
    World world{{.respell_numbers = true}};
    // Read as 1.0, stored as 1: as where the two clusters differ in what they make of a number.
    world.put(config_with(R"({"values": {"d": 1.0, "c": 1e3, "h": 123456789012345678901234567890}})"));
    world.install(kro_named("acme"));
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(HelmRelease, KeepsAnExplicitNullThroughAnUpdate) {
    Granted world{kro_named("acme"), config_with(R"({"values": {"resources": {"limits": {"cpu": "1"}}}})")};
    world.reconcile(kAcme);
    world.put(config_with(R"({"values": {"resources": {"limits": {"cpu": null}}}})"));
    world.reconcile(kAcme);
    EXPECT_EQ(base::dump_json(world.helm_release_of(kAcme)["spec"]["values"]), R"({"resources":{"limits":{"cpu":null}}})");
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(HelmRelease, LosesValuesThatWereTakenOut) {
    Granted world;
    for (auto const* values : {R"({"a":1,"b":{"c":2}})", R"({"a":1})", "", "{}", R"({"b":null})", ""}) {
        std::string const text{values};
        world.put(text.empty() ? support::provider_config() : config_with(R"({"values": )" + text + "}"));
        world.reconcile(kAcme);
        Json const actual = member(world.helm_release_of(kAcme), "spec", "values");
        EXPECT_EQ(actual.is_null() ? "" : base::dump_json(actual), text);
        EXPECT_EQ(world.reconcile(kAcme).writes, 0U) << text;
    }
}

TEST(HelmRelease, GetsNumbersThatAreTooLargeForADouble) {
    Granted world{kro_named("acme"), config_with(R"({"values": {"big": 1e400, "small": 4.9e-324, "negative": -1e400}})")};
    world.reconcile(kAcme);
    EXPECT_EQ(base::dump_json(world.helm_release_of(kAcme)["spec"]["values"]),
              R"({"big":1e400,"negative":-1e400,"small":4.9e-324})");
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(HelmRelease, KeepsFieldsOfOthersThatWeDoNotSet) {
    Granted world;
    world.reconcile(kAcme);
    k8s::send_one(
        *world.platform,
        k8s::merge_patch(kro::kHelmReleases, support::helm_release_key(kAcme), json(R"({"spec": {"suspend": true}})"), "user"),
        support::kNever)
        .value();
    world.put(config_with(R"({"values": {"a": 1}})"));
    world.reconcile(kAcme);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["suspend"], true);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["values"], json(R"({"a": 1})"));
}

TEST(HelmRelease, LosesAKubeconfigKeyThatPointsElsewhere) {
    Granted world;
    world.reconcile(kAcme);
    Json release = world.helm_release_of(kAcme);
    release["spec"]["kubeConfig"]["secretRef"]["name"] = "someone-elses";
    world.put(release);
    world.reconcile(kAcme);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["kubeConfig"]["secretRef"]["name"], support::kubeconfig_key(kAcme).name);
}

// --- Step 9: status

TEST(Status, IsReadyWhenBothFluxObjectsAre) {
    World world;
    world.install(kro_named("acme"));
    Json const status = world.status_of(kAcme);
    EXPECT_EQ(status["phase"], "Ready");
    EXPECT_EQ(status["observedGeneration"], 1);
    k8s::Condition const ready = world.ready_of(kAcme);
    EXPECT_EQ(ready.status, "True");
    EXPECT_EQ(ready.reason, "ReconcileSuccess");
    EXPECT_EQ(ready.message, "Domain Service is ready");
    EXPECT_EQ(ready.observed_generation, 1);
    std::string const namespace_ = kro::tenant_namespace(kAcme);
    EXPECT_EQ(status["resources"], json(R"([
        {"apiGroup": "source.toolkit.fluxcd.io", "kind": "OCIRepository", "location": "PlatformCluster", "name": "kro-oci-repository",
         "namespace": ")" + namespace_ + R"(", "phase": "Ready"},
        {"apiGroup": "helm.toolkit.fluxcd.io", "kind": "HelmRelease", "location": "PlatformCluster", "name": "kro-helm-release",
         "namespace": ")" + namespace_ + R"(", "phase": "Ready"}])"));
}

TEST(Status, SaysWhatIsWaitedFor) {
    Granted world;
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.ready_of(kAcme).status, "False");
    EXPECT_EQ(world.ready_of(kAcme).reason, "Reconciling");
    EXPECT_EQ(world.ready_of(kAcme).message, "Waiting for managed resources to become ready");
    EXPECT_EQ(world.status_of(kAcme)["resources"][0]["phase"], "Progressing");
}

TEST(Status, HasTheMessageOfAFluxObjectThatFailed) {
    Granted world;
    world.reconcile(kAcme);
    world.put(support::ready(world.oci_repository_of(kAcme)));
    world.put(
        support::not_ready(world.helm_release_of(kAcme), "InstallFailed", "Helm install failed: context deadline exceeded"));
    world.reconcile(kAcme, kro::About::FluxObject);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.status_of(kAcme)["resources"][0]["phase"], "Ready");
    EXPECT_EQ(world.status_of(kAcme)["resources"][1]["phase"], "Progressing");
    EXPECT_EQ(world.status_of(kAcme)["resources"][1]["message"], "Helm install failed: context deadline exceeded");
}

TEST(Status, WaitsForEachFluxObjectToObserveItsGeneration) {
    Granted world;
    world.reconcile(kAcme);
    auto const seen_at = [&](Json object, int observed) {
        object = support::ready(std::move(object));
        object["metadata"]["generation"] = 2;
        object["status"]["observedGeneration"] = observed;
        world.put(object);
        world.reconcile(kAcme, kro::About::FluxObject);
    };
    seen_at(world.oci_repository_of(kAcme), 1);
    seen_at(world.helm_release_of(kAcme), 1);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    seen_at(world.oci_repository_of(kAcme), 2);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    seen_at(world.helm_release_of(kAcme), 2);
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

TEST(Status, IsNotReadyForANewVersionBeforeFluxHasActedOnIt) {
    Granted world;
    world.reconcile(kAcme);
    world.put(support::ready(world.oci_repository_of(kAcme)));
    world.put(support::ready(world.helm_release_of(kAcme)));
    world.reconcile(kAcme);
    ASSERT_EQ(world.phase_of(kAcme), "Ready");

    Json kro = world.kro(kAcme);
    kro["spec"]["version"] = "0.9.2";
    kro["metadata"]["generation"] = 2;
    world.put(kro, Cluster::Onboarding);
    world.reconcile(kAcme);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.status_of(kAcme)["observedGeneration"], 2);

    // The chart has arrived; the HelmRelease, whose spec did not change, is still Ready for the old one.
    world.put(support::ready(world.oci_repository_of(kAcme), "0.9.2"));
    world.reconcile(kAcme, kro::About::FluxObject);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    world.put(support::ready(world.helm_release_of(kAcme), "0.9.2"));
    world.reconcile(kAcme, kro::About::FluxObject);
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
}

TEST(Status, TurnsBackFromReadyWhenFluxFails) {
    World world;
    world.install(kro_named("acme"));
    world.now += std::chrono::minutes{5};
    world.put(support::not_ready(world.helm_release_of(kAcme), "UpgradeFailed", "no"));
    world.reconcile(kAcme, kro::About::FluxObject);
    EXPECT_EQ(world.phase_of(kAcme), "Progressing");
    EXPECT_EQ(world.kro(kAcme)["status"]["conditions"][0]["lastTransitionTime"], base::rfc3339(world.now));
}

TEST(Status, HasOneReadyConditionWhateverHappensAndLeavesThoseOfOthers) {
    World world;
    world.put(kro_named("acme"), Cluster::Onboarding);
    Json audited = json(
        R"({"apiVersion": "kro.services.openmcp.cloud/v1alpha1", "kind": "Kro", "metadata": {"name": "acme", "namespace": "project-a--ws-b"},
        "status": {"conditions": [{"type": "Audited", "status": "True", "reason": "Fine", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
    k8s::send_one(*world.onboarding, k8s::apply_status(kro::kKros, audited, "auditor"), support::kNever).value();
    auto const types = [&] {
        std::vector<std::string> all;
        Json const status = world.status_of(kAcme);
        for (auto const& condition : status["conditions"]) all.push_back(condition["type"]);
        std::sort(all.begin(), all.end());
        return all;
    };
    std::vector<std::string> const both{"Audited", "Ready"};
    world.reconcile(kAcme);
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_EQ(types(), both);
    world.put(support::provider_config());
    world.settle();
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileSuccess");
    EXPECT_EQ(types(), both);
    world.put(config_with(R"({"chartURL": "https://no"})"));
    world.settle();
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_EQ(types(), both);
    EXPECT_EQ(k8s::find_condition(world.kro(kAcme), "Audited")->reason, "Fine");
}

TEST(Status, GoesToTheStatusSubresourceWithBothRequiredFieldsAtOnce) {
    World world;
    world.put_kro(kro_named("acme"));
    world.reconcile(kAcme);
    auto const asked = world.requests(Cluster::Onboarding);
    auto const first = std::find_if(asked.begin(), asked.end(), [](auto const& one) { return one.subresource == "status"; });
    ASSERT_NE(first, asked.end());
    EXPECT_TRUE(first->body["status"].contains("phase"));
    EXPECT_TRUE(first->body["status"].contains("observedGeneration"));
}

TEST(Error, IsAKubernetesEventOnceAndOneConditionThatStays) {
    World world;
    world.put(kro_named("acme"), Cluster::Onboarding);
    for (int i = 0; i < 3; ++i) world.reconcile(kAcme);
    EXPECT_EQ(world.event_messages().size(), 1U);
    EXPECT_EQ(world.event_messages().front(), world.ready_of(kAcme).message);
}

// --- Taking over from the Go operator, whose manager has written everything by update

struct LeftByTheGoOperator : World {
    LeftByTheGoOperator() {
        stand_in.reset();
        put(support::provider_config());
        create_as(*this, support::with_finalizer(kro_named("acme")), Cluster::Onboarding);
        create_as(*this, support::granted(support::access_request(kAcme)));
        put(support::kubeconfig_secret(kAcme));
    }
    void reconcile_until_quiet() {
        reconcile(kAcme);
        Report const second = reconcile(kAcme);
        EXPECT_EQ(second.writes, 0U) << "the takeover ends with the first run";
    }
};

TEST(Takeover, OfAReadyTenantChangesNothingThatFluxWouldActOn) {
    LeftByTheGoOperator world;
    create_as(world, support::ready(support::oci_repository(kAcme)));
    create_as(world, support::ready(support::helm_release(kAcme)));
    Json const repository = world.oci_repository_of(kAcme);
    Json const release = world.helm_release_of(kAcme);
    world.reconcile_until_quiet();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"], repository["spec"]);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"], release["spec"]);
    EXPECT_EQ(k8s::generation_of(world.helm_release_of(kAcme)), k8s::generation_of(release));
    EXPECT_EQ(world.helm_release_of(kAcme)["metadata"]["labels"], kro::tenant_labels(kAcme)) << "events lead back to the tenant";
}

TEST(Takeover, ForcesOurValuesAndEndsWithOneWritePerObject) {
    LeftByTheGoOperator world;
    Json repository = support::oci_repository(kAcme, "0.8.0");
    repository["spec"]["interval"] = "5m0s";
    repository["spec"]["url"] = "oci://old.test/kro";
    create_as(world, repository);
    Json release = support::helm_release(kAcme);
    release["spec"]["interval"] = "5m0s";
    release["spec"]["suspend"] = false;
    create_as(world, release);
    world.reconcile_until_quiet();
    EXPECT_EQ(world.oci_repository_of(kAcme)["spec"], support::oci_repository(kAcme)["spec"]);
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["interval"], "1m0s");
    EXPECT_EQ(world.helm_release_of(kAcme)["spec"]["suspend"], false) << "a field that we do not set stays";
}

TEST(Takeover, RemovesALeftoverSecretRef) {
    LeftByTheGoOperator world;
    Json repository = support::oci_repository(kAcme);
    repository["spec"]["secretRef"]["name"] = "pull";
    create_as(world, repository);
    create_as(world, support::helm_release(kAcme));
    Json const copy = world.put(foreign_copy(support::pull_secret("pull")));
    world.reconcile_until_quiet();
    EXPECT_TRUE(member(world.oci_repository_of(kAcme), "spec", "secretRef").is_null());
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "pull")), copy) << "a copy without our label is left";
}

TEST(Takeover, RemovesLeftoverValues) {
    LeftByTheGoOperator world;
    create_as(world, support::oci_repository(kAcme));
    Json release = support::helm_release(kAcme);
    release["spec"]["values"] =
        json(R"({"replicaCount": 2, "image": {"tag": "v1", "repository": "r"}, "empty": {}, "list": [1, null]})");
    create_as(world, release);
    world.put(config_with(R"({"values": {"image": {"tag": "v2"}}})"));
    world.reconcile_until_quiet();
    EXPECT_EQ(base::dump_json(world.helm_release_of(kAcme)["spec"]["values"]), R"({"image":{"tag":"v2"}})");
    world.put(support::provider_config());
    world.reconcile_until_quiet();
    EXPECT_TRUE(member(world.helm_release_of(kAcme), "spec", "values").is_null());
}

TEST(Takeover, OfTheFinalizersLetsTheTenantGo) {
    LeftByTheGoOperator world;
    create_as(world, support::oci_repository(kAcme));
    create_as(world, support::helm_release(kAcme));
    k8s::send_one(*world.onboarding, k8s::remove(kro::kKros, {kAcme.namespace_, kAcme.name}, {}), support::kNever).value();
    world.settle();
    EXPECT_TRUE(world.kro(kAcme).is_null());
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
}

TEST(Takeover, OfAStatusThatSaysTheSameIsNoWrite) {
    LeftByTheGoOperator world;
    create_as(world, support::ours(support::ready(support::oci_repository(kAcme)), kAcme));
    create_as(world, support::ours(support::ready(support::helm_release(kAcme)), kAcme));
    world.reconcile(kAcme);
    Json const status = world.status_of(kAcme);
    Json kro = world.kro(kAcme);
    kro["metadata"].erase("managedFields");
    world.put(kro, Cluster::Onboarding);
    EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
    EXPECT_EQ(world.status_of(kAcme), status);
}

}  // namespace
