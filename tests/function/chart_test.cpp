#include "function/tenant/chart.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string const kDigest = "sha256:" + std::string(64, 'a');

struct Url {
    std::string name;
    std::string written;
    std::string expected;  ///< the URL, or a part of what is said against it
};

class ChartUrl : public testing::TestWithParam<Url> {};
class RefusedChartUrl : public testing::TestWithParam<Url> {};

TEST_P(ChartUrl, IsTaken) {
    auto const url = kro::normalized_chart_url(GetParam().written);
    ASSERT_TRUE(url) << url.error();
    EXPECT_EQ(*url, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    , ChartUrl,
    testing::Values(Url{"AsItShouldBe", "oci://registry.k8s.io/kro/charts/kro", "oci://registry.k8s.io/kro/charts/kro"},
                    Url{"WithoutScheme", "registry.test:5000/charts/kro", "oci://registry.test:5000/charts/kro"},
                    Url{"WithASlashAtItsEnd", "oci://registry.test:5000/charts/kro/", "oci://registry.test:5000/charts/kro"},
                    Url{"InUpperCase", "OCI://registry.test/kro", "oci://registry.test/kro"},
                    Url{"WithSpacesAround", " oci://registry.test/kro\n", "oci://registry.test/kro"},
                    Url{"OfAnIPv6Host", "oci://[fd00::1]:5000/kro", "oci://[fd00::1]:5000/kro"}),
    [](auto const& row) { return row.param.name; });

TEST_P(RefusedChartUrl, IsNamedWithTheReason) {
    auto const url = kro::normalized_chart_url(GetParam().written);
    ASSERT_FALSE(url) << *url;
    EXPECT_NE(url.error().find(GetParam().written), std::string::npos) << url.error();
    EXPECT_NE(url.error().find(GetParam().expected), std::string::npos) << url.error();
}

INSTANTIATE_TEST_SUITE_P(, RefusedChartUrl,
                         testing::Values(Url{"WithoutRepository", "oci://registry.test:5000", "names no repository"},
                                         Url{"WithoutRepositoryButASlash", "oci://registry.test:5000/", "names no repository"},
                                         Url{"WithATag", "oci://registry.test/charts/kro:0.9.1", "carries a tag"},
                                         Url{"WithADigest", "oci://registry.test/kro@sha256:00", "carries a digest"},
                                         Url{"OfAnotherScheme", "https://registry.test/charts/kro", "scheme is not oci"},
                                         Url{"WithoutHost", "oci:///charts/kro", "names no registry host"},
                                         Url{"WithASpaceInside", "oci://registry.test/my chart", "character"},
                                         Url{"WithCapitalsInTheRepository", "oci://registry.test/Charts", "character"},
                                         Url{"WithAQuery", "oci://registry.test/kro?x=1", "character"}),
                         [](auto const& row) { return row.param.name; });

TEST(ChartUrlFault, DoesNotRepeatAPassword) {
    auto const url = kro::normalized_chart_url("oci://user:s3cr3t@registry.test/kro");
    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().find("s3cr3t"), std::string::npos) << url.error();
}

TEST(ChartUrlFault, MayBeEmpty) { EXPECT_FALSE(kro::normalized_chart_url("")); }

struct Version {
    std::string name;
    std::string written;
    std::string tag;
    std::string digest;
};

class ChartVersion : public testing::TestWithParam<Version> {};

TEST_P(ChartVersion, BecomesAReference) {
    auto const ref = kro::parse_chart_version(GetParam().written);
    ASSERT_TRUE(ref) << ref.error();
    EXPECT_EQ(ref->tag, GetParam().tag);
    EXPECT_EQ(ref->digest, GetParam().digest);
}

INSTANTIATE_TEST_SUITE_P(, ChartVersion,
                         testing::Values(Version{"OfATag", "0.9.1", "0.9.1", ""},
                                         Version{"WithBuildMetadata", "0.9.1+build.5", "0.9.1_build.5", ""},
                                         Version{"OfATagAndADigest", "0.9.1@" + kDigest, "0.9.1", kDigest},
                                         Version{"OfADigestAlone", kDigest, "", kDigest},
                                         Version{"WithAV", "v1.0.0-rc.1", "v1.0.0-rc.1", ""},
                                         Version{"AtTheLimit", std::string(128, 'a'), std::string(128, 'a'), ""}),
                         [](auto const& row) { return row.param.name; });

class RefusedChartVersion : public testing::TestWithParam<Version> {};

TEST_P(RefusedChartVersion, IsNamed) {
    auto const ref = kro::parse_chart_version(GetParam().written);
    ASSERT_FALSE(ref);
    EXPECT_NE(ref.error().find("\"" + GetParam().written + "\""), std::string::npos) << ref.error();
}

INSTANTIATE_TEST_SUITE_P(
    , RefusedChartVersion,
    testing::Values(Version{"Empty", "", "", ""}, Version{"OfASpace", "0.9 1", "", ""},
                    Version{"ThatStartsWithADot", ".9", "", ""}, Version{"ThatStartsWithADash", "-1", "", ""},
                    Version{"TooLong", std::string(129, 'a'), "", ""}, Version{"OfAShortDigest", "sha256:abc", "", ""},
                    Version{"OfADigestInCapitals", "sha256:" + std::string(64, 'A'), "", ""},
                    Version{"OfAnotherAlgorithm", "1@sha512:" + std::string(64, 'a'), "", ""},
                    Version{"WithoutTagBeforeTheDigest", "@" + kDigest, "", ""}, Version{"OfARange", ">=0.9.0", "", ""}),
    [](auto const& row) { return row.param.name; });

}  // namespace
