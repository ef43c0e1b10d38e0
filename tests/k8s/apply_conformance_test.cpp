// Who owns which field, and what a server-side apply does with it.
#include "conformance.hpp"

namespace {

using base::member;
using conformance::fields_of;
using conformance::kWidgets;
using conformance::managers_of;
using conformance::Server;
using k8s::Json;
using k8s::resource_version_of;

using Managers = std::vector<std::string>;

class ApplyConformance : public conformance::Conformance {
  protected:
    Json patched(std::string const& name, Json spec, std::string_view manager) {
        return must(k8s::merge_patch(kWidgets, key(name), {{"spec", std::move(spec)}}, manager));
    }
    Json status_applied(std::string const& name, Json conditions, std::string_view manager) {
        Json status = {{"phase", "Ready"}, {"conditions", std::move(conditions)}};
        return must(k8s::apply_status(kWidgets, widget_status(name, std::move(status)), manager));
    }
    Json managed_entry(Json const& object, std::size_t index) { return member(object, "metadata", "managedFields").at(index); }
};

Json fields(char const* text) { return base::parse_json(text).value(); }

INSTANTIATE_TEST_SUITE_P(, ApplyConformance, testing::Values(Server::Memory, Server::Real), conformance::name_of);

// --- who owns what

TEST_P(ApplyConformance, AnApplyOwnsTheLeavesThatItSends) {
    Json const made =
        applied("a", {{"size", 1},
                      {"nested", {{"a", "1"}}},
                      {"list", {"x", "y"}},
                      {"set", {"p", "q"}},
                      {"pullers", {{{"name", "n"}, {"note", "1"}}}},
                      {"labels", {{"k", "v"}}},
                      {"values", {{"m", {{"x", 1}}}, {"l", {1, {{"y", 2}}}}, {"n", nullptr}, {"e", Json::object()}}}});
    EXPECT_EQ(managers_of(made), Managers{"me Apply"});
    EXPECT_EQ(fields_of(made, "me"), fields(R"({"f:spec": {
        "f:size": {}, "f:nested": {"f:a": {}}, "f:list": {}, "f:set": {"v:\"p\"": {}, "v:\"q\"": {}},
        "f:pullers": {"k:{\"name\":\"n\"}": {".": {}, "f:name": {}, "f:note": {}}}, "f:labels": {"f:k": {}},
        "f:values": {"f:m": {".": {}, "f:x": {}}, "f:l": {}, "f:n": {}, "f:e": {}}}})"));
    EXPECT_EQ(managed_entry(made, 0)["apiVersion"], "conformance.example.com/v1");
    EXPECT_EQ(managed_entry(made, 0)["fieldsType"], "FieldsV1");
    EXPECT_EQ(managed_entry(made, 0)["time"], member(made, "metadata", "creationTimestamp"));
}

TEST_P(ApplyConformance, ACreateOwnsContainersAndDefaultsToo) {
    Json const made =
        must(k8s::create(kWidgets, widget("a", {{"size", 1}, {"nested", {{"a", "1"}}}}, {{"labels", {{"x", "y"}}}}), "me"));
    EXPECT_EQ(managers_of(made), Managers{"me Update"});
    EXPECT_EQ(fields_of(made, "me", "Update"), fields(R"({"f:metadata": {"f:labels": {".": {}, "f:x": {}}},
                         "f:spec": {".": {}, "f:size": {}, "f:provider": {}, "f:nested": {".": {}, "f:a": {}}}})"));
}

TEST_P(ApplyConformance, APatchOwnsWhatItChangesAndNothingElse) {
    applied("a", {{"size", 1}, {"interval", "1m"}});
    Json const changed = patched("a", {{"size", 2}, {"interval", "1m"}, {"nested", {{"a", "1"}}}}, "hand");
    EXPECT_EQ(managers_of(changed), (Managers{"me Apply", "hand Update"}));
    EXPECT_EQ(fields_of(changed, "me"), fields(R"({"f:spec": {"f:interval": {}}})"));
    EXPECT_EQ(fields_of(changed, "hand", "Update"), fields(R"({"f:spec": {"f:size": {}, "f:nested": {".": {}, "f:a": {}}}})"));
}

TEST_P(ApplyConformance, AFieldThatAPatchRemovesBelongsToNobody) {
    applied("a", {{"size", 1}, {"interval", "1m"}});
    Json const changed = patched("a", {{"interval", nullptr}}, "hand");
    EXPECT_EQ(managers_of(changed), Managers{"me Apply"});
    EXPECT_EQ(fields_of(changed, "me"), fields(R"({"f:spec": {"f:size": {}}})"));
}

TEST_P(ApplyConformance, StatusHasAnEntryOfItsOwn) {
    applied("a", {{"size", 1}});
    Json const written = status_applied("a", {{{"type", "Ready"}, {"status", "True"}}}, "me");
    EXPECT_EQ(managers_of(written).size(), 2U);
    EXPECT_EQ(fields_of(written, "me"), fields(R"({"f:spec": {"f:size": {}}})"));
    EXPECT_EQ(fields_of(written, "me", "Apply", "status"), fields(R"({"f:status": {"f:phase": {}, "f:conditions": {
        "k:{\"type\":\"Ready\"}": {".": {}, "f:type": {}, "f:status": {}}}}})"));
}

TEST_P(ApplyConformance, AnApplyOfNothingOwnsNothing) {
    EXPECT_EQ(managers_of(must(k8s::apply(kWidgets, widget("a"), "me"))), Managers{});
}

// --- what is left out

TEST_P(ApplyConformance, AFieldThatIsLeftOutIsRemoved) {
    applied("a", {{"size", 1}, {"interval", "1m"}, {"nested", {{"a", "1"}, {"b", "2"}}}, {"list", {"x"}}});
    Json const changed = applied("a", {{"size", 1}, {"nested", {{"b", "2"}}}});
    EXPECT_EQ(changed["spec"], fields(R"({"size": 1, "provider": "generic", "nested": {"b": "2"}})"));
    EXPECT_EQ(k8s::generation_of(changed), 2);
    EXPECT_EQ(applied("a", {{"size", 1}})["spec"], fields(R"({"size": 1, "provider": "generic"})"));
}

TEST_P(ApplyConformance, WhatAnotherSetBesideItStays) {
    applied("a", {{"size", 1}, {"nested", {{"a", "1"}}}});
    patched("a", {{"interval", "1m"}, {"nested", {{"b", "2"}}}}, "hand");
    EXPECT_EQ(applied("a", {{"size", 1}})["spec"],
              fields(R"({"size": 1, "provider": "generic", "interval": "1m", "nested": {"b": "2"}})"));
}

TEST_P(ApplyConformance, AFieldOfAnUpdateManagerIsNotRemovedByLeavingItOut) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}, {"interval", "1m"}, {"values", {{"old", 1}}}}), "other"));
    Json const changed = applied("a", {{"size", 2}, {"values", {{"new", 1}}}});
    EXPECT_EQ(changed["spec"], fields(R"({"size": 2, "provider": "generic", "interval": "1m", "values": {"old": 1, "new": 1}})"));
    EXPECT_EQ(managers_of(changed), (Managers{"me Apply", "other Update"}));
    Json const patch =
        Json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", resource_version_of(changed)}},
                     {{"op", "remove"}, {"path", "/spec/interval"}},
                     {{"op", "remove"}, {"path", "/spec/values/old"}}});
    Json const clean = must(k8s::json_patch(kWidgets, key("a"), patch, "me"));
    EXPECT_EQ(clean["spec"], fields(R"({"size": 2, "provider": "generic", "values": {"new": 1}})"));
    EXPECT_EQ(applied("a", {{"size", 2}})["spec"], fields(R"({"size": 2, "provider": "generic"})"));
}

TEST_P(ApplyConformance, AManagersEntryIsTakenOverByPatchingManagedFields) {
    Json const made = must(k8s::create(kWidgets, widget("a", {{"size", 1}, {"interval", "1m"}}), "other"));
    Json entries = made["metadata"]["managedFields"];
    entries[0]["manager"] = "me";
    entries[0]["operation"] = "Apply";
    Json const patch =
        Json::array({{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", entries}},
                     {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", resource_version_of(made)}}});
    Json const taken = must(k8s::json_patch(kWidgets, key("a"), patch, "me"));
    EXPECT_EQ(managers_of(taken), Managers{"me Apply"});
    EXPECT_NE(resource_version_of(taken), resource_version_of(made));
    EXPECT_EQ(k8s::generation_of(taken), 1);
    EXPECT_EQ(applied("a", {{"size", 1}})["spec"], fields(R"({"size": 1, "provider": "generic"})"));
}

TEST_P(ApplyConformance, AnObjectWithoutOwnersIsFirstGivenToOneThatNeverWrites) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}, {"interval", "1m"}}), "other"));
    Json const reset =
        Json::array({{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", Json::array({Json::object()})}}});
    EXPECT_EQ(managers_of(must(k8s::json_patch(kWidgets, key("a"), reset, "me"))), Managers{});
    Json const changed = applied("a", {{"size", 1}});
    EXPECT_EQ(managers_of(changed), (Managers{"me Apply", "before-first-apply Update"}));
    EXPECT_EQ(fields_of(changed, "before-first-apply", "Update"),
              fields(R"({"f:spec": {".": {}, "f:size": {}, "f:interval": {}, "f:provider": {}}})"));
    EXPECT_EQ(member(changed, "spec", "interval"), "1m");
}

// --- several owners

TEST_P(ApplyConformance, ASharedFieldGoesWithItsLastOwner) {
    applied("a", {{"size", 1}, {"interval", "1m"}}, "one");
    Json const shared = applied("a", {{"interval", "1m"}}, "two");
    EXPECT_EQ(managers_of(shared), (Managers{"two Apply", "one Apply"}))
        << "an apply that changes nothing has no time, and sorts first";
    EXPECT_FALSE(managed_entry(shared, 0).contains("time"));
    EXPECT_EQ(member(applied("a", {{"size", 1}}, "one"), "spec", "interval"), "1m");
    EXPECT_FALSE(must(k8s::apply(kWidgets, widget("a"), "two"))["spec"].contains("interval"));
}

TEST_P(ApplyConformance, AnotherValueTakesTheFieldFromWhoeverHadIt) {
    applied("a", {{"size", 1}, {"interval", "1m"}}, "one");
    patched("a", {{"interval", "2m"}}, "hand");
    Json const changed = applied("a", {{"size", 2}, {"interval", "3m"}}, "two");
    EXPECT_EQ(managers_of(changed), Managers{"two Apply"});
    EXPECT_EQ(changed["spec"], fields(R"({"size": 2, "provider": "generic", "interval": "3m"})"));
    EXPECT_EQ(must(k8s::apply(kWidgets, widget("a"), "one"))["spec"], changed["spec"])
        << "what was taken is not removed by its old owner";
}

TEST_P(ApplyConformance, TheSameValueIsSharedWithAnUpdateManager) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "other"));
    Json const shared = applied("a", {{"size", 1}});
    EXPECT_EQ(managers_of(shared), (Managers{"me Apply", "other Update"}));
    EXPECT_EQ(fields_of(shared, "me"), fields(R"({"f:spec": {"f:size": {}}})"));
    EXPECT_EQ(member(must(k8s::apply(kWidgets, widget("a"), "me")), "spec", "size"), 1);
}

// --- lists

TEST_P(ApplyConformance, AnAtomicListIsReplacedAsAWhole) {
    applied("a", {{"list", {"x", "y"}}}, "one");
    Json const changed = applied("a", {{"list", {"z"}}}, "two");
    EXPECT_EQ(member(changed, "spec", "list"), Json::array({"z"}));
    EXPECT_EQ(managers_of(changed), Managers{"two Apply"});
}

TEST_P(ApplyConformance, ASetHasEverybodysElements) {
    applied("a", {{"set", {"b", "a"}}}, "one");
    EXPECT_EQ(member(applied("a", {{"set", {"c", "a"}}}, "two"), "spec", "set"), Json({"b", "c", "a"}));
    EXPECT_EQ(member(applied("a", {{"set", {"b"}}}, "one"), "spec", "set"), Json({"b", "c", "a"}));
    EXPECT_EQ(member(applied("a", {{"set", {"c"}}}, "two"), "spec", "set"), Json({"b", "c"}));
}

TEST_P(ApplyConformance, AMapListMergesByKey) {
    applied("a", {{"pullers", {{{"name", "x"}, {"note", "1"}}, {{"name", "y"}}}}}, "one");
    Json const merged = applied("a", {{"pullers", {{{"name", "z"}}, {{"name", "x"}, {"note", "2"}}}}}, "two");
    EXPECT_EQ(member(merged, "spec", "pullers"), fields(R"([{"name": "z"}, {"name": "x", "note": "2"}, {"name": "y"}])"));
    EXPECT_EQ(
        fields_of(merged, "one"),
        fields(
            R"({"f:spec": {"f:pullers": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}}, "k:{\"name\":\"y\"}": {".": {}, "f:name": {}}}}})"));
    EXPECT_EQ(member(applied("a", {{"size", 1}}, "one"), "spec", "pullers"),
              fields(R"([{"name": "z"}, {"name": "x", "note": "2"}])"));
}

TEST_P(ApplyConformance, ConditionsOfOthersStay) {
    applied("a", {{"size", 1}});
    status_applied("a", {{{"type", "Audited"}, {"status", "True"}}}, "auditor");
    Json const both = status_applied("a", {{{"type", "Ready"}, {"status", "False"}, {"reason", "Waiting"}}}, "me");
    EXPECT_EQ(member(both, "status", "conditions"),
              fields(R"([{"type": "Audited", "status": "True"}, {"type": "Ready", "status": "False", "reason": "Waiting"}])"));
    Json const changed = status_applied("a", {{{"type", "Ready"}, {"status", "True"}}}, "me");
    EXPECT_EQ(member(changed, "status", "conditions"),
              fields(R"([{"type": "Audited", "status": "True"}, {"type": "Ready", "status": "True"}])"));
}

TEST_P(ApplyConformance, AListWithTheSameKeyTwiceOrWithoutItIsRefused) {
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"set", {"x", "x"}}}), "me")).http_status, 500);
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"pullers", {{{"note", "x"}}}}}), "me")).http_status, 500);
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"pullers", {{{"name", "x"}}, {{"name", "x"}}}}}), "me")).http_status,
              500);
}

// --- values of any shape

TEST_P(ApplyConformance, ValuesAreMergedKeyByKeyAndListsAsAWhole) {
    applied("a", {{"values", {{"m", {{"x", 1}}}, {"l", {1, 2}}, {"s", "text"}}}}, "one");
    Json const merged = applied("a", {{"values", {{"m", {{"y", 2}}}, {"l", {3}}}}}, "two");
    EXPECT_EQ(member(merged, "spec", "values"), fields(R"({"m": {"x": 1, "y": 2}, "l": [3], "s": "text"})"));
}

TEST_P(ApplyConformance, AValueMayTurnIntoNullAndBack) {
    applied("a", {{"values", {{"limits", {{"cpu", "1"}}}}}});
    Json const off = applied("a", {{"values", {{"limits", {{"cpu", nullptr}}}}}});
    EXPECT_EQ(member(off, "spec", "values"), fields(R"({"limits": {"cpu": null}})"));
    EXPECT_EQ(resource_version_of(applied("a", {{"values", {{"limits", {{"cpu", nullptr}}}}}})), resource_version_of(off));
    EXPECT_EQ(member(applied("a", {{"values", {{"limits", {{"cpu", "2"}}}}}}), "spec", "values"),
              fields(R"({"limits": {"cpu": "2"}})"));
}

TEST_P(ApplyConformance, AValueMayChangeItsShape) {
    applied("a", {{"values", {{"v", {{"x", 1}}}}}});
    EXPECT_EQ(member(applied("a", {{"values", {{"v", 5}}}}), "spec", "values"), fields(R"({"v": 5})"));
    EXPECT_EQ(member(applied("a", {{"values", {{"v", {1, 2}}}}}), "spec", "values"), fields(R"({"v": [1, 2]})"));
    EXPECT_EQ(member(applied("a", {{"values", {{"v", {{"y", 1}}}}}}), "spec", "values"), fields(R"({"v": {"y": 1}})"));
    EXPECT_EQ(member(applied("a", {{"values", {{"v", nullptr}}}}), "spec", "values"), fields(R"({"v": null})"));
}

TEST_P(ApplyConformance, ValuesThatAreTakenOutAreGone) {
    applied("a", {{"size", 1}, {"values", {{"a", 1}, {"b", {{"c", 2}}}}}});
    EXPECT_EQ(member(applied("a", {{"size", 1}, {"values", {{"a", 1}}}}), "spec", "values"), fields(R"({"a": 1})"));
    EXPECT_FALSE(applied("a", {{"size", 1}})["spec"].contains("values"));
}

TEST_P(ApplyConformance, AnEmptyObjectInThePlaceOfAFullOneIsLost) {
    applied("a", {{"size", 1}, {"values", {{"a", 1}}}});
    EXPECT_FALSE(applied("a", {{"size", 1}, {"values", Json::object()}})["spec"].contains("values"));
    EXPECT_EQ(member(applied("a", {{"size", 1}, {"values", Json::object()}}), "spec", "values"), Json::object());
}

TEST_P(ApplyConformance, AnEmptyObjectInThePlaceOfAFullOneIsRefusedWhereNullIsNotAllowed) {
    applied("a", {{"object", {{"a", 1}}}, {"labels", {{"a", "1"}}}});
    EXPECT_EQ(
        must_fail(k8s::apply(kWidgets, widget("a", {{"object", Json::object()}, {"labels", {{"a", "1"}}}}), "me")).http_status,
        422);
    EXPECT_EQ(
        must_fail(k8s::apply(kWidgets, widget("a", {{"object", {{"a", 1}}}, {"labels", Json::object()}}), "me")).http_status,
        422);
}

TEST_P(ApplyConformance, TheTimeOfAnEntryIsThatOfItsLastChange) {
    Json const made = applied("a", {{"size", 1}});
    Json const again = applied("a", {{"size", 1}});
    EXPECT_EQ(again, made);
    EXPECT_EQ(applied("a", {{"size", 2}})["metadata"]["managedFields"].size(), 1U);
}

TEST_P(ApplyConformance, DefaultsBelongToNobodyUntilTheyAreApplied) {
    Json const made = applied("a", {{"size", 1}});
    EXPECT_EQ(fields_of(made, "me"), fields(R"({"f:spec": {"f:size": {}}})"));
    Json const owned = applied("a", {{"size", 1}, {"provider", "generic"}});
    EXPECT_EQ(fields_of(owned, "me"), fields(R"({"f:spec": {"f:size": {}, "f:provider": {}}})"));
    EXPECT_EQ(member(applied("a", {{"size", 1}}), "spec", "provider"), "generic");
}

TEST_P(ApplyConformance, LabelsAndAnnotationsAreOwnedOneByOne) {
    must(k8s::apply(kWidgets, widget("a", {}, {{"labels", {{"x", "1"}}}, {"annotations", {{"n", "1"}}}}), "one"));
    must(k8s::apply(kWidgets, widget("a", {}, {{"labels", {{"y", "2"}}}}), "two"));
    Json const left = must(k8s::apply(kWidgets, widget("a"), "one"));
    EXPECT_EQ(left["metadata"]["labels"], fields(R"({"y": "2"})"));
    EXPECT_FALSE(left["metadata"].contains("annotations"));
}

TEST_P(ApplyConformance, TheDataOfASecretIsOwnedKeyByKey) {
    auto const secret = [&](Json data) -> Json {
        return {{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata", {{"name", "s"}, {"namespace", namespace_}}},
                {"data", std::move(data)}};
    };
    must(k8s::apply(k8s::kSecrets, secret({{"a", "YQ=="}, {"b", "Yg=="}}), "one"));
    must(k8s::apply(k8s::kSecrets, secret({{"c", "Yw=="}}), "two"));
    Json const changed = must(k8s::apply(k8s::kSecrets, secret({{"b", "Yg=="}}), "one"));
    EXPECT_EQ(changed["data"], fields(R"({"b": "Yg==", "c": "Yw=="})"));
    EXPECT_EQ(changed["type"], "Opaque");
    EXPECT_EQ(fields_of(changed, "one"), fields(R"({"f:data": {"f:b": {}}})"));
}

TEST_P(ApplyConformance, AJsonPatchChangesOneFinalizerAndOwnsIt) {
    must(k8s::create(kWidgets, widget("a", {}, {{"finalizers", {"other/x"}}}), "other"));
    Json const add = Json::array({{{"op", "add"}, {"path", "/metadata/finalizers/-"}, {"value", "example.com/mine"}}});
    Json const both = must(k8s::json_patch(kWidgets, key("a"), add, "me"));
    EXPECT_EQ(fields_of(both, "me", "Update"), fields(R"({"f:metadata": {"f:finalizers": {"v:\"example.com/mine\"": {}}}})"));
    EXPECT_EQ(fields_of(both, "other", "Update"), fields(R"({"f:metadata": {"f:finalizers": {".": {}, "v:\"other/x\"": {}}}})"));
}

}  // namespace
