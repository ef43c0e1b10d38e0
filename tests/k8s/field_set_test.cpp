#include "k8s/field_set.hpp"

#include "k8s/field_merge.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using k8s::FieldSet;
using k8s::Json;

FieldSet set_of(char const* text) { return FieldSet::from_json(base::parse_json(text).value()); }
Json json(char const* text) { return base::parse_json(text).value(); }

k8s::Schema schema() {
    return k8s::object_schema(json(R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "x": {"type": "integer"}}}},
        "values": {"x-kubernetes-preserve-unknown-fields": true}}}}})"));
}

struct WireRow {
    std::string name;
    char const* text;
};

class FieldsV1 : public testing::TestWithParam<WireRow> {};

// Source: meta/v1 FieldsV1.
TEST_P(FieldsV1, IsReadAndWrittenAsItIs) { EXPECT_EQ(set_of(GetParam().text).to_json(), json(GetParam().text)); }

INSTANTIATE_TEST_SUITE_P(, FieldsV1,
                         testing::Values(WireRow{"Nothing", "{}"}, WireRow{"ALeaf", R"({"f:data": {}})"},
                                         WireRow{"AContainerItself", R"({"f:spec": {".": {}, "f:a": {}}})"},
                                         WireRow{"AContainersMembers", R"({"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}})"},
                                         WireRow{"AnElementByKey",
                                                 R"({"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:type": {}}}})"},
                                         WireRow{"AnElementByValue", R"({"f:finalizers": {"v:\"a/b\"": {}}})"}),
                         [](auto const& row) { return row.param.name; });

TEST(FieldSet, TellsAContainerFromWhatIsInIt) {
    FieldSet const both = set_of(R"({"f:spec": {".": {}, "f:a": {}}})");
    FieldSet const inner = set_of(R"({"f:spec": {"f:a": {}}})");
    std::array<std::string, 1> const spec{"f:spec"};
    EXPECT_TRUE(both.has(spec));
    EXPECT_FALSE(inner.has(spec));
    EXPECT_EQ(subtract(both, inner), set_of(R"({"f:spec": {}})"));
    EXPECT_EQ(intersect(both, inner), inner);
    EXPECT_EQ(unite(inner, set_of(R"({"f:spec": {}})")), both);
}

TEST(FieldSet, OfTwoIsSortedAndWithoutHoles) {
    FieldSet const left = set_of(R"({"f:a": {}, "f:c": {"f:x": {}}})");
    FieldSet const right = set_of(R"({"f:b": {}, "f:c": {"f:y": {}}})");
    EXPECT_EQ(unite(left, right), set_of(R"({"f:a": {}, "f:b": {}, "f:c": {"f:x": {}, "f:y": {}}})"));
    EXPECT_TRUE(intersect(left, right).empty());
    EXPECT_TRUE(subtract(left, left).empty());
    EXPECT_EQ(subtract(left, right), left);
}

TEST(FieldSet, HasTheDeclaredParentsOfItsPlacesWhereAsked) {
    FieldSet const set = set_of(R"({"f:spec": {"f:nested": {"f:a": {}}, "f:values": {"f:m": {"f:x": {}}}}})");
    EXPECT_EQ(set.with_declared_parents(schema()),
              set_of(R"({"f:spec": {".": {}, "f:nested": {".": {}, "f:a": {}}, "f:values": {".": {}, "f:m": {"f:x": {}}}}})"));
}

struct MergeRow {
    std::string name;
    char const* live;
    char const* applied;
    char const* merged;
};

class Merge : public testing::TestWithParam<MergeRow> {};

// Source: sigs.k8s.io/structured-merge-diff, typed/merge.go.
TEST_P(Merge, TakesWhatIsAppliedAndKeepsTheRest) {
    auto const wrapped = [](char const* text) { return Json{{"spec", json(text)}}; };
    EXPECT_EQ(k8s::merged(wrapped(GetParam().live), wrapped(GetParam().applied), schema()), wrapped(GetParam().merged));
}

INSTANTIATE_TEST_SUITE_P(
    , Merge,
    testing::Values(
        MergeRow{"Members", R"({"nested": {"a": "1"}})", R"({"nested": {"b": "2"}})", R"({"nested": {"a": "1", "b": "2"}})"},
        MergeRow{"EmptyIntoFull", R"({"nested": {"a": "1"}})", R"({"nested": {}})", R"({"nested": {"a": "1"}})"},
        MergeRow{"NullIntoFull", R"({"values": {"m": {"a": 1}}})", R"({"values": {"m": null}})",
                 R"({"values": {"m": {"a": 1}}})"},
        MergeRow{"NullIntoLeaf", R"({"values": {"m": 1}})", R"({"values": {"m": null}})", R"({"values": {"m": null}})"},
        MergeRow{"NullIntoEmpty", R"({"values": {"m": {}}})", R"({"values": {"m": null}})", R"({"values": {"m": null}})"},
        MergeRow{"ListIntoMap", R"({"values": {"m": {"a": 1}}})", R"({"values": {"m": [1]}})", R"({"values": {"m": [1]}})"},
        MergeRow{"MapIntoList", R"({"values": {"m": [1]}})", R"({"values": {"m": {"a": 1}}})", R"({"values": {"m": {"a": 1}}})"},
        MergeRow{"AtomicList", R"({"values": {"l": [1, 2]}})", R"({"values": {"l": [3]}})", R"({"values": {"l": [3]}})"},
        MergeRow{"SetKeepsItsOrder", R"({"set": ["a", "b"]})", R"({"set": ["b"]})", R"({"set": ["a", "b"]})"},
        MergeRow{"SetTakesTheAppliedOrder", R"({"set": ["a", "b"]})", R"({"set": ["b", "a"]})", R"({"set": ["b", "a"]})"},
        MergeRow{"SetTakesMore", R"({"set": ["a", "b"]})", R"({"set": ["c", "b"]})", R"({"set": ["a", "c", "b"]})"},
        MergeRow{"MapList", R"({"map": [{"name": "a", "x": 1}]})", R"({"map": [{"name": "b"}, {"name": "a", "x": 2}]})",
                 R"({"map": [{"name": "b"}, {"name": "a", "x": 2}]})"}),
    [](auto const& row) { return row.param.name; });

TEST(Differences, ListWhatWasAddedChangedAndRemoved) {
    auto const found =
        k8s::differences(json(R"({"spec": {"nested": {"a": "1", "b": "2"}, "set": ["x", "y"]}})"),
                         json(R"({"spec": {"nested": {"a": "3"}, "set": ["x", "z"], "values": {"m": {"n": 1}}}})"), schema());
    EXPECT_EQ(found.added,
              set_of(R"({"f:spec": {"f:set": {"v:\"z\"": {}}, "f:values": {".": {}, "f:m": {".": {}, "f:n": {}}}}})"));
    EXPECT_EQ(found.modified, set_of(R"({"f:spec": {"f:nested": {"f:a": {}}}})"));
    EXPECT_EQ(found.removed, set_of(R"({"f:spec": {"f:nested": {"f:b": {}}, "f:set": {"v:\"y\"": {}}}})"));
}

TEST(Differences, AreNoneBetweenTwoSpellingsOfANumber) {
    auto const found =
        k8s::differences(json(R"({"spec": {"values": {"a": 1.0}}})"), json(R"({"spec": {"values": {"a": 1}}})"), schema());
    EXPECT_TRUE(found.modified.empty());
}

TEST(Without, LeavesNullWhereEverythingIsTakenOut) {
    Json const object = json(R"({"spec": {"nested": {"a": "1"}, "map": [{"name": "a", "x": 1}, {"name": "b"}]}})");
    EXPECT_EQ(
        k8s::without(object, set_of(R"({"f:spec": {"f:nested": {"f:a": {}}, "f:map": {"k:{\"name\":\"a\"}": {"f:x": {}}}}})"),
                     schema()),
        json(R"({"spec": {"nested": null, "map": [{"name": "a"}, {"name": "b"}]}})"));
}

}  // namespace
