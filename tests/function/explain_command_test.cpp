#include "function/explain_command.hpp"

#include "base/base64.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/overlay_api.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using base::Json;
using kro::OutputForm;
using support::kro_named;
using support::tenant_named;
using support::World;

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What is told of acme. Every request that may change something fails the test.
struct Explained {
    World world;
    OutputForm form = OutputForm::Text;
    int status = 0;

    std::string text() {
        auto const of = [&](std::shared_ptr<k8s::MemoryApi> server) {
            return std::make_shared<k8s::OverlayApi>(std::move(server), world.clock(), k8s::OverlayApi::Writes::Imagined);
        };
        auto const onboarding = of(world.onboarding);
        kro::Clusters clusters{of(world.platform), [&](base::Deadline) { return k8s::Result<kro::SharedApi>{onboarding}; },
                               [&](std::string const&) { return k8s::Result<kro::SharedApi>{of(world.control_plane)}; }};
        kro::Settings settings;
        settings.explain = {tenant_named("acme"), form};
        world.forget_requests();
        std::ostringstream out;
        status = kro::explain(clusters, settings, world.now, "0123456789abcdef", out);
        for (auto const& server : {world.onboarding, world.platform, world.control_plane}) {
            for (auto const& one : server->requests()) {
                using Verb = k8s::Request::Verb;
                bool const reads =
                    one.request.verb == Verb::Get || one.request.verb == Verb::List || one.request.verb == Verb::Discover;
                EXPECT_TRUE(reads) << k8s::describe(one.request);
            }
            EXPECT_EQ(server->counts().writes, 0U);
        }
        return out.str();
    }
};

TEST(Explain, SaysThatNothingIsToBeDone) {
    Explained acme;
    acme.world.install(kro_named("acme"));
    std::string const text = acme.text();
    EXPECT_EQ(acme.status, 0);
    EXPECT_TRUE(contains(text, "project-a--ws-b/acme at 2026-11-30T12:00:00Z, nothing to do:\n")) << text;
    EXPECT_TRUE(contains(text, "look at Kro acme, ProviderConfig kro")) << text;
    EXPECT_TRUE(contains(text, "=> Done: Domain Service is ready\n")) << text;
    EXPECT_TRUE(contains(text, "status: Ready, Ready=True")) << text;
}

TEST(Explain, TellsWhatWouldBeDoneToTheEndAndWhatTheStatusWouldSay) {
    Explained acme;
    acme.world.install(kro_named("acme"));
    Json kro = acme.world.kro(tenant_named("acme"));
    kro["spec"]["version"] = "0.9.2";
    acme.world.put(kro, kro::Cluster::Onboarding);
    std::string const text = acme.text();
    EXPECT_TRUE(contains(text, "what would be done now:\n")) << text;
    EXPECT_TRUE(
        contains(text, "apply OCIRepository kro-oci-repository on the platform cluster: apply: the chart's OCIRepository\n"))
        << text;
    EXPECT_TRUE(contains(text, "~ spec.ref.tag: \"0.9.1\" -> \"0.9.2\"\n")) << text;
    EXPECT_TRUE(contains(text, "~ phase: \"Ready\" -> \"Progressing\"\n")) << text;
    EXPECT_EQ(acme.world.phase_of(tenant_named("acme")), "Ready") << "it is not changed";
}

TEST(Explain, TellsOfANewTenantUntilSomebodyElseHasToAct) {
    Explained acme;
    acme.world.put_kro(kro_named("acme"));
    std::string const text = acme.text();
    EXPECT_TRUE(contains(text, "create Namespace mcp--")) << text;
    EXPECT_TRUE(contains(text, "apply AccessRequest kro.services.openmcp.cloud--acme--mcp on the platform cluster")) << text;
    EXPECT_TRUE(contains(text, "=> Waiting: Waiting for access to the control plane\n")) << text;
}

TEST(Explain, NamesWhatKeepsATenant) {
    Explained acme;
    acme.world.put(support::provider_config({{"imagePullSecret", {{"name", "pull"}}}}));
    acme.world.put_kro(kro_named("acme"));
    acme.world.settle();
    EXPECT_TRUE(contains(acme.text(), "=> Waiting: pull secret pull does not exist in namespace openmcp-system"));
}

TEST(Explain, IsAnObjectInJson) {
    Explained acme;
    acme.form = OutputForm::JsonLines;
    acme.world.install(kro_named("acme"));
    Json const json = base::parse_json(acme.text()).value();
    EXPECT_EQ(json["tenant"], "project-a--ws-b/acme");
    EXPECT_EQ(json["settled"], true);
    EXPECT_EQ(json["outcome"]["kind"], "Done");
    EXPECT_EQ(json["status"]["phase"], "Ready");
    EXPECT_EQ(json["time"], "2026-11-30T12:00:00Z");
}

TEST(Explain, SaysThatThereIsNoSuchKro) {
    Explained acme;
    acme.world.put(support::provider_config());
    EXPECT_TRUE(contains(acme.text(), "=> Done: the Kro is gone\n"));
    EXPECT_EQ(acme.status, 0);
}

TEST(Explain, FailsWhereAClusterDoesNotAnswer) {
    Explained acme;
    acme.world.install(kro_named("acme"));
    acme.world.platform->fail_when(k8s::on(k8s::Request::Verb::Get), k8s::connection_refused(), 100);
    EXPECT_TRUE(contains(acme.text(), "=> Retry: platform cluster: get "));
    EXPECT_EQ(acme.status, 1);
}

TEST(Explain, ShowsNoSecret) {
    std::string const canary = "cAnAry7-Zq3xW";
    Explained acme;
    acme.world.put(support::secret("pull", "kubernetes.io/dockerconfigjson",
                                   {{".dockerconfigjson", base::dump_json({{"auths", {{"r.test", {{"password", canary}}}}}})}}));
    acme.world.install(kro_named("acme"));
    acme.world.put(
        support::provider_config({{"imagePullSecret", {{"name", "pull"}}}, {"values", {{"db", {{"password", canary}}}}}}));
    std::string const text = acme.text();
    EXPECT_TRUE(contains(text, "apply Secret pull on the platform cluster: create: the chart's pull secret\n")) << text;
    EXPECT_TRUE(contains(text, "+ spec.values.db.password: \"redacted-")) << text;
    EXPECT_FALSE(contains(text, canary.substr(0, 6))) << text;
    EXPECT_FALSE(contains(text, base::encode_base64(canary).substr(0, 8))) << text;
}

}  // namespace
