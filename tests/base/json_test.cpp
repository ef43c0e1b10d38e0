#include "base/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using base::dump_json;
using base::parse_json;

std::string round_trip(std::string const& text) {
    auto const value = parse_json(text);
    return value ? dump_json(*value) : "refused: " + value.error();
}

struct Row {
    std::string name;
    std::string text;
};

class Number : public testing::TestWithParam<Row> {};

// Source: RFC 8259 section 6.
TEST_P(Number, KeepsItsSpelling) { EXPECT_EQ(round_trip(GetParam().text), GetParam().text); }

INSTANTIATE_TEST_SUITE_P(, Number,
                         testing::Values(Row{"Zero", "0"}, Row{"Small", "-17"}, Row{"BeyondADouble", "9007199254740993"},
                                         Row{"LargestInt64", "9223372036854775807"}, Row{"SmallestInt64", "-9223372036854775808"},
                                         Row{"LargestUint64", "18446744073709551615"},
                                         Row{"OneMoreThanUint64", "18446744073709551616"}, Row{"Exponent", "1e3"},
                                         Row{"WholeDouble", "1.0"}, Row{"MinusZero", "-0"}, Row{"Tenth", "0.1"},
                                         Row{"UpperCaseExponent", "1E+2"}, Row{"ThirtyDigits", "123456789012345678901234567890"},
                                         Row{"TooLargeForADouble", "1e400"}, Row{"TooSmallForADouble", "-1e400"},
                                         Row{"SmallestDouble", "4.9e-324"}),
                         [](auto const& row) { return row.param.name; });

class NotJson : public testing::TestWithParam<Row> {};

TEST_P(NotJson, IsRefused) { EXPECT_FALSE(parse_json(GetParam().text).has_value()); }

INSTANTIATE_TEST_SUITE_P(, NotJson,
                         testing::Values(Row{"Nothing", ""}, Row{"NaN", "NaN"}, Row{"Infinity", "[Infinity]"},
                                         Row{"LeadingZero", "[0123]"}, Row{"TwoSigns", "--1"}, Row{"DotAtTheEnd", "1."},
                                         Row{"TwoTexts", "1 2"}, Row{"OpenString", "\"abc"}, Row{"NotUtf8", "\"\xEC\""},
                                         Row{"TrailingBackslash", "\"abc\\"}),
                         [](auto const& row) { return row.param.name; });

TEST(Json, NestedTooDeepIsRefusedBeforeATreeIsBuilt) {
    EXPECT_FALSE(parse_json(std::string(500000, '[')).has_value());
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += "{\"a\":";
    deep += "1" + std::string(200, '}');
    EXPECT_EQ(round_trip(deep), deep);
}

TEST(Json, AStringThatLooksLikeAMarkedNumberStaysAString) {
    EXPECT_EQ(round_trip("[\"\\u007f1.0\",1.0]"), "[\"\\u007f1.0\",1.0]");
    EXPECT_EQ(round_trip("{\"\x7fkey\":1.0}"), "{\"\\u007fkey\":1.0}");
    EXPECT_TRUE(parse_json("[\"\x7f\x7f\", 1.0]")->at(0).is_string());
    EXPECT_EQ(parse_json("[\"\x7f\x7f\", 1.0]")->at(0), "\x7f\x7f");
}

// Source: YAML 1.2.2 section 5.1 (printable characters): the API server reads an apply's body as YAML.
TEST(Json, IsWrittenSoThatAYamlReaderTakesIt) {
    EXPECT_EQ(dump_json("\x7f\xC2\x80\xC2\x9F\xC2\xA0\xEF\xBF\xBE\xEF\xBF\xBF"),
              "\"\\u007f\\u0080\\u009f\xC2\xA0\\ufffe\\uffff\"");
    EXPECT_EQ(dump_json("a/b \xF0\x9F\x9A\x80"), "\"a/b \xF0\x9F\x9A\x80\"");
    EXPECT_EQ(dump_json("cut \xF0\x9F"), "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, IsComparedAsAnApiServerStoresIt) {
    auto const same = [](std::string const& a, std::string const& b) { return base::same_json(*parse_json(a), *parse_json(b)); };
    EXPECT_TRUE(same("1.0", "1"));
    EXPECT_TRUE(same("1e3", "1000"));
    EXPECT_TRUE(same("{\"a\":[1.50]}", "{\"a\":[1.5]}"));
    EXPECT_TRUE(same("123456789012345678901234567890", "1.2345678901234568e29"));
    EXPECT_TRUE(same("1e400", "1e400"));
    EXPECT_FALSE(same("9007199254740993", "9007199254740992"));
    EXPECT_FALSE(same("1e400", "1e401"));
    EXPECT_FALSE(same("null", "0"));
    EXPECT_FALSE(same("{}", "[]"));
    EXPECT_FALSE(same("{\"a\":1}", "{\"b\":1}"));
}

TEST(Json, ContainsAPartWhoseListsAreTheSame) {
    auto const contains = [](std::string const& a, std::string const& b) {
        return base::contains_json(*parse_json(a), *parse_json(b));
    };
    EXPECT_TRUE(contains("{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":1}}"));
    EXPECT_FALSE(contains("{\"a\":{\"b\":1}}", "{\"a\":{\"c\":1}}"));
    EXPECT_FALSE(contains("{\"a\":[1,2]}", "{\"a\":[1]}"));
    EXPECT_TRUE(contains("{\"a\":[1.0]}", "{\"a\":[1]}"));
}

TEST(Utf8, IsCutBetweenCharacters) {
    EXPECT_EQ(base::cut_utf8("ab\xC3\xA9", 3), "ab");
    EXPECT_EQ(base::cut_utf8("ab\xC3\xA9", 4), "ab\xC3\xA9");
    EXPECT_EQ(base::valid_utf8("a\xFF"
                               "b"),
              "a\xEF\xBF\xBD"
              "b");
}

}  // namespace
