#include "function/tenant/desired.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using kro::Chart;
using kro::Desired;
using support::json;

kro::Tenant const kS1{"default", "s1"};
kro::Tenant const kS2{"default", "s2"};

Chart chart_of(std::string_view spec, std::string const& version = "0.9.1") {
    return kro::chart_for(kro::read_provider_config(support::provider_config(json(spec))).value(), version).value();
}

// --- Golden: the specs of objects that the Go operator left on an API server, its server's defaults taken out

TEST(DesiredOciRepository, IsTheOneOfTheGoOperator) {
    Json const plain = kro::desired_oci_repository(kS1, chart_of("{}"), "").object;
    EXPECT_EQ(plain["spec"],
              json(R"({"interval": "1m0s", "ref": {"tag": "0.9.1"}, "url": "oci://registry.k8s.io/kro/charts/kro"})"));
    EXPECT_EQ(plain["apiVersion"], "source.toolkit.fluxcd.io/v1");
    EXPECT_EQ(plain["metadata"]["name"], "kro-oci-repository");
    EXPECT_EQ(plain["metadata"]["namespace"], "mcp--e4dcdd23-763a-88a9-be24-644cba203c35");

    Chart const with_secret =
        chart_of(R"({"chartURL": "oci://registry.example/kro/charts/kro", "imagePullSecret": {"name": "pull"}})");
    EXPECT_EQ(
        kro::desired_oci_repository(kS2, with_secret, "").object["spec"],
        json(
            R"({"interval": "1m0s", "ref": {"tag": "0.9.1"}, "secretRef": {"name": "pull"}, "url": "oci://registry.example/kro/charts/kro"})"));
}

TEST(DesiredHelmRelease, IsTheOneOfTheGoOperator) {
    Chart const chart = chart_of(R"({"values": {"config": {"a": {"b": [1, 2.5, "x", true, null]}, "empty": {}},
        "image": {"repository": "registry.example/kro", "tag": "v1"}, "imagePullSecrets": [{"name": "img"}], "replicaCount": 2}})");
    Json const release = kro::desired_helm_release(kS2, chart, "kro.services.openmcp.cloud--s2--mcp.kubeconfig").object;
    EXPECT_EQ(release["spec"], json(R"({
        "chartRef": {"kind": "OCIRepository", "name": "kro-oci-repository", "namespace": "mcp--baf0fdb9-09d1-88ff-b7cc-92d3c490c13f"},
        "install": {"crds": "Create", "createNamespace": true, "remediation": {"retries": 3}},
        "interval": "1m0s",
        "kubeConfig": {"secretRef": {"key": "kubeconfig", "name": "kro.services.openmcp.cloud--s2--mcp.kubeconfig"}},
        "releaseName": "kro",
        "storageNamespace": "kro-system",
        "targetNamespace": "kro-system",
        "upgrade": {"cleanupOnFail": true, "crds": "CreateReplace", "remediation": {"retries": 3, "strategy": "rollback"}},
        "values": {"config": {"a": {"b": [1, 2.5, "x", true, null]}, "empty": {}}, "image": {"repository": "registry.example/kro", "tag": "v1"},
                   "imagePullSecrets": [{"name": "img"}], "replicaCount": 2}})"));
    EXPECT_EQ(release["apiVersion"], "helm.toolkit.fluxcd.io/v2");
    EXPECT_EQ(release["metadata"]["name"], "kro-helm-release");
    EXPECT_FALSE(kro::desired_helm_release(kS1, chart_of("{}"), "k").object["spec"].contains("values"));
    EXPECT_EQ(kro::desired_helm_release(kS1, chart_of(R"({"values": {}})"), "k").object["spec"]["values"], Json::object());
}

TEST(DesiredAccessRequest, IsTheOneOfTheGoOperator) {
    Json const request = kro::desired_access_request(kS1).object;
    EXPECT_EQ(request["spec"], json(R"({
        "requestRef": {"name": "s1", "namespace": "mcp--e4dcdd23-763a-88a9-be24-644cba203c35"},
        "token": {"permissions": [{"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}],
                  "roleRefs": [{"kind": "ClusterRole", "name": "cluster-admin"}]}})"));
    EXPECT_EQ(request["apiVersion"], "clusters.openmcp.cloud/v1alpha1");
    EXPECT_EQ(request["metadata"]["name"], "kro.services.openmcp.cloud--s1--mcp");
    EXPECT_EQ(request["metadata"]["finalizers"], json(R"(["clusters.openmcp.cloud/clusteraccess"])"));
    EXPECT_EQ(request["metadata"]["labels"], json(R"({
        "openmcp.cloud/managed-by": "kro.services.openmcp.cloud", "openmcp.cloud/managed-purpose": "default.s1.mcp",
        "openmcp.cloud/onboarding-name": "s1", "openmcp.cloud/onboarding-namespace": "default"})"));
}

TEST(CopiedSecret, HasTypeAndDataAndNothingOfTheOriginalsIdentity) {
    Json source = support::annotated(support::labelled(support::stored(support::pull_secret("pull")), "a", "b"), "c", "d");
    source["immutable"] = true;
    Json const copy = kro::copied_secret(kS1, source, {"there", "pull"}).object;
    EXPECT_EQ(copy["data"], source["data"]);
    EXPECT_EQ(copy["type"], source["type"]);
    EXPECT_EQ(copy["metadata"], Json({{"name", "pull"},
                                      {"namespace", "there"},
                                      {"labels", kro::tenant_labels(kS1)},
                                      {"annotations", kro::tenant_annotations(kS1)}}));
    EXPECT_FALSE(copy.contains("immutable"));
}

TEST(EveryObjectOfOurs, LeadsBackToItsTenant) {
    Chart const chart = chart_of("{}");
    Json const source = support::pull_secret("pull");
    std::string const namespace_ = kro::tenant_namespace(kS1);
    for (auto const& object :
         {kro::desired_access_request(kS1).object, kro::desired_oci_repository(kS1, chart, "").object,
          kro::desired_helm_release(kS1, chart, "k").object, kro::copied_secret(kS1, source, {namespace_, "pull"}).object,
          kro::ca_secret(kS1, "pem", {namespace_, "ca"}).object, kro::ca_config_map(kS1, "pem").object}) {
        EXPECT_EQ(kro::tenant_of(object), kS1) << base::dump_json(object);
        EXPECT_EQ(k8s::label_of(object, "openmcp.cloud/managed-by"), "kro.services.openmcp.cloud");
        EXPECT_EQ(k8s::annotation_of(object, "kro.services.openmcp.cloud/tenant"), "default/s1");
    }
}

// --- What differs

TEST(Differs, NotByWhatOthersAddBesideTheExactParts) {
    Desired const desired = kro::desired_oci_repository(kS1, chart_of("{}"), "");
    Json actual = support::stored(desired.object);
    actual["spec"]["provider"] = "generic";
    actual["spec"]["timeout"] = "60s";
    actual["metadata"]["labels"]["foreign"] = "yes";
    actual["status"] = json(R"({"observedGeneration": 1})");
    EXPECT_FALSE(kro::differs(actual, desired));
    EXPECT_TRUE(kro::correction(actual, desired).empty());
}

TEST(Differs, ByAnythingMoreInAnExactPart) {
    Desired const desired = kro::desired_oci_repository(kS1, chart_of("{}"), "");
    for (auto const* path : {"/spec/secretRef", "/spec/certSecretRef", "/spec/ref/digest", "/spec/ref/semver"}) {
        Json actual = support::stored(desired.object);
        actual[Json::json_pointer{path}] = "x";
        EXPECT_TRUE(kro::differs(actual, desired)) << path;
        Json const patch = kro::correction(actual, desired);
        ASSERT_EQ(patch.size(), 2U) << path;
        EXPECT_EQ(patch[0], json(R"({"op": "test", "path": "/metadata/resourceVersion", "value": "100"})"));
        EXPECT_FALSE(kro::differs(actual.patch(patch), desired)) << path;
    }
}

TEST(Differs, ByValuesInBothDirections) {
    Desired const without = kro::desired_helm_release(kS1, chart_of("{}"), "k");
    Desired const with = kro::desired_helm_release(kS1, chart_of(R"({"values": {"a": {"b": null}}})"), "k");
    Desired const empty = kro::desired_helm_release(kS1, chart_of(R"({"values": {}})"), "k");
    EXPECT_TRUE(kro::differs(with.object, without));
    EXPECT_TRUE(kro::differs(without.object, with));
    EXPECT_TRUE(kro::differs(empty.object, without));
    EXPECT_TRUE(kro::differs(with.object, empty));
    EXPECT_FALSE(kro::differs(with.object, with));
    EXPECT_FALSE(kro::differs(kro::desired_helm_release(kS1, chart_of(R"({"values": {"a": {"b": null}}})"), "k").object, with));
}

TEST(Differs, NotByTheSpellingOfANumber) {
    Desired const desired = kro::desired_helm_release(kS1, chart_of(R"({"values": {"a": 1.0, "b": 1e3}})"), "k");
    Json actual = desired.object;
    actual["spec"]["values"] = json(R"({"a": 1, "b": 1000})");
    EXPECT_FALSE(kro::differs(actual, desired));
    actual["spec"]["values"] = json(R"({"a": 1, "b": 1001})");
    EXPECT_TRUE(kro::differs(actual, desired));
}

TEST(ForUpdate, CarriesWhichObjectWasSeen) {
    Json const update =
        kro::for_update(kro::desired_access_request(kS1), support::stored(kro::desired_access_request(kS1).object));
    EXPECT_EQ(k8s::uid_of(update), "uid-of-kro.services.openmcp.cloud--s1--mcp");
    EXPECT_EQ(k8s::resource_version_of(update), "100");
    EXPECT_TRUE(update["spec"].contains("requestRef")) << "immutable, so always part of what is applied";
}

}  // namespace
