#include "journey.hpp"

#include "base/json.hpp"

/// What an operator writes into spec.values of the ProviderConfig is what Flux finds in the HelmRelease.
namespace integration {
namespace {

class Values : public Journey {
  protected:
    Json values() { return member(helm_release(), "spec", "values"); }

    void configure_values(std::string const& text) {
        auto const parsed = base::parse_json(text);
        ASSERT_TRUE(parsed.has_value()) << parsed.error();
        configure({{"values", *parsed}});
    }
    Json configured() { return member(read(*platform_, kro::kProviderConfigs, {{}, provider_}), "spec", "values"); }
};

TEST_F(Values, ReachTheHelmReleaseAsTheyAre) {
    start();
    configure_values(R"({"integer": 9007199254740993, "smallest": -9223372036854775808, "largest": 9223372036854775807,
        "float": 1.0, "small": 1e-9, "long": 0.1234567890123456,
        "nothing": null, "emptyObject": {}, "emptyList": [], "emptyText": "", "nested": {"nothing": null, "list": [null, {}, [], "x"]},
        "rocket": "\ud83d\ude80", "nextLine": "a\u0085b", "others": "\u007f\u00a0\u2028\ufeff\ufffe", "slash": "</script>",
        "yaml": "yes: no # maybe\n- &a *a", "looksLikeNumber": "0123", "looksLikeBool": "true", "key with spaces: and more": 1,
        "deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": [[[[[1]]]]]}}}}}}}}})");
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    Json const values = this->values();
    EXPECT_TRUE(base::same_json(values, configured())) << base::dump_json(values) << "\nfor\n" << base::dump_json(configured());
    EXPECT_EQ(member(values, "integer"), 9007199254740993);
    EXPECT_TRUE(values.contains("nothing") && values["nothing"].is_null());
    EXPECT_EQ(member(values, "rocket"), "\xF0\x9F\x9A\x80");
    EXPECT_EQ(member(values, "nextLine"),
              "a\xC2\x85"
              "b");
    EXPECT_EQ(member(values, "emptyObject"), Json::object());
    EXPECT_EQ(member(values, "emptyList"), Json::array());

    ASSERT_TRUE(settled());
    auto const before = versions();
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(versions(), before) << "the same values again are no write";
}

TEST_F(Values, ThatAreTakenAwayGoFromTheHelmRelease) {
    start();
    configure_values(R"({"kept": {"a": 1, "b": 2}, "gone": {"x": [1, 2, 3]}, "list": [1, 2, 3]})");
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();

    configure_values(R"({"kept": {"a": 1}, "list": [3]})");
    ASSERT_TRUE(eventually([&] { return values() == Json({{"kept", {{"a", 1}}}, {"list", {3}}}); })) << story();
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();

    configure(Json::object());
    ASSERT_TRUE(eventually([&] { return values().is_null(); })) << story();
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_FALSE(reasons_so_far().contains("ReconcileError"));
}

TEST_F(Values, ThatSomebodyElseAddsToTheHelmReleaseAreTakenAwayAtTheNextTick) {
    start();
    configure_values(R"({"mine": 1})");
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    change(*platform_, kro::kHelmReleases, in_tenant("kro-helm-release"),
           {{"spec", {{"values", {{"mine", 2}, {"theirs", true}}}}}});
    ASSERT_TRUE(settled());
    EXPECT_EQ(tick(), 204);
    EXPECT_EQ(values(), Json({{"mine", 1}}));
    EXPECT_TRUE(eventually([&] { return is_ready(); })) << story();
}

TEST_F(Values, OfAnOfferWinAndAVersionThatIsNotOnOfferIsRefused) {
    start();
    configure({{"values", {{"from", "spec"}}},
               {"versions",
                {{{"version", "stable"},
                  {"chartVersion", "0.9.1"},
                  {"chartURL", "oci://offers.example.com/kro"},
                  {"helmValues", {{"from", "offer"}}}},
                 {{"version", "0.9.0"}}}}});
    order("0.9.1");
    ASSERT_TRUE(eventually([&] { return reason() == "ReconcileError"; })) << story();
    EXPECT_NE(message().find("stable, 0.9.0"), std::string::npos) << message();
    EXPECT_EQ(phase(), "Progressing");

    order("stable");
    ASSERT_TRUE(eventually([&] { return is_ready(); })) << story();
    EXPECT_EQ(values(), Json({{"from", "offer"}}));
    EXPECT_EQ(member(oci_repository(), "spec", "ref"), Json({{"tag", "0.9.1"}}));
    EXPECT_EQ(member(oci_repository(), "spec", "url"), "oci://offers.example.com/kro");
}

}  // namespace
}  // namespace integration
