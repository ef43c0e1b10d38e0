#include "function/tenant/tenant.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using kro::Tenant;
using support::json;

// Known answers: openMCP's controller-utils.

TEST(Hash8, IsWhatThePlatformComputes) {
    EXPECT_EQ(kro::hash8("example"), "epgccknc");
    EXPECT_EQ(kro::hash8("default/example"), "fphxsdub");
}

TEST(StableUuid, IsWhatThePlatformComputes) {
    EXPECT_EQ(kro::stable_uuid("example"), "23cc2129-a257-8644-95e0-289d55c69704");
    EXPECT_EQ(kro::stable_uuid("default/example"), "2bcf790e-815e-8ea9-857b-15be429583a5");
}

TEST(TenantNamespace, IsWhatThePlatformComputes) {
    EXPECT_EQ(kro::tenant_namespace({"default", "example"}), "mcp--2bcf790e-815e-8ea9-857b-15be429583a5");
    EXPECT_EQ(kro::tenant_namespace({"default", "s1"}), "mcp--e4dcdd23-763a-88a9-be24-644cba203c35");
}

TEST(TenantNamespace, TellsTenantsApartWhoseNamesReadTheSameWhenJoined) {
    EXPECT_NE(kro::tenant_namespace({"a-b", "c"}), kro::tenant_namespace({"a", "b-c"}));
}

struct Shortening {
    std::string name;
    std::string text;
    std::size_t limit;
    std::string shortened;
};

class ShortenedText : public testing::TestWithParam<Shortening> {};

TEST_P(ShortenedText, IsWhatThePlatformComputes) {
    EXPECT_EQ(kro::shorten(GetParam().text, GetParam().limit), GetParam().shortened);
}

INSTANTIATE_TEST_SUITE_P(, ShortenedText,
                         testing::Values(Shortening{"OneCharacterIsKept", "short1234567", 11, "s--j5gore3p"},
                                         Shortening{"NoDotBeforeTheHash", "abcd.efghijklmnopqrstuvwxyz", 15, "abcd--35l3mtbw"},
                                         Shortening{"AtTheLimitOfLabels",
                                                    "this-is-a-very-a-very-a-very-long-string-that-is-over-63-characters", 63,
                                                    "this-is-a-very-a-very-a-very-long-string-that-is-over--6reoyp5o"},
                                         Shortening{"AsLongAsTheLimit", "abcdefghijkl", 12, "abcdefghijkl"},
                                         Shortening{"Empty", "", 63, ""}),
                         [](auto const& row) { return row.param.name; });

TEST(Shorten, OfALimitThatLeavesNoRoomIsAFaultOfOurs) { EXPECT_DEATH(kro::shorten("some text", 10), ""); }

TEST(RequestName, HasTheGroupTheNameAndTheCluster) {
    EXPECT_EQ(kro::request_name({"default", "s1"}), "kro.services.openmcp.cloud--s1--mcp");
    EXPECT_EQ(kro::request_name({"default", "s1"}, "wl"), "kro.services.openmcp.cloud--s1--wl");
}

TEST(RequestName, IsInLowerCase) {
    EXPECT_EQ(kro::request_name({"default", "Acme-ONE"}), "kro.services.openmcp.cloud--acme-one--mcp");
}

TEST(RequestName, OfThirtyCharactersIsWhole) {
    std::string const name(30, 'a');
    EXPECT_EQ(kro::request_name({"default", name}), "kro.services.openmcp.cloud--" + name + "--mcp");
    EXPECT_EQ(kro::request_name({"default", name}).size(), kro::kNameLimit);
}

TEST(RequestName, OfThirtyOneCharactersIsShortenedOnceBeforeItsSuffix) {
    std::string const name(31, 'a');
    std::string const whole = "kro.services.openmcp.cloud--" + name;
    EXPECT_EQ(kro::request_name({"default", name}), whole.substr(0, 48) + "--" + kro::hash8(whole) + "--mcp");
    EXPECT_EQ(kro::request_name({"default", name}).size(), kro::kNameLimit);
}

TEST(RequestName, OfTheLongestNameEndsWithItsSuffix) {
    std::string const name = kro::request_name({"default", std::string(63, 'b')});
    EXPECT_LE(name.size(), kro::kNameLimit);
    EXPECT_TRUE(name.ends_with("--mcp"));
}

TEST(TenantLabels, AreShortenedToWhatALabelTakes) {
    std::string const long_name(80, 'n');
    auto const labels = kro::tenant_labels({"project-a--ws-b", long_name});
    EXPECT_EQ(labels["openmcp.cloud/managed-by"], "kro.services.openmcp.cloud");
    EXPECT_EQ(labels["openmcp.cloud/onboarding-namespace"], "project-a--ws-b");
    EXPECT_EQ(labels["openmcp.cloud/onboarding-name"], std::string(53, 'n') + "--" + kro::hash8(long_name));
}

TEST(TenantAnnotations, HaveTheWholeNames) {
    std::string const long_name(80, 'n');
    EXPECT_EQ(kro::tenant_annotations({"ns", long_name})["kro.services.openmcp.cloud/tenant"], "ns/" + long_name);
}

TEST(ParseTenant, TakesTwoPartsAndNothingElse) {
    EXPECT_EQ(kro::parse_tenant("ns/name"), (Tenant{"ns", "name"}));
    for (auto const* text : {"", "name", "/name", "ns/", "a/b/c", "/"}) EXPECT_FALSE(kro::parse_tenant(text)) << text;
}

struct Object {
    std::string name;
    std::string metadata;
    std::optional<Tenant> tenant;
};

std::string const kLabels = R"("labels": {"openmcp.cloud/managed-by": "kro.services.openmcp.cloud",
    "openmcp.cloud/onboarding-name": "example", "openmcp.cloud/onboarding-namespace": "default"})";
std::string const kItsNamespace = R"("namespace": "mcp--2bcf790e-815e-8ea9-857b-15be429583a5")";

class TenantOfAnObject : public testing::TestWithParam<Object> {};

TEST_P(TenantOfAnObject, IsFound) {
    base::Json object;
    object["metadata"] = json("{" + GetParam().metadata + "}");
    EXPECT_EQ(kro::tenant_of(object), GetParam().tenant);
}

INSTANTIATE_TEST_SUITE_P(
    , TenantOfAnObject,
    testing::Values(
        Object{"IsWhatItsAnnotationSays", R"("annotations": {"kro.services.openmcp.cloud/tenant": "ns/long"},)" + kLabels,
               Tenant{"ns", "long"}},
        Object{"IsWhatItsLabelsSayInThatTenantsNamespace", kItsNamespace + "," + kLabels, Tenant{"default", "example"}},
        Object{"IsLeftOpenByLabelsThatDoNotFitTheNamespace", R"("namespace": "mcp--other",)" + kLabels, std::nullopt},
        Object{"IsLeftOpenByLabelsOfAnotherProvider", kItsNamespace + R"(, "labels": {"openmcp.cloud/managed-by": "other",
                           "openmcp.cloud/onboarding-name": "example", "openmcp.cloud/onboarding-namespace": "default"})",
               std::nullopt},
        Object{"IsNobodyWithoutLabels", kItsNamespace, std::nullopt},
        Object{"IsWhatTheLabelsSayWhereTheAnnotationIsBroken",
               R"("annotations": {"kro.services.openmcp.cloud/tenant": "ns"},)" + kItsNamespace + "," + kLabels,
               Tenant{"default", "example"}}),
    [](auto const& row) { return row.param.name; });

TEST(TenantOf, AnObjectWithShortenedLabelsAloneIsLeftOpen) {
    Tenant const tenant{"default", std::string(70, 'x')};
    base::Json object;
    object["metadata"]["namespace"] = kro::tenant_namespace(tenant);
    object["metadata"]["labels"] = kro::tenant_labels(tenant);
    EXPECT_EQ(kro::tenant_of(object), std::nullopt);
}

TEST(TenantOf, WhatIsNoObjectIsNobody) {
    EXPECT_EQ(kro::tenant_of(nullptr), std::nullopt);
    EXPECT_EQ(kro::tenant_of(json("[1]")), std::nullopt);
}

}  // namespace
