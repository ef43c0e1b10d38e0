#include "tests/journeys/installation.hpp"

#include "k8s/condition.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace journeys {
namespace {

Json resource_graph_definition() {
    return {
        {"metadata", {{"name", "webapp.kro.run"}}},
        {"spec",
         {{"schema", {{"apiVersion", "v1alpha1"}, {"kind", "WebApp"}, {"spec", Json::object()}}}, {"resources", Json::array()}}}};
}

/// What the tenant is told about a Flux object: the entry of that kind in the Kro's status.
Json entry(Json const& kro, std::string_view kind) {
    for (auto const& one : member(kro, "status", "resources")) {
        if (text_of(member(one, "kind")) == kind) return one;
    }
    return nullptr;
}

TEST_F(Broker, AUserCreatesAKroAndFluxInstallsItFromARegistryWithAPassword) {
    auto const tenant = new_tenant();
    eventually("the function is at zero", [&] { return functions().empty(); });
    int const starts = function_starts();

    install(tenant);
    EXPECT_GT(function_starts(), starts) << "an event has woken it";
    EXPECT_EQ(installed("mcp-01"), "0.9.1");
    // After its first word that all is ready, Flux looks once more.
    eventually("Flux has installed it", [&] {
        auto const ready = k8s::find_condition(helm_release(tenant), "Ready");
        return ready && ready->reason == "InstallSucceeded";
    });
    eventually("the user sees it", [&] {
        std::string const table = kubectl(onboarding(), "get kro --namespace=" + tenant.namespace_);
        return table.starts_with(
            "NAME   VERSION   PHASE   READY   MESSAGE                   AGE\n"
            "acme   0.9.1     Ready   True    Domain Service is ready   ");
    });
    eventually("the function is at zero again", [&] { return functions().empty(); });
}

TEST_F(Broker, AUserAsksForANewerVersionAndFluxUpgrades) {
    auto const tenant = new_tenant();
    install(tenant);
    order(tenant, "0.9.2");
    eventually("the newer version is installed", [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
    eventually("Flux has upgraded it", [&] {
        auto const ready = k8s::find_condition(helm_release(tenant), "Ready");
        return ready && ready->reason == "UpgradeSucceeded";
    });
}

TEST_F(Broker, AnOperatorChangesValuesAndChartForAllTenants) {
    auto const one = new_tenant();
    auto const other = new_tenant("mcp-02-beta");
    order(one, "0.9.1");
    order(other, "0.9.1");
    eventually("both are Ready", [&] { return is_ready(one) && is_ready(other); });

    configure({{"values", {{"deployment", {{"replicaCount", 2}}}}}});
    auto const replicas = [&](std::string const& name) {
        auto const all = control_plane(name).list(kDeployments, std::string{kro::kControlPlaneNamespace});
        return all.empty() ? Json{} : member(all.front(), "spec", "replicas");
    };
    eventually("both have two replicas",
               [&] { return replicas("mcp-01") == 2 && replicas("mcp-02") == 2 && is_ready(one) && is_ready(other); });

    std::string const moved = text_of(member(stack_, "registry", "chart")) + "-moved";
    configure({{"chartURL", moved}});
    eventually("both tenants are told that there is no chart any more", [&] {
        auto const told = [&](kro::Tenant const& tenant) {
            return text_of(member(entry(kro(tenant), "OCIRepository"), "message")).find("-moved") != std::string::npos;
        };
        return told(one) && told(other);
    });
    configure();
    eventually("both are Ready again, with one replica",
               [&] { return is_ready(one) && is_ready(other) && replicas("mcp-01") == 1 && replicas("mcp-02") == 1; });
}

TEST_F(Broker, ARotatedPasswordBreaksSaysWhyAndHealsWithTheSourceSecret) {
    auto const tenant = new_tenant();
    install(tenant);

    std::string const rotated = "rotated-" + tenant.namespace_;
    change_password(rotated);
    kubectl(onboarding(),
            "annotate kro " + tenant.name + " --namespace=" + tenant.namespace_ + " openmcp.cloud/operation=reconcile");
    eventually("the tenant is told that the registry refuses the login", [&] {
        Json const now = kro(tenant);
        std::string const why = text_of(member(entry(now, "OCIRepository"), "message"));
        return text_of(member(now, "status", "phase")) == "Progressing" && why.find("UNAUTHORIZED") != std::string::npos;
    });
    put_login(rotated);
    eventually("the Kro is Ready again", [&] { return is_ready(tenant); });
    change_password(right_password());
}

TEST_F(Broker, AUserDeletesAKroAndNothingIsLeft) {
    auto const tenant = new_tenant();
    install(tenant);
    ASSERT_FALSE(platform().list(k8s::kSecrets, kro::tenant_namespace(tenant)).empty());

    remove_kro(tenant);
    eventually("the Kro is gone", [&] { return kro(tenant).is_null(); });
    EXPECT_EQ(installed("mcp-01"), "") << "the release is really uninstalled";
    for (auto const& secret : control_plane().list(k8s::kSecrets, std::string{kro::kControlPlaneNamespace})) {
        EXPECT_NE(text_of(member(secret, "type")), "helm.sh/release.v1") << k8s::name_of(secret);
    }
    EXPECT_TRUE(helm_release(tenant).is_null());
    EXPECT_TRUE(oci_repository(tenant).is_null());
    EXPECT_TRUE(platform().list(kro::kAccessRequests, kro::tenant_namespace(tenant)).empty());
    eventually("the copies and the kubeconfig are gone",
               [&] { return platform().list(k8s::kSecrets, kro::tenant_namespace(tenant)).empty(); });
    for (auto const& account : control_plane().list({"", "v1", "serviceaccounts", "ServiceAccount"}, "openmcp-access")) {
        EXPECT_EQ(k8s::name_of(account), "default") << "the platform has taken the access back";
    }
}

TEST_F(Broker, AFunctionThatIsKilledInABurstLosesNothing) {
    hold_flux();
    std::size_t const dead_letters = count_in_log("dead-letter", "knativeerrorcode");
    auto const tenants = many_tenants(20);
    order_all(tenants, "0.9.1");
    eventually("the function works", [&] { return !functions().empty(); });
    for (pid_t const function : functions()) ::kill(function, SIGKILL);
    eventually("every tenant has its HelmRelease", [&] { return count_with_helm_release(tenants) == tenants.size(); });
    EXPECT_EQ(count_in_log("dead-letter", "knativeerrorcode"), dead_letters);
}

TEST_F(Broker, ACutLinkToThePlatformLosesNothing) {
    auto const tenant = new_tenant();
    install(tenant);
    cut_link();
    order(tenant, "0.9.2");
    std::this_thread::sleep_for(std::chrono::seconds{10});  // how long the link is down is what this is about
    EXPECT_EQ(chart_tag(tenant), "0.9.1");
    restore_link();
    eventually("the newer version is installed, without a tick",
               [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
}

TEST_F(Broker, AnEventThatCanNeverSucceedEndsInTheDeadLetterSinkAndSaysWhy) {
    std::string const id = "poison-" + new_tenant().namespace_;
    run("curl --silent --show-error --fail --proxy " + text_of(member(stack_, "node", "proxy")) +
        " http://broker-ingress.knative-eventing.svc.cluster.local/openmcp-system/kro-function"
        " --header 'Ce-Specversion: 1.0' --header 'Ce-Type: dev.knative.apiserver.resource.update' --header 'Ce-Source: test'"
        " --header 'Ce-Id: " +
        id + "' --header 'Content-Type: application/json' --data '[\"no object\"]'");
    eventually("the dead letter is there", [&] { return count_in_log("dead-letter", id) > 0; });
    std::string const letters = log_of("dead-letter");
    EXPECT_NE(letters.find("knativeerrorcode: 400"), std::string::npos) << letters;
    EXPECT_NE(letters.find("data"), std::string::npos) << letters;
}

TEST_F(Broker, ResourceGraphDefinitionsHoldADeletionAndTheLastOneFreesIt) {
    auto const tenant = new_tenant();
    install(tenant);
    control_plane().apply(kro::kResourceGraphDefinitions, resource_graph_definition());
    remove_kro(tenant);
    eventually("the tenant is told what holds it", [&] {
        return message(tenant) ==
               "deletion blocked: waiting for 1 kro ResourceGraphDefinition(s) to be removed from the control plane";
    });
    EXPECT_FALSE(helm_release(tenant).is_null());
    control_plane().remove(kro::kResourceGraphDefinitions, {{}, "webapp.kro.run"});
    tick();
    eventually("the Kro is gone", [&] { return kro(tenant).is_null(); });
    EXPECT_EQ(installed("mcp-01"), "");
}

}  // namespace
}  // namespace journeys
