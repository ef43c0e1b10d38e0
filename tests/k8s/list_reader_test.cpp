#include "k8s/list_reader.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using base::Json;
using k8s::read_list;

struct Read {
    base::Result<Json, std::string> list;
    std::vector<Json> items;
};

Read read(std::string_view text) {
    std::vector<Json> items;
    auto list = read_list(text, [&](Json& item) { items.push_back(std::move(item)); });
    return {std::move(list), std::move(items)};
}

TEST(ListReader, HandsOutEachItemAndKeepsTheRest) {
    auto const [list, items] = read(R"({"kind": "KroList", "metadata": {"continue": "next"}, "items": [{"a": 1}, {"b": [2, {}]}],
        "apiVersion": "v1"})");
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[0], Json({{"a", 1}}));
    EXPECT_EQ(items[1], Json({{"b", {2, Json::object()}}}));
    EXPECT_EQ(list.value(),
              Json({{"kind", "KroList"}, {"metadata", {{"continue", "next"}}}, {"items", Json::array()}, {"apiVersion", "v1"}}));
}

struct Row {
    char const* name;
    char const* item;
    char const* wanted;
};

void PrintTo(Row const& row, std::ostream* out) { *out << row.item; }

class ListItem : public testing::TestWithParam<Row> {};

TEST_P(ListItem, IsReadWithoutItsManagedFields) {
    auto const [list, items] = read("{\"items\": [{\"first\": true}, " + std::string{GetParam().item} + "]}");
    ASSERT_TRUE(list) << list.error();
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(base::dump_json(items[1]), GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    , ListItem,
    testing::Values(
        Row{"First", R"({"metadata": { "managedFields" : [{"f:a": {}}] , "name": "x"}})", R"({"metadata":{"name":"x"}})"},
        Row{"Last", R"({"metadata": {"name": "x", "managedFields": [{"f:a": {"k:{\"b\"}": {}}}]}, "spec": 1})",
            R"({"metadata":{"name":"x"},"spec":1})"},
        Row{"InTheMiddle", R"({"metadata": {"a": 1, "managedFields": null, "b": 2}})", R"({"metadata":{"a":1,"b":2}})"},
        Row{"Alone", R"({"metadata": {"managedFields": []}})", R"({"metadata":{}})"},
        Row{"NotThere", R"({"metadata": {}, "spec": {}})", R"({"metadata":{},"spec":{}})"},
        Row{"NotItsOwn", R"({"spec": {"metadata": {"managedFields": [1]}}, "managedFields": 2})",
            R"({"managedFields":2,"spec":{"metadata":{"managedFields":[1]}}})"},
        Row{"BracesInTexts", R"({"metadata": {"managedFields": "}]\"{["}, "a": "}\\"})", R"({"a":"}\\","metadata":{}})"},
        Row{"OddNumbers", R"({"spec": [1.0, 1e400, 9007199254740993]})", R"({"spec":[1.0,1e400,9007199254740993]})"}),
    [](auto const& row) { return row.param.name; });

TEST(ListReader, TakesAListWithoutItems) {
    for (auto const* text : {"{}", R"({"items": null})", R"({"items": []})", R"({"items":[ ], "kind": "List"})"}) {
        auto const [list, items] = read(text);
        EXPECT_TRUE(list) << text;
        EXPECT_TRUE(items.empty()) << text;
    }
}

TEST(ListReader, FailsWhereverTheTextBreaksOff) {
    std::string const whole =
        R"({"kind": "L", "items": [{"metadata": {"managedFields": [{"f": {}}], "name": "a"}}, {"spec": "b"}], "metadata": {"continue": "c"}})";
    ASSERT_TRUE(read(whole).list);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        auto const [list, items] = read(std::string_view{whole}.substr(0, size));
        EXPECT_FALSE(list) << whole.substr(0, size);
        EXPECT_LE(items.size(), 2U);
    }
}

TEST(ListReader, RefusesWhatIsNoJson) {
    for (auto const* text : {R"({"items": [{} {}]})", R"({"items": [{},]})", R"({"items": [1]})", R"({"items": [{"a": nul}]})",
                             "[]", R"({"items": []} x)", R"({"items": [{"a" 1}]})"}) {
        EXPECT_FALSE(read(text).list) << text;
    }
}

TEST(ListReader, RefusesWhatNestsTooDeep) {
    std::string const deep(base::kJsonDepth + 1, '[');
    EXPECT_FALSE(read("{\"items\": [{\"a\": " + deep + std::string(base::kJsonDepth + 1, ']') + "}]}").list);
}

}  // namespace
