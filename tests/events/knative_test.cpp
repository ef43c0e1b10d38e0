#include "events/knative.hpp"

#include "tests/events/samples.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using events::CloudEvent;
using events::Meaning;
using events::meaning_of;
using events::ObjectEvent;

Meaning meaning(CloudEvent const& event) {
    auto const result = meaning_of(event);
    if (!result) throw std::runtime_error("refused: " + to_string(result.error()));
    return *result;
}

ObjectEvent object_of(CloudEvent const& event) { return std::get<ObjectEvent>(meaning(event)); }

std::string refusal_of(CloudEvent const& event) {
    auto const result = meaning_of(event);
    return result ? "understood" : std::to_string(http_status(result.error())) + " " + result.error().attribute;
}

struct SampleRow {
    std::string name;
    std::string file;
    ObjectEvent::Change change;
    std::string who;
    std::string resource_version;
};
void PrintTo(SampleRow const& row, std::ostream* out) { *out << row.name; }

class ObjectSample : public testing::TestWithParam<SampleRow> {};

TEST_P(ObjectSample, NamesItsObject) {
    ObjectEvent const object = object_of(parsed(sample(GetParam().file)));
    EXPECT_EQ(object.change, GetParam().change);
    EXPECT_EQ(object.api_version + " " + object.kind + " " + object.namespace_ + "/" + object.name, GetParam().who);
    EXPECT_EQ(base::text_of(base::member(object.object, "metadata", "resourceVersion")), GetParam().resource_version);
}

using Change = ObjectEvent::Change;

INSTANTIATE_TEST_SUITE_P(
    , ObjectSample,
    testing::Values(
        SampleRow{"Add", "kro-add.http", Change::Added, "kro.services.openmcp.cloud/v1alpha1 Kro project-a--ws-b/acme", "1201"},
        SampleRow{"Update", "kro-update.http", Change::Updated, "kro.services.openmcp.cloud/v1alpha1 Kro project-a--ws-b/acme",
                  "1377"},
        SampleRow{"Delete", "kro-delete.http", Change::Deleted, "kro.services.openmcp.cloud/v1alpha1 Kro project-a--ws-b/acme",
                  "1490"},
        SampleRow{"ClusterScoped", "providerconfig-update.http", Change::Updated,
                  "kro.services.openmcp.cloud/v1alpha1 ProviderConfig /kro", "1502"},
        SampleRow{"Labelled", "helmrelease-update.http", Change::Updated,
                  "helm.toolkit.fluxcd.io/v2 HelmRelease mcp--2bcf790e-815e-8ea9-857b-15be429583a5/kro-helm-release", "1388"},
        SampleRow{"Reference", "secret-reference-update.http", Change::Updated, "v1 Secret openmcp-system/chart-pull", ""}),
    [](auto const& row) { return row.param.name; });

TEST(ObjectEvent, CarriesTheLastStateOfADeletedObject) {
    ObjectEvent const object = object_of(parsed(sample("kro-delete.http")));
    EXPECT_FALSE(base::member(object.object, "metadata", "deletionTimestamp").is_null());
    EXPECT_EQ(base::member(object.object, "spec", "version"), "0.9.2");
}

TEST(ObjectEvent, CarriesLabelsAndAnnotations) {
    ObjectEvent const object = object_of(parsed(sample("helmrelease-update.http")));
    EXPECT_EQ(base::member(object.object, "metadata", "labels", "openmcp.cloud/onboarding-name"), "example");
    EXPECT_EQ(base::member(object.object, "metadata", "annotations", "kro.services.openmcp.cloud/tenant"), "default/example");
}

TEST(ObjectEvent, CarriesNoObjectInReferenceMode) {
    EXPECT_TRUE(object_of(parsed(sample("secret-reference-update.http"))).object.is_null());
}

/// An update in resource mode about default/acme, with this data.
CloudEvent update(std::string const& data) {
    return parsed(structured(R"(,"apiversion":"g/v1","kind":"Kro","name":"acme","namespace":"default","data":)" + data));
}

/// The same without extensions.
CloudEvent bare(std::string const& type, std::string const& data) {
    CloudEvent event = update(data);
    event.type = type;
    event.extensions.clear();
    return event;
}

CloudEvent resource(CloudEvent event) {
    event.type = "dev.knative.apiserver.resource.update";
    return event;
}

// The source guesses the plural, so the subject may name a resource that does not exist.
TEST(ObjectEvent, TakesNothingFromTheSubject) {
    CloudEvent event = parsed(sample("kro-update.http"));
    ObjectEvent const before = object_of(event);
    event.subject = "/apis/other/v9/namespaces/elsewhere/kroes/somebody";
    EXPECT_EQ(object_of(event), before);
    event.subject.reset();
    EXPECT_EQ(object_of(event), before);
}

TEST(ObjectEvent, MeansTheSameAgainWhenOnlyTheIdDiffers) {
    CloudEvent event = parsed(sample("kro-update.http"));
    ObjectEvent const first = object_of(event);
    event.id = "another";
    EXPECT_EQ(object_of(event), first);
}

class UnusableData : public testing::TestWithParam<char const*> {};

TEST_P(UnusableData, LeavesTheObjectThatTheExtensionsName) {
    ObjectEvent const object = object_of(resource(update(GetParam())));
    EXPECT_EQ(object.name, "acme");
    EXPECT_EQ(object.namespace_, "default");
    EXPECT_TRUE(object.object.is_null());
}

TEST_P(UnusableData, NamesNoObjectByItself) {
    EXPECT_EQ(refusal_of(bare("dev.knative.apiserver.resource.update", GetParam())), "400 apiversion");
}

INSTANTIATE_TEST_SUITE_P(, UnusableData,
                         testing::Values(R"("{\"kind\":\"Kro\"}")", "null", "7", "[]", "{}", R"({"metadata":"x"})"));

TEST(ObjectEvent, NeedsNoDataWhenTheExtensionsNameTheObject) {
    CloudEvent event = resource(update("{}"));
    event.data = {};
    EXPECT_EQ(object_of(event).name, "acme");
    event.data = events::Bytes{"\xFF"};
    EXPECT_EQ(object_of(event).name, "acme");
}

constexpr char const* kWhole = R"({"apiVersion":"g/v1","kind":"Kro","metadata":{"name":"acme","namespace":"default"}})";

TEST(ObjectEvent, IsNamedByTheDataWhereNoExtensionDoes) {
    ObjectEvent const object = object_of(bare("dev.knative.apiserver.resource.add", kWhole));
    EXPECT_EQ(object, (ObjectEvent{Change::Added, "g/v1", "Kro", "default", "acme", base::parse_json(kWhole).value()}));
}

TEST(ObjectEvent, IsNamedByTheReferenceWhereNoExtensionDoes) {
    ObjectEvent const object = object_of(
        bare("dev.knative.apiserver.ref.delete", R"({"apiVersion":"v1","kind":"Secret","name":"pull","namespace":"system"})"));
    EXPECT_EQ(object, (ObjectEvent{Change::Deleted, "v1", "Secret", "system", "pull", {}}));
}

struct Refused {
    std::string name;
    std::string data;
    std::string attribute;
};
void PrintTo(Refused const& row, std::ostream* out) { *out << row.name; }

class NamelessObject : public testing::TestWithParam<Refused> {};

TEST_P(NamelessObject, IsRefusedByTheAttribute) {
    EXPECT_EQ(refusal_of(bare("dev.knative.apiserver.resource.update", GetParam().data)), "400 " + GetParam().attribute);
}

INSTANTIATE_TEST_SUITE_P(, NamelessObject,
                         testing::Values(Refused{"NoApiVersion", R"({"kind":"Kro","metadata":{"name":"acme"}})", "apiversion"},
                                         Refused{"NoKind", R"({"apiVersion":"g/v1","metadata":{"name":"acme"}})", "kind"},
                                         Refused{"NoName", R"({"apiVersion":"g/v1","kind":"Kro","metadata":{}})", "name"},
                                         Refused{"NumberAsName", R"({"apiVersion":"g/v1","kind":"Kro","metadata":{"name":7}})",
                                                 "name"}),
                         [](auto const& row) { return row.param.name; });

class Contradiction : public testing::TestWithParam<Refused> {};

TEST_P(Contradiction, IsRefusedByTheAttribute) {
    EXPECT_EQ(refusal_of(resource(update(GetParam().data))), "400 " + GetParam().attribute);
}

INSTANTIATE_TEST_SUITE_P(, Contradiction,
                         testing::Values(Refused{"ApiVersion", R"({"apiVersion":"g/v2"})", "apiversion"},
                                         Refused{"Kind", R"({"kind":"Secret"})", "kind"},
                                         Refused{"Name", R"({"metadata":{"name":"other"}})", "name"},
                                         Refused{"Namespace", R"({"metadata":{"namespace":"other"}})", "namespace"}),
                         [](auto const& row) { return row.param.name; });

TEST(Ping, NeedsNeitherDataNorContentType) {
    EXPECT_EQ(meaning(parsed(sample("ping.http"))), Meaning{events::Ping{}});
    EXPECT_EQ(meaning(bare("dev.knative.sources.ping", R"("whatever")")), Meaning{events::Ping{}});
}

class OtherType : public testing::TestWithParam<char const*> {};

TEST_P(OtherType, IsLeftToTheCaller) { EXPECT_EQ(meaning(bare(GetParam(), kWhole)), Meaning{events::Other{}}); }

INSTANTIATE_TEST_SUITE_P(, OtherType,
                         testing::Values("com.example.reconcile", "dev.knative.apiserver.resource.patch",
                                         "dev.knative.apiserver.resource", "dev.knative.apiserver.resource.updated",
                                         "dev.knative.sources.ping.v2", "DEV.KNATIVE.SOURCES.PING"));

}  // namespace
