#include "k8s/manifest.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using k8s::Manifest;
using k8s::read_manifests;

Json only(std::string_view text) {
    auto const manifests = read_manifests(text);
    EXPECT_EQ(manifests.size(), 1U);
    if (manifests.size() != 1) return nullptr;
    return manifests[0].object.has_value() ? *manifests[0].object : Json(manifests[0].object.error());
}

std::vector<std::string> names_of(std::vector<Manifest> const& manifests) {
    std::vector<std::string> names;
    for (auto const& one : manifests) {
        names.push_back(std::to_string(one.line) + " " +
                        (one.object ? base::text_of(base::member(*one.object, "metadata", "name")) : one.object.error()));
    }
    return names;
}

TEST(Manifest, IsAnObjectWithTheTypesThatItsScalarsSpell) {
    Json const object = only(R"(
apiVersion: v1
kind: Thing
metadata: {name: one}
spec:
  integer: 42
  exact: 9007199254740993
  spelled: 1.0
  exponent: 1e3
  truth: true
  nothing: ~
  quoted: "42"
  single: 'true'
  version: 0.9.1
  date: 2026-11-30
  octal: 0755
  word: yes
  list: [1, two]
  empty: {}
  block: |
    a
    --- b
)");
    Json const& spec = object["spec"];
    EXPECT_EQ(spec["integer"], 42);
    EXPECT_EQ(base::dump_json(spec["exact"]), "9007199254740993");
    EXPECT_EQ(base::dump_json(spec["spelled"]), "1.0");
    EXPECT_EQ(base::dump_json(spec["exponent"]), "1e3");
    EXPECT_EQ(spec["truth"], true);
    EXPECT_TRUE(spec.contains("nothing"));
    EXPECT_TRUE(spec["nothing"].is_null());
    for (auto const& [name, text] : std::vector<std::pair<std::string, std::string>>{{"quoted", "42"},
                                                                                     {"single", "true"},
                                                                                     {"version", "0.9.1"},
                                                                                     {"date", "2026-11-30"},
                                                                                     {"octal", "0755"},
                                                                                     {"word", "yes"},
                                                                                     {"block", "a\n--- b\n"}}) {
        EXPECT_EQ(spec[name], text) << name;
    }
    EXPECT_EQ(spec["list"], Json::array({1, "two"}));
    EXPECT_EQ(spec["empty"], Json::object());
}

TEST(Manifest, MayBeOneOfSeveralDocuments) {
    auto const manifests = read_manifests(
        "# a comment alone\n---\n{apiVersion: v1, kind: A, metadata: {name: one}}\n---\n\n"
        "--- # two\napiVersion: v1\nkind: A\nmetadata:\n  name: two\n...\n");
    EXPECT_EQ(names_of(manifests), (std::vector<std::string>{"2 one", "6 two"}));
}

TEST(Manifest, MayBeAnItemOfAList) {
    EXPECT_EQ(names_of(read_manifests(R"({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "A", "metadata": {"name": "one"}}, {"apiVersion": "v1", "kind": "B", "metadata": {"name": "two"}}]})")),
              (std::vector<std::string>{"1 one", "1 two"}));
    Json const typed = only("apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: one}\n");
    EXPECT_EQ(typed["kind"], "Secret");
    EXPECT_EQ(typed["apiVersion"], "v1");
}

TEST(Manifest, ThatCannotBeReadLeavesTheOthers) {
    auto const manifests = read_manifests(
        "apiVersion: v1\nkind: A\nmetadata: {name: one}\n---\nspec: [\n---\nkind: A\n---\na: 1\na: 2\n---\n"
        "apiVersion: v1\nkind: A\nmetadata: {name: last}\ndata: !!binary c2VjcmV0\n---\napiVersion: v1\nkind: A\nmetadata: "
        "{name: end}\n");
    auto const names = names_of(manifests);
    ASSERT_EQ(names.size(), 6U);
    EXPECT_EQ(names[0], "1 one");
    EXPECT_TRUE(names[1].starts_with("4 is no YAML: line 6, column 1")) << names[1];
    EXPECT_EQ(names[2], "6 is no Kubernetes object: apiVersion, kind or metadata.name is missing");
    EXPECT_EQ(names[3], "8 has a key in it twice");
    EXPECT_EQ(names[4], "11 has a tag (like !!binary) in it, which is not read");
    EXPECT_EQ(names[5], "16 end");
}

TEST(Manifest, ThatIsBrokenJsonSaysWhere) {
    auto const manifests = read_manifests("{\"apiVersion\": \"v1\",\n \"kind\": \"A\"");
    ASSERT_EQ(manifests.size(), 1U);
    ASSERT_FALSE(manifests[0].object);
    EXPECT_TRUE(manifests[0].object.error().starts_with("is no YAML: line 2")) << manifests[0].object.error();
}

TEST(Manifest, OfNothingIsNone) {
    for (auto const* text : {"", "\n", "---\n", "# only a comment\n---\n---\n"})
        EXPECT_TRUE(read_manifests(text).empty()) << text;
}

TEST(Manifest, DoesNotGrowByItsAliases) {
    std::string bomb = "apiVersion: v1\nkind: A\nmetadata: {name: bomb}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        std::string const before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int n = 1; n < 10; ++n) bomb += "," + before;
        bomb += "]\n";
    }
    EXPECT_EQ(only(bomb), "has too many values in it");
}

}  // namespace
