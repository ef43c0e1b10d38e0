#include "function/tenant/provider_config.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using kro::Chart;
using kro::ProviderConfig;
using support::json;

ProviderConfig config_of(std::string_view spec) {
    return kro::read_provider_config(support::provider_config(json(spec))).value();
}

TEST(ProviderConfig, HasDefaultsForAllThatIsLeftOut) {
    for (auto const* spec : {"{}", R"({"chartURL": ""})", R"({"chartURL": null, "pollInterval": null})"}) {
        ProviderConfig const config = config_of(spec);
        EXPECT_EQ(config.chart_url, "oci://registry.k8s.io/kro/charts/kro") << spec;
        EXPECT_EQ(config.poll_interval, "1m") << spec;
        EXPECT_EQ(config.image_pull_secret, "") << spec;
        EXPECT_TRUE(config.values.is_null()) << spec;
        EXPECT_FALSE(config.ca_bundle) << spec;
        EXPECT_FALSE(config.offers) << spec;
    }
    EXPECT_EQ(kro::read_provider_config(json(R"({"kind": "ProviderConfig"})")).value().chart_url, kro::kDefaultChartUrl);
}

TEST(ProviderConfig, HandsTheValuesOnUntouched) {
    // Every number with the bytes that it was written with.
    std::string const values =
        R"({"a":9007199254740993,"b":18446744073709551616,"c":1e3,"d":1.0,"e":-0,"empty":{},"f":0.1,"g":1E+2,)"
        R"("h":123456789012345678901234567890,"i":1e400,"list":[],"null":null,"u":"\ud83d\ude00 é"})";
    ProviderConfig const config = config_of(R"({"values": )" + values + "}");
    Chart const chart = kro::chart_for(config, "0.9.1").value();
    std::string const expected =
        R"({"a":9007199254740993,"b":18446744073709551616,"c":1e3,"d":1.0,"e":-0,"empty":{},"f":0.1,"g":1E+2,)"
        "\"h\":123456789012345678901234567890,\"i\":1e400,\"list\":[],\"null\":null,\"u\":\"\xF0\x9F\x98\x80 é\"}";
    EXPECT_EQ(base::dump_json(chart.values), expected);
}

TEST(ProviderConfig, HandsHonestlyDeepValuesOn) {
    std::string deep = "1";
    for (int i = 0; i < 200; ++i) deep = R"({"a":)" + deep + "}";
    EXPECT_EQ(base::dump_json(config_of(R"({"values": )" + deep + "}").values), deep);
}

struct Fault {
    std::string name;
    std::string spec;
    std::string named;
};

class FaultyProviderConfig : public testing::TestWithParam<Fault> {};

TEST_P(FaultyProviderConfig, IsRefusedByItsField) {
    auto const config = kro::read_provider_config(support::provider_config(json(GetParam().spec)));
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().find(GetParam().named), std::string::npos) << config.error();
}

INSTANTIATE_TEST_SUITE_P(
    , FaultyProviderConfig,
    testing::Values(Fault{"ChartUrlNoText", R"({"chartURL": 7})", "spec.chartURL"},
                    Fault{"ValuesAList", R"({"values": [1]})", "spec.values"},
                    Fault{"ValuesAText", R"({"values": "a: 1"})", "spec.values"},
                    Fault{"PullSecretNameNoText", R"({"imagePullSecret": {"name": 1}})", "spec.imagePullSecret.name"},
                    Fault{"CaBundleWithoutKey", R"({"caBundleRef": {"name": "ca"}})", "spec.caBundleRef"},
                    Fault{"VersionsNoList", R"({"versions": {}})", "spec.versions"},
                    Fault{"OfferWithoutVersion", R"({"versions": [{"chartVersion": "1"}]})", "spec.versions[0].version"},
                    Fault{"OfferedValuesNoObject", R"({"versions": [{"version": "1", "helmValues": 1}]})",
                          "spec.versions[0].helmValues"}),
    [](auto const& row) { return row.param.name; });

TEST(PollInterval, IsReadAsAGoDuration) {
    EXPECT_EQ(kro::poll_interval_of(config_of(R"({"pollInterval": "1h30m"})")).value(), std::chrono::minutes{90});
    EXPECT_EQ(kro::poll_interval_of(config_of(R"({"pollInterval": "1s"})")).value(), std::chrono::seconds{1});
    EXPECT_EQ(kro::poll_interval_of(config_of("{}")).value(), std::chrono::minutes{1});
}

TEST(PollInterval, IsRefusedWhereItIsNoDurationOfASecondOrMore) {
    for (auto const* text : {"1d", "5", "-5m", "0", "", " 1m", "1m ", "1M", "999999999999h", "999ms", "1µs", "0s", "often"}) {
        auto const interval = kro::poll_interval_of(config_of(R"({"pollInterval": ")" + std::string{text} + R"("})"));
        ASSERT_FALSE(interval) << text;
        EXPECT_NE(interval.error().find("spec.pollInterval \"" + std::string{text} + "\""), std::string::npos)
            << interval.error();
    }
}

std::string const kOffers = R"({
    "chartURL": "registry.test/charts/kro", "imagePullSecret": {"name": "pull"}, "values": {"a": 1},
    "versions": [{"version": "stable"},
                 {"version": "0.9.1", "chartVersion": "0.9.1+build.5", "chartURL": "oci://other.test/kro", "chartPullSecret": "other-pull",
                  "helmValues": {"b": 2}},
                 {"version": "plain", "chartVersion": "1.0.0", "helmValues": {}}]})";

TEST(Offer, WinsWithTheFieldsThatItHas) {
    Chart const chart = kro::chart_for(config_of(kOffers), "0.9.1").value();
    EXPECT_EQ(chart.url, "oci://other.test/kro");
    EXPECT_EQ(chart.ref.tag, "0.9.1_build.5");
    EXPECT_EQ(chart.pull_secret, "other-pull");
    EXPECT_EQ(base::dump_json(chart.values), R"({"b":2})");
}

TEST(Offer, LeavesTheRestAsItIs) {
    Chart const chart = kro::chart_for(config_of(kOffers), "stable").value();
    EXPECT_EQ(chart.url, "oci://registry.test/charts/kro");
    EXPECT_EQ(chart.ref.tag, "stable");
    EXPECT_EQ(chart.pull_secret, "pull");
    EXPECT_EQ(base::dump_json(chart.values), R"({"a":1})");
}

TEST(Offer, OfNoValuesAtAllWinsToo) {
    EXPECT_EQ(base::dump_json(kro::chart_for(config_of(kOffers), "plain").value().values), "{}");
}

TEST(Offer, MustBeAskedForWordForWord) {
    for (auto const* version : {"0.9", "0.9.1 ", "STABLE", "v0.9.1", ""}) {
        auto const chart = kro::chart_for(config_of(kOffers), version);
        ASSERT_FALSE(chart) << version;
        EXPECT_NE(chart.error().find("on offer: stable, 0.9.1, plain"), std::string::npos) << chart.error();
    }
}

TEST(Offer, ListThatIsEmptyOffersNothing) {
    auto const chart = kro::chart_for(config_of(R"({"versions": []})"), "0.9.1");
    ASSERT_FALSE(chart);
    EXPECT_NE(chart.error().find("no version at all"), std::string::npos) << chart.error();
}

TEST(ImagePullSecrets, AreTheNamesInTheValues) {
    ProviderConfig const config = config_of(R"({"values": {"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}})");
    EXPECT_EQ(kro::chart_for(config, "1").value().image_pull_secrets, (std::vector<std::string>{"a", "b"}));
}

TEST(ImagePullSecrets, MayBeNamedTwice) {
    ProviderConfig const config = config_of(R"({"values": {"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}})");
    EXPECT_EQ(kro::chart_for(config, "1").value().image_pull_secrets, (std::vector<std::string>{"a"}));
}

TEST(ImagePullSecrets, MayBeLeftOut) {
    for (auto const* values : {"{}", R"({"imagePullSecrets": []})", R"({"imagePullSecrets": null})"}) {
        ProviderConfig const config = config_of(R"({"values": )" + std::string{values} + "}");
        EXPECT_TRUE(kro::chart_for(config, "1").value().image_pull_secrets.empty()) << values;
    }
}

TEST(ImagePullSecrets, ThatAreNotOfTheFormAreRefusedWithTheForm) {
    for (auto const* secrets :
         {R"("pull")", R"(["pull"])", R"([{"secret": "a"}])", R"([{"name": ""}])", R"([{"name": 1}])", "[null]", "{}"}) {
        auto const chart = kro::chart_for(config_of(R"({"values": {"imagePullSecrets": )" + std::string{secrets} + "}}"), "1");
        ASSERT_FALSE(chart) << secrets;
        EXPECT_NE(chart.error().find("{name: <secret>}"), std::string::npos) << chart.error();
    }
}

TEST(Chart, NamesWhatIsWrongWithItsUrlOrVersion) {
    auto const url = kro::chart_for(config_of(R"({"chartURL": "https://registry.test/kro"})"), "1");
    ASSERT_FALSE(url);
    EXPECT_NE(url.error().find("https://registry.test/kro"), std::string::npos);
    auto const version = kro::chart_for(config_of("{}"), "not a tag");
    ASSERT_FALSE(version);
    EXPECT_NE(version.error().find("not a tag"), std::string::npos);
}

}  // namespace
