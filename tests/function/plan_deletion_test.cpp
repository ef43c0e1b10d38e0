// Contract section 4: how a tenant goes. Every test runs reconcile() on clusters in memory and looks at what is there.
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

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A Ready tenant with every kind of copy, about to be deleted.
struct Installed : World {
    Installed() {
        put(support::pull_secret("pull"));
        put(support::pull_secret("img"));
        put(support::ca_bundle("ca"));
        put(support::provider_config(json(R"({"imagePullSecret": {"name": "pull"}, "caBundleRef": {"name": "ca", "key": "ca.crt"},
                                              "values": {"imagePullSecrets": [{"name": "img"}]}})")));
        install(kro_named("acme"));
    }
    void start_deletion() {
        k8s::send_one(*onboarding, k8s::remove(kro::kKros, {kAcme.namespace_, kAcme.name}, {}), support::kNever).value();
    }
    void abandon() { put(support::annotated(kro(kAcme), "kro.services.openmcp.cloud/abandon", "true"), Cluster::Onboarding); }
    std::string message() const { return ready_of(kAcme).message; }
    bool is_gone() const { return kro(kAcme).is_null(); }
    bool finalizer_is_there() const { return k8s::has_finalizer(kro(kAcme), kro::kFinalizer); }
};

// --- The whole of it

TEST(Deletion, LeavesNothingBehindButTheNamespace) {
    Installed world;
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(world.is_gone());
    EXPECT_TRUE(world.oci_repository_of(kAcme).is_null());
    EXPECT_TRUE(world.helm_release_of(kAcme).is_null());
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "ca-bundle")));
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::remote_key("img"), Cluster::ControlPlane));
    EXPECT_FALSE(world.exists(k8s::kConfigMaps, support::remote_key("ca-bundle"), Cluster::ControlPlane));
    EXPECT_TRUE(world.exists(k8s::kNamespaces, {{}, kro::tenant_namespace(kAcme)})) << "other providers use it";
    EXPECT_TRUE(world.exists(k8s::kSecrets, {"openmcp-system", "pull"})) << "the source is theirs";
}

TEST(Deletion, LeavesAnotherTenantAlone) {
    Installed world;
    world.install(kro_named("bolt"));
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(world.is_gone());
    EXPECT_EQ(world.phase_of(support::tenant_named("bolt")), "Ready");
}

TEST(Deletion, GoesInTheOrderThatOrphansNothing) {
    Installed world;
    world.start_deletion();
    world.settle();
    ASSERT_TRUE(world.is_gone());
    // One platform's request list holds all of it, but for the Kro's own finalizer.
    auto const asked = world.requests(Cluster::Platform);
    auto const at = [&](Verb verb, std::string const& name) {
        auto const found =
            std::find_if(asked.begin(), asked.end(), [&](auto const& one) { return one.verb == verb && one.key.name == name; });
        EXPECT_NE(found, asked.end()) << name;
        return found - asked.begin();
    };
    EXPECT_LT(at(Verb::Delete, "kro-helm-release"), at(Verb::Delete, "pull"));
    EXPECT_LT(at(Verb::Delete, "pull"), at(Verb::Delete, kro::request_name(kAcme)));
}

TEST(Deletion, MakesNothingAnewWhateverHappensMeanwhile) {
    Installed world;
    world.platform->hold_deletion_of(kro::kHelmReleases);
    world.start_deletion();
    world.settle();
    world.forget_requests();
    for (int i = 0; i < 5; ++i) world.reconcile(kAcme, i % 2 == 0 ? kro::About::FluxObject : kro::About::Anything);
    for (auto const& what : world.writes()) EXPECT_FALSE(what.starts_with("apply ") && !contains(what, "kros")) << what;
    EXPECT_TRUE(world.oci_repository_of(kAcme).is_null());
    world.platform->release_deletion_of(kro::kHelmReleases);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(Deletion, WritesNothingWhileItWaits) {
    Installed world;
    world.platform->hold_deletion_of(kro::kHelmReleases);
    world.start_deletion();
    world.settle();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(world.reconcile(kAcme).writes, 0U);
}

TEST(Deletion, WithoutOurFinalizerIsNoneOfOurBusiness) {
    World world;
    world.put_kro(support::deleted(support::with_finalizer(kro_named("acme"), "other/x")));
    Report const report = world.reconcile(kAcme);
    EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done);
    EXPECT_EQ(report.writes, 0U);
}

TEST(Deletion, KeepsTheFinalizersOfOthers) {
    Installed world;
    world.put(support::with_finalizer(world.kro(kAcme), "other/x"), Cluster::Onboarding);
    world.start_deletion();
    world.settle();
    EXPECT_EQ(k8s::finalizers_of(world.kro(kAcme)), (std::vector<std::string>{"other/x"}));
}

TEST(Deletion, OfWhatIsHalfCreatedGoesThrough) {
    for (auto const* state : {"finalizer alone", "access pending", "no ProviderConfig"}) {
        World world;
        world.stand_in.reset();
        world.put(support::deleted(support::with_finalizer(kro_named("acme"))), Cluster::Onboarding);
        if (std::string{state} == "access pending") world.put(support::access_request(kAcme));
        if (std::string{state} != "no ProviderConfig") world.put(support::provider_config());
        Report const report = world.reconcile(kAcme);
        EXPECT_EQ(report.outcome.kind, Outcome::Kind::Done) << state << ": " << report.outcome.why;
        EXPECT_TRUE(world.kro(kAcme).is_null()) << state;
        EXPECT_TRUE(world.access_request_of(kAcme).is_null()) << state;
        for (auto const& request : world.requests(Cluster::Platform)) {
            EXPECT_FALSE(request.key.name.empty() && request.verb != Verb::List && request.verb != Verb::Discover)
                << k8s::describe(request);
        }
    }
}

// --- Step 1

TEST(Terminating, IsSaidFirst) {
    Installed world;
    world.start_deletion();
    world.platform->fail_when(k8s::on(Verb::Delete), k8s::answer_with(500), 100);
    world.reconcile(kAcme);
    auto const asked = world.requests(Cluster::Onboarding);
    auto const first = std::find_if(asked.begin(), asked.end(), [](auto const& one) { return one.subresource == "status"; });
    ASSERT_NE(first, asked.end());
    EXPECT_EQ(first->body["status"]["phase"], "Terminating");
    EXPECT_EQ(first->body["status"]["conditions"][0]["reason"], "Terminating");
    EXPECT_EQ(first->body["status"]["conditions"][0]["message"], "Cleanup in progress");
    EXPECT_EQ(first->body["status"]["conditions"][0]["status"], "False");
}

TEST(Terminating, IsSaidUntilTheAccessRequestIsGone) {
    Installed world;
    world.platform->hold_deletion_of(kro::kAccessRequests);
    world.start_deletion();
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Terminating");
    EXPECT_EQ(world.ready_of(kAcme).status, "False");
    EXPECT_EQ(world.status_of(kAcme)["resources"], Json::array());
}

// --- Step 2: the user's own objects

TEST(UserObjects, BlockTheDeletionWithTheirCount) {
    Installed world;
    world.put(support::resource_graph_definition("one"), Cluster::ControlPlane);
    world.start_deletion();
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Terminating");
    EXPECT_EQ(world.message(),
              "deletion blocked: waiting for 1 kro ResourceGraphDefinition(s) to be removed from the control plane");
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));
    EXPECT_EQ(world.event_messages(), (std::vector<std::string>{world.message()}));

    world.control_plane->erase(kro::kResourceGraphDefinitions, {{}, "one"});
    world.reconcile(kAcme);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(UserObjects, AreCountedBeyondThePage) {
    Installed world;
    for (int i = 0; i < 1200; ++i)
        world.put(support::resource_graph_definition("rgd-" + std::to_string(i)), Cluster::ControlPlane);
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(contains(world.message(), "waiting for 1200 kro ")) << world.message();
}

struct NotListed {
    std::string name;
    k8s::Fault fault;
};

class UserObjectsThatCannotBeListed : public testing::TestWithParam<NotListed> {};

TEST_P(UserObjectsThatCannotBeListed, BlockTheDeletionWithTheCause) {
    Installed world;
    world.control_plane->fail_when(k8s::on(Verb::List, kro::kResourceGraphDefinitions), GetParam().fault, 100);
    world.start_deletion();
    world.settle();
    EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting) << "the next tick tries again";
    EXPECT_EQ(world.phase_of(kAcme), "Terminating");
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.message(), "resourcegraphdefinitions")) << world.message();
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));
    world.control_plane->heal();
    world.reconcile(kAcme);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

INSTANTIATE_TEST_SUITE_P(, UserObjectsThatCannotBeListed,
                         testing::Values(NotListed{"Forbidden", k8s::answer_with(403)},
                                         NotListed{"Unauthorized", k8s::answer_with(401)},
                                         NotListed{"ServerError", k8s::answer_with(503)}, NotListed{"Timeout", k8s::timeout()},
                                         NotListed{"Refused", k8s::connection_refused()},
                                         NotListed{"TooMany", k8s::answer_with(429, {}, "5")},
                                         NotListed{"NotFoundThoughServed", k8s::answer_with(404, "404 page not found\n")}),
                         [](auto const& row) { return row.param.name; });

TEST(UserObjects, OfAKindThatIsNotInstalledAreNone) {
    Installed world;
    world.control_plane->stop_serving(kro::kResourceGraphDefinitions);
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(UserObjects, OfAKindThatIsNotInstalledAreNoneThoughTheGroupIs) {
    Installed world;
    world.control_plane->stop_serving(kro::kResourceGraphDefinitions);
    world.control_plane->serve({"kro.run", "v1alpha1", "others", "Other"});
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(UserObjects, InAnotherVersionThanOursBlockTheDeletion) {
    Installed world;
    world.control_plane->stop_serving(kro::kResourceGraphDefinitions);
    world.control_plane->serve(
        {"kro.run", "v1", "resourcegraphdefinitions", "ResourceGraphDefinition", k8s::Resource::Scope::Cluster});
    world.start_deletion();
    world.settle();
    EXPECT_FALSE(world.is_gone());
    EXPECT_TRUE(contains(world.message(), "deletion blocked")) << world.message();
}

TEST(UserObjects, AreNotAskedForWhereDiscoveryFails) {
    Installed world;
    world.control_plane->stop_serving(kro::kResourceGraphDefinitions);
    world.control_plane->fail_when(k8s::on(Verb::Discover), k8s::answer_with(503), 100);
    world.start_deletion();
    world.settle();
    EXPECT_FALSE(world.is_gone());
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));
}

TEST(UserObjects, AreNotLookedForWhereAccessWasNeverGranted) {
    World world;
    world.stand_in.reset();
    world.put(support::deleted(support::with_finalizer(kro_named("acme"))), Cluster::Onboarding);
    world.put(support::access_request(kAcme));
    world.put(support::resource_graph_definition("one"), Cluster::ControlPlane);
    world.reconcile(kAcme);
    EXPECT_TRUE(world.kro(kAcme).is_null());
    EXPECT_TRUE(world.requests(Cluster::ControlPlane).empty());
}

TEST(UserObjects, ThatComeWhileFluxUninstallsStopTheRest) {
    Installed world;
    world.platform->hold_deletion_of(kro::kHelmReleases);
    world.start_deletion();
    world.settle();
    world.put(support::resource_graph_definition("late"), Cluster::ControlPlane);
    world.reconcile(kAcme);
    EXPECT_TRUE(contains(world.message(), "waiting for 1 kro ")) << world.message();
}

// --- Step 3: Flux's objects

TEST(FluxObjects, AreGoneOnlyWhenTheyAreNotFound) {
    Installed world;
    world.platform->hold_deletion_of(kro::kHelmReleases);
    world.start_deletion();
    world.settle();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(world.reconcile(kAcme).outcome.kind, Outcome::Kind::Waiting);
        EXPECT_TRUE(world.finalizer_is_there());
        EXPECT_FALSE(k8s::is_being_deleted(world.access_request_of(kAcme))) << "Flux still needs it";
        EXPECT_TRUE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    }
    world.platform->release_deletion_of(kro::kHelmReleases);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

class FluxObjectsThatCannotBeLookedAt : public testing::TestWithParam<NotListed> {};

TEST_P(FluxObjectsThatCannotBeLookedAt, AreNotGone) {
    for (auto const& resource : {kro::kOciRepositories, kro::kHelmReleases}) {
        Installed world;
        world.platform->fail_when(k8s::on(Verb::Get, resource), GetParam().fault, 100);
        world.start_deletion();
        Report const report = world.reconcile(kAcme);
        EXPECT_NE(report.outcome.kind, Outcome::Kind::Done);
        EXPECT_TRUE(world.finalizer_is_there());
        EXPECT_FALSE(k8s::is_being_deleted(world.access_request_of(kAcme)));
    }
}

INSTANTIATE_TEST_SUITE_P(, FluxObjectsThatCannotBeLookedAt,
                         testing::Values(NotListed{"Forbidden", k8s::answer_with(403)},
                                         NotListed{"Unauthorized", k8s::answer_with(401)},
                                         NotListed{"ServerError", k8s::answer_with(500)}, NotListed{"Timeout", k8s::timeout()},
                                         NotListed{"Truncated", k8s::truncated()},
                                         NotListed{"NotFoundThoughServed", k8s::answer_with(404, "404 page not found\n")}),
                         [](auto const& row) { return row.param.name; });

TEST(FluxObjects, OfKindsThatAreNotServedAreGone) {
    Installed world;
    world.start_deletion();
    world.platform->stop_serving(kro::kOciRepositories);
    world.platform->stop_serving(kro::kHelmReleases);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(FluxObjects, AreLeftToASuspendedHelmReleaseWithWhatToDo) {
    Installed world;
    Json release = world.helm_release_of(kAcme);
    release["spec"]["suspend"] = true;
    world.put(release);
    world.start_deletion();
    world.settle();
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.message(), "flux resume helmrelease kro-helm-release -n " + kro::tenant_namespace(kAcme)))
        << world.message();
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));

    release = world.helm_release_of(kAcme);
    release["spec"]["suspend"] = false;
    world.put(release);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(FluxObjects, AreLeftWhereTheKubeconfigIsMissingWithWhatToDo) {
    Installed world;
    world.platform->erase(k8s::kSecrets, support::kubeconfig_key(kAcme));
    world.start_deletion();
    world.settle();
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    EXPECT_TRUE(contains(world.message(), support::kubeconfig_key(kAcme).name)) << world.message();
    EXPECT_TRUE(contains(world.message(), "restore the access")) << world.message();
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));
    EXPECT_TRUE(world.finalizer_is_there());
}

TEST(FluxObjects, AreLeftWhereTheAccessRequestIsGoneAndItsSecretToo) {
    Installed world;
    world.platform->erase(kro::kAccessRequests, support::access_request_key(kAcme));
    world.platform->erase(k8s::kSecrets, support::kubeconfig_key(kAcme));
    world.start_deletion();
    world.settle();
    EXPECT_FALSE(k8s::is_being_deleted(world.helm_release_of(kAcme)));
    EXPECT_TRUE(contains(world.message(), "restore the access")) << world.message();
}

TEST(FluxObjects, AreDeletedByUidAlone) {
    // The resourceVersion moves while Flux works; another object of that name must not be hit.
    Installed world;
    std::string const uid = k8s::uid_of(world.helm_release_of(kAcme));
    world.start_deletion();
    world.reconcile(kAcme);
    auto const asked = world.requests(Cluster::Platform);
    auto const removal = std::find_if(asked.begin(), asked.end(), [](auto const& one) {
        return one.key.name == "kro-helm-release" && one.verb == Verb::Delete;
    });
    ASSERT_NE(removal, asked.end());
    EXPECT_EQ(removal->preconditions.uid, uid);
    EXPECT_EQ(removal->preconditions.resource_version, "");
}

// --- A control plane that is lost for good

TEST(Abandon, LetsATenantGoWhoseControlPlaneIsUnreachable) {
    Installed world;
    world.control_plane->fail_when([](k8s::Request const&) { return true; }, k8s::timeout(), 10000);
    world.start_deletion();
    world.settle();
    ASSERT_FALSE(world.is_gone());
    EXPECT_TRUE(contains(world.message(), "kro.services.openmcp.cloud/abandon=true")) << world.message();
    world.abandon();
    world.settle();
    EXPECT_TRUE(world.is_gone());
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "pull")));
    auto const events = world.event_messages();
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](auto const& one) { return contains(one, "left behind"); }));
}

TEST(Abandon, LetsATenantGoWhoseKubeconfigIsMissing) {
    Installed world;
    world.platform->erase(k8s::kSecrets, support::kubeconfig_key(kAcme));
    world.start_deletion();
    world.abandon();
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(Abandon, LetsATenantGoWhoseHelmReleaseIsSuspended) {
    Installed world;
    Json release = world.helm_release_of(kAcme);
    release["spec"]["suspend"] = true;
    world.put(release);
    world.start_deletion();
    world.abandon();
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(Abandon, DoesNotCountBeforeTheKroIsDeletedNorWithAnotherValue) {
    Installed world;
    world.put(support::annotated(world.kro(kAcme), "kro.services.openmcp.cloud/abandon", "yes"), Cluster::Onboarding);
    world.settle();
    EXPECT_EQ(world.phase_of(kAcme), "Ready");
    world.put(support::resource_graph_definition("one"), Cluster::ControlPlane);
    world.start_deletion();
    world.settle();
    EXPECT_FALSE(world.is_gone());
}

// --- Step 4: copies

TEST(Copies, OfOthersAreLeft) {
    Installed world;
    Json const platform = world.put(support::in_namespace(support::pull_secret("theirs"), kro::tenant_namespace(kAcme)));
    Json const remote = world.put(support::in_namespace(support::pull_secret("theirs"), "kro-system"), Cluster::ControlPlane);
    Json const labelled =
        world.put(support::labelled(support::in_namespace(support::pull_secret("labelled"), kro::tenant_namespace(kAcme)),
                                    "openmcp.cloud/managed-by", "other"));
    world.start_deletion();
    world.settle();
    ASSERT_TRUE(world.is_gone());
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "theirs")), platform);
    EXPECT_EQ(world.object(k8s::kSecrets, support::copy_key(kAcme, "labelled")), labelled);
    EXPECT_EQ(world.object(k8s::kSecrets, support::remote_key("theirs"), Cluster::ControlPlane), remote);
}

TEST(Copies, ThatNoSettingNamesAnyMoreGoToo) {
    Installed world;
    world.put(support::ours(support::in_namespace(support::pull_secret("forgotten"), kro::tenant_namespace(kAcme)), kAcme));
    world.start_deletion();
    world.settle();
    EXPECT_FALSE(world.exists(k8s::kSecrets, support::copy_key(kAcme, "forgotten")));
}

TEST(Copies, ThatCannotBeRemovedKeepTheAccess) {
    Installed world;
    world.platform->fail_when(k8s::on(Verb::Delete, k8s::kSecrets), k8s::answer_with(500), 100);
    world.start_deletion();
    world.settle();
    world.reconcile(kAcme);
    EXPECT_TRUE(world.finalizer_is_there());
    EXPECT_FALSE(k8s::is_being_deleted(world.access_request_of(kAcme)));
    EXPECT_EQ(world.ready_of(kAcme).reason, "ReconcileError");
    world.platform->heal();
    world.reconcile(kAcme);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

// --- Step 5: access

TEST(AccessGivenBack, KeepsOurFinalizerWhileOthersAreThere) {
    Installed world;
    world.put(support::with_finalizer(world.access_request_of(kAcme), "provider/x"));
    world.start_deletion();
    world.settle();
    Json request = world.access_request_of(kAcme);
    ASSERT_TRUE(k8s::is_being_deleted(request));
    EXPECT_EQ(k8s::finalizers_of(request), (std::vector<std::string>{"clusters.openmcp.cloud/clusteraccess", "provider/x"}));
    EXPECT_TRUE(world.finalizer_is_there());

    // The platform takes the Secret away before it lets go: the control plane need not be asked again.
    world.platform->erase(k8s::kSecrets, support::kubeconfig_key(kAcme));
    request["metadata"]["finalizers"] = json(R"(["clusters.openmcp.cloud/clusteraccess"])");
    world.put(request);
    world.settle();
    EXPECT_TRUE(world.access_request_of(kAcme).is_null());
    EXPECT_TRUE(world.is_gone());
}

TEST(AccessGivenBack, OfSomeoneElseIsLeftAlone) {
    World world;
    world.stand_in.reset();
    world.put(support::provider_config());
    world.put(support::deleted(support::with_finalizer(kro_named("acme"))), Cluster::Onboarding);
    Json const before =
        world.put(support::labelled(support::granted(support::access_request(kAcme)), "openmcp.cloud/managed-by", "other"));
    world.reconcile(kAcme);
    EXPECT_TRUE(world.kro(kAcme).is_null());
    EXPECT_EQ(world.access_request_of(kAcme), before);
}

TEST(AccessGivenBack, ComesAfterTheHelmReleaseEvenAcrossRestarts) {
    // The platform takes the Secret away with the AccessRequest: if that came first, Flux would never uninstall.
    Installed world;
    world.platform->hold_deletion_of(kro::kHelmReleases);
    world.start_deletion();
    for (int i = 0; i < 3; ++i) {
        world.settle();
        world.reconcile(kAcme);
        EXPECT_TRUE(world.exists(k8s::kSecrets, support::kubeconfig_key(kAcme)));
        EXPECT_FALSE(k8s::is_being_deleted(world.access_request_of(kAcme)));
    }
}

// --- Step 6

TEST(LastStep, TakesTheFinalizerOffOnlyWhenTheAccessRequestIsGone) {
    Installed world;
    world.platform->hold_deletion_of(kro::kAccessRequests);
    world.start_deletion();
    world.settle();
    EXPECT_TRUE(world.finalizer_is_there());
    world.platform->release_deletion_of(kro::kAccessRequests);
    world.settle();
    EXPECT_TRUE(world.is_gone());
}

TEST(LastStep, NeverDeletesTheNamespace) {
    Installed world;
    world.start_deletion();
    world.settle();
    for (auto const& what : world.writes()) EXPECT_FALSE(what.starts_with("delete namespaces")) << what;
}

}  // namespace
