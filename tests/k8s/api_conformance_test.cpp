// How an API server treats objects: identity, versions, deletion, preconditions, lists, namespaces. Who owns which field is in
// apply_conformance_test.cpp.
#include "conformance.hpp"

namespace {

using base::member;
using base::text_of;
using conformance::kGadgets;
using conformance::kWidgets;
using conformance::Server;
using k8s::Error;
using k8s::Json;
using k8s::Request;
using k8s::resource_version_of;

class ApiConformance : public conformance::Conformance {
  protected:
    Json secret(std::string const& name, std::string const& type, Json data) const {
        return {{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata", {{"name", name}, {"namespace", namespace_}}},
                {"type", type},
                {"data", std::move(data)}};
    }
    Request merge(std::string const& name, Json patch) const {
        return k8s::merge_patch(kWidgets, key(name), std::move(patch), "me");
    }
    Request finalizers(std::string const& name, Json list) const {
        return merge(name, {{"metadata", {{"finalizers", std::move(list)}}}});
    }
    std::vector<std::string> names(Json const& list) const {
        std::vector<std::string> found;
        for (auto const& item : list["items"]) found.push_back(k8s::name_of(item));
        return found;
    }
    void three_widgets() {
        for (auto const* name : {"a", "b", "c"})
            must(k8s::create(kWidgets, widget(name, {}, {{"labels", {{"name", name}}}}), "me"));
    }
};

INSTANTIATE_TEST_SUITE_P(, ApiConformance, testing::Values(Server::Memory, Server::Real), conformance::name_of);

// --- identity, versions and generations

TEST_P(ApiConformance, ANewObjectGetsItsIdentityFromTheServer) {
    Json sent = widget("a", {{"size", 1}}, {{"uid", "mine"}, {"generation", 7}, {"creationTimestamp", "2001-01-01T00:00:00Z"}});
    Json const made = must(k8s::create(kWidgets, sent, "me"));

    EXPECT_EQ(k8s::generation_of(made), 1);
    EXPECT_NE(k8s::uid_of(made), "mine");
    EXPECT_FALSE(k8s::uid_of(made).empty());
    EXPECT_FALSE(resource_version_of(made).empty());
    EXPECT_NE(text_of(member(made, "metadata", "creationTimestamp")), "2001-01-01T00:00:00Z");
    EXPECT_EQ(get("a"), made);
}

TEST_P(ApiConformance, CreatingWhatIsThereIsRefused) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    Error const error = must_fail(k8s::create(kWidgets, widget("a"), "me"));
    EXPECT_EQ(error.kind, Error::Kind::AlreadyExists);
    EXPECT_EQ(error.http_status, 409);
}

TEST_P(ApiConformance, CreatingWithAResourceVersionIsRefused) {
    EXPECT_FALSE(ask(k8s::create(kWidgets, widget("a", {}, {{"resourceVersion", "5"}}), "me")).has_value());
}

TEST_P(ApiConformance, AnInvalidNameIsRefused) {
    Error const error = must_fail(k8s::create(kWidgets, widget("A_b"), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(error, "FieldValueInvalid"));
}

TEST_P(ApiConformance, AnInvalidLabelIsRefused) {
    EXPECT_EQ(must_fail(k8s::create(kWidgets, widget("a", {}, {{"labels", {{"x", "not a label"}}}}), "me")).http_status, 422);
    EXPECT_EQ(must_fail(k8s::create(kWidgets, widget("a", {}, {{"labels", {{"x", std::string(64, 'x')}}}}), "me")).http_status,
              422);
    must(k8s::create(kWidgets, widget("a", {}, {{"labels", {{"example.com/x", std::string(63, 'x')}}}}), "me"));
}

TEST_P(ApiConformance, TheGenerationCountsChangesOfTheSpecAlone) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me"));
    EXPECT_EQ(k8s::generation_of(must(merge("a", {{"metadata", {{"labels", {{"x", "y"}}}}}}))), 1);
    EXPECT_EQ(k8s::generation_of(must(merge("a", {{"spec", {{"size", 2}}}}))), 2);
    EXPECT_EQ(k8s::generation_of(must(k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Ready"}}), "me"))), 2);
}

TEST_P(ApiConformance, EveryChangeHasANewResourceVersion) {
    std::string const first = resource_version_of(must(k8s::create(kWidgets, widget("a"), "me")));
    std::string const second = resource_version_of(must(merge("a", {{"metadata", {{"labels", {{"x", "y"}}}}}})));
    EXPECT_LT(std::stoull(first), std::stoull(second));
}

TEST_P(ApiConformance, AWriteThatChangesNothingKeepsTheResourceVersion) {
    must(k8s::apply(kWidgets, widget("a", {{"size", 1}, {"values", {{"x", 1}}}}), "me"));
    std::string const version = resource_version_of(get("a"));
    EXPECT_EQ(resource_version_of(must(k8s::apply(kWidgets, widget("a", {{"size", 1}, {"values", {{"x", 1}}}}), "me"))), version);
    EXPECT_EQ(resource_version_of(must(merge("a", {{"spec", {{"size", 1}}}}))), version);
    EXPECT_EQ(resource_version_of(must(merge("a", {{"spec", {{"interval", nullptr}}}}))), version);
    Json const same = Json::array({{{"op", "replace"}, {"path", "/spec/size"}, {"value", 1}}});
    EXPECT_EQ(resource_version_of(must(k8s::json_patch(kWidgets, key("a"), same, "me"))), version);
}

TEST_P(ApiConformance, ATypeWithoutStatusSubresourceKeepsItsStatus) {
    k8s::ObjectKey const place{"", namespace_};  // gadgets are cluster-scoped: the namespace's name is unique
    Json const gadget = {{"apiVersion", k8s::api_version(kGadgets)},
                         {"kind", "Gadget"},
                         {"metadata", {{"name", namespace_}}},
                         {"status", {{"phase", "Ready"}}}};
    EXPECT_EQ(member(must(k8s::create(kGadgets, gadget, "me")), "status", "phase"), "Ready");
    Json const changed = must(k8s::merge_patch(kGadgets, place, {{"status", {{"phase", "Failed"}}}}, "me"));
    EXPECT_EQ(member(changed, "status", "phase"), "Failed");
    EXPECT_EQ(k8s::generation_of(changed), 2);
    EXPECT_EQ(must_fail(k8s::apply_status(kGadgets, gadget, "me")).kind, Error::Kind::NotFound);
    must(k8s::remove(kGadgets, place, {}));
}

// --- status

TEST_P(ApiConformance, StatusSentToTheMainPathIsIgnored) {
    Json sent = widget("a");
    sent["status"] = {{"phase", "Ready"}};
    EXPECT_FALSE(must(k8s::create(kWidgets, sent, "me")).contains("status"));
    EXPECT_FALSE(must(k8s::apply(kWidgets, sent, "me")).contains("status"));
    EXPECT_FALSE(must(merge("a", {{"status", {{"phase", "Ready"}}}})).contains("status"));
}

TEST_P(ApiConformance, OnlyTheStatusIsTakenFromTheStatusPath) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me"));
    Json sent = widget_status("a", {{"phase", "Ready"}}, {{"labels", {{"x", "y"}}}, {"finalizers", {"example.com/x"}}});
    sent["spec"] = {{"size", 2}};
    Json const written = must(k8s::apply_status(kWidgets, sent, "me"));
    EXPECT_EQ(member(written, "status", "phase"), "Ready");
    EXPECT_EQ(member(written, "spec", "size"), 1);
    EXPECT_FALSE(written["metadata"].contains("labels"));
    EXPECT_FALSE(written["metadata"].contains("finalizers"));
}

TEST_P(ApiConformance, AStatusOfAnAbsentObjectIsNotFound) {
    Error const error = must_fail(k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Ready"}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::NotFound);
    EXPECT_FALSE(error.type_not_served);
}

TEST_P(ApiConformance, AnInvalidStatusIsRefused) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    Json const condition = {{"type", "Ready"}, {"status", "True"}, {"reason", ""}};
    Error const empty = must_fail(
        k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Ready"}, {"conditions", Json::array({condition})}}), "me"));
    EXPECT_EQ(empty.kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(empty, "FieldValueInvalid"));
    Json const long_message = {{"type", "Ready"}, {"status", "True"}, {"message", std::string(21, 'x')}};
    EXPECT_TRUE(k8s::has_cause(
        must_fail(k8s::apply_status(kWidgets,
                                    widget_status("a", {{"phase", "Ready"}, {"conditions", Json::array({long_message})}}), "me")),
        "FieldValueTooLong"));
    EXPECT_TRUE(k8s::has_cause(must_fail(k8s::apply_status(kWidgets, widget_status("a", {{"observedGeneration", 1}}), "me")),
                               "FieldValueRequired"));
}

// --- preconditions

TEST_P(ApiConformance, AnApplyWithAnOldResourceVersionIsAConflict) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    Error const error = must_fail(k8s::apply(kWidgets, widget("a", {{"size", 1}}, {{"resourceVersion", "1"}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Conflict);
    EXPECT_EQ(error.http_status, 409);
}

TEST_P(ApiConformance, AnApplyThatChangesNothingMustHaveTheResourceVersionToo) {
    must(k8s::apply(kWidgets, widget("a", {{"size", 1}}), "me"));
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"size", 1}}, {{"resourceVersion", "1"}}), "me")).kind,
              Error::Kind::Conflict);
}

TEST_P(ApiConformance, AnApplyWithTheResourceVersionAndUidThatWereSeenIsCarriedOut) {
    Json const made = must(k8s::create(kWidgets, widget("a"), "me"));
    Json const identity = {{"resourceVersion", resource_version_of(made)}, {"uid", k8s::uid_of(made)}};
    EXPECT_EQ(member(must(k8s::apply(kWidgets, widget("a", {{"size", 1}}, identity), "me")), "spec", "size"), 1);
}

TEST_P(ApiConformance, AWriteWithAnotherUidIsAConflictThoughTheServerCallsItInvalid) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    for (auto const& request :
         {k8s::apply(kWidgets, widget("a", {{"size", 1}}, {{"uid", "11111111-1111-1111-1111-111111111111"}}), "me"),
          merge("a", {{"metadata", {{"uid", "11111111-1111-1111-1111-111111111111"}}}, {"spec", {{"size", 1}}}})}) {
        Error const error = must_fail(request);
        EXPECT_EQ(error.kind, Error::Kind::Conflict) << error.message;
        EXPECT_EQ(error.http_status, 422);
    }
}

TEST_P(ApiConformance, OfAnotherUidAndAnOldResourceVersionTheVersionIsLookedAtFirst) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    Json const identity = {{"resourceVersion", "1"}, {"uid", "11111111-1111-1111-1111-111111111111"}};
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"size", 1}}, identity), "me")).kind, Error::Kind::Conflict);
}

TEST_P(ApiConformance, AnApplyWithAUidToAnAbsentObjectIsAConflict) {
    Error const error = must_fail(k8s::apply(kWidgets, widget("a", {}, {{"uid", "11111111-1111-1111-1111-111111111111"}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Conflict);
    EXPECT_EQ(must_fail(k8s::get(kWidgets, key("a"))).kind, Error::Kind::NotFound);
}

TEST_P(ApiConformance, AnApplyWithAResourceVersionToAnAbsentObjectMakesIt) {
    EXPECT_EQ(k8s::generation_of(must(k8s::apply(kWidgets, widget("a", {}, {{"resourceVersion", "5"}}), "me"))), 1);
}

TEST_P(ApiConformance, AStatusApplyLooksAtTheResourceVersionButNotAtTheUid) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    Json const old = {{"resourceVersion", "1"}};
    EXPECT_EQ(must_fail(k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Ready"}}, old), "me")).kind,
              Error::Kind::Conflict);
    Json const other = {{"uid", "11111111-1111-1111-1111-111111111111"}};
    must(k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Ready"}}, other), "me"));
}

TEST_P(ApiConformance, AMergePatchWithAnOldResourceVersionIsAConflict) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    EXPECT_EQ(must_fail(merge("a", {{"metadata", {{"resourceVersion", "1"}}}, {"spec", {{"size", 1}}}})).kind,
              Error::Kind::Conflict);
}

TEST_P(ApiConformance, APatchOfAnAbsentObjectIsNotFound) {
    EXPECT_EQ(must_fail(merge("a", {{"spec", {{"size", 1}}}})).kind, Error::Kind::NotFound);
}

TEST_P(ApiConformance, AJsonPatchWhoseTestFailsIsAConflict) {
    Json const made = must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me"));
    auto const patch = [&](std::string const& version) {
        return k8s::json_patch(kWidgets, key("a"),
                               Json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}},
                                            {{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", {"example.com/x"}}}}),
                               "me");
    };
    Error const error = must_fail(patch("1"));
    EXPECT_EQ(error.kind, Error::Kind::Conflict);
    EXPECT_EQ(error.http_status, 422);
    EXPECT_TRUE(k8s::has_finalizer(must(patch(resource_version_of(made))), "example.com/x"));
}

TEST_P(ApiConformance, AJsonPatchIsCarriedOutAsAWholeOrNotAtAll) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}, {"list", {"x", "z"}}}), "me"));
    Json patch = Json::array({{{"op", "add"}, {"path", "/spec/list/1"}, {"value", "y"}},
                              {{"op", "copy"}, {"from", "/spec/list/0"}, {"path", "/spec/interval"}},
                              {{"op", "move"}, {"from", "/spec/interval"}, {"path", "/spec/list/-"}},
                              {{"op", "replace"}, {"path", "/spec/size"}, {"value", 2}},
                              {{"op", "remove"}, {"path", "/spec/nope"}}});
    EXPECT_EQ(must_fail(k8s::json_patch(kWidgets, key("a"), patch, "me")).http_status, 422);
    EXPECT_EQ(member(get("a"), "spec", "size"), 1);
    patch.erase(4);
    Json const expected = {{"list", {"x", "y", "z", "x"}}, {"provider", "generic"}, {"size", 2}};
    EXPECT_EQ(must(k8s::json_patch(kWidgets, key("a"), patch, "me"))["spec"], expected);
}

// --- deletion

TEST_P(ApiConformance, ADeletedObjectIsGone) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    EXPECT_EQ(member(must(k8s::remove(kWidgets, key("a"), {})), "kind"), "Status");
    EXPECT_EQ(must_fail(k8s::get(kWidgets, key("a"))).kind, Error::Kind::NotFound);
    EXPECT_EQ(must_fail(k8s::remove(kWidgets, key("a"), {})).kind, Error::Kind::NotFound);
}

TEST_P(ApiConformance, ADeleteWithAnotherUidOrResourceVersionIsAConflict) {
    Json const made = must(k8s::create(kWidgets, widget("a"), "me"));
    EXPECT_EQ(must_fail(k8s::remove(kWidgets, key("a"), {"1", ""})).kind, Error::Kind::Conflict);
    EXPECT_EQ(must_fail(k8s::remove(kWidgets, key("a"), {"", "1"})).kind, Error::Kind::Conflict);
    must(k8s::remove(kWidgets, key("a"), {k8s::uid_of(made), resource_version_of(made)}));
}

TEST_P(ApiConformance, AnObjectWithFinalizersStaysUntilTheLastIsRemoved) {
    must(k8s::create(kWidgets, widget("a", {}, {{"finalizers", {"example.com/x", "example.com/y"}}}), "me"));
    std::string const version = resource_version_of(get("a"));
    Json const marked = must(k8s::remove(kWidgets, key("a"), {}));
    EXPECT_TRUE(k8s::is_being_deleted(marked));
    EXPECT_EQ(k8s::generation_of(marked), 2);
    EXPECT_NE(resource_version_of(marked), version);
    EXPECT_EQ(must(k8s::remove(kWidgets, key("a"), {})), marked) << "deleting it again changes nothing";

    EXPECT_TRUE(k8s::is_being_deleted(must(finalizers("a", {"example.com/y"}))));
    must(finalizers("a", nullptr));
    EXPECT_EQ(must_fail(k8s::get(kWidgets, key("a"))).kind, Error::Kind::NotFound);
}

TEST_P(ApiConformance, NoFinalizerCanBeAddedToAnObjectThatIsBeingDeleted) {
    must(k8s::create(kWidgets, widget("a", {}, {{"finalizers", {"example.com/x"}}}), "me"));
    must(k8s::remove(kWidgets, key("a"), {}));
    Error const error = must_fail(finalizers("a", {"example.com/x", "example.com/y"}));
    EXPECT_EQ(error.kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(error, "FieldValueForbidden"));
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {}, {{"finalizers", {"example.com/y"}}}), "me")).kind,
              Error::Kind::Invalid);
}

TEST_P(ApiConformance, AnObjectThatIsBeingDeletedCanStillBeChanged) {
    must(k8s::create(kWidgets, widget("a", {}, {{"finalizers", {"example.com/x"}}}), "me"));
    must(k8s::remove(kWidgets, key("a"), {}));
    EXPECT_EQ(member(must(k8s::apply_status(kWidgets, widget_status("a", {{"phase", "Terminating"}}), "me")), "status", "phase"),
              "Terminating");
    EXPECT_EQ(k8s::generation_of(must(merge("a", {{"spec", {{"size", 1}}}}))), 3);
}

TEST_P(ApiConformance, AFinalizerIsAppliedAndGivenUpByApplying) {
    must(k8s::create(kWidgets, widget("a", {}, {{"finalizers", {"other/x"}}}), "other"));
    Json const both = must(k8s::apply(kWidgets, widget("a", {}, {{"finalizers", {"example.com/mine"}}}), "me"));
    EXPECT_EQ(k8s::finalizers_of(both), (std::vector<std::string>{"other/x", "example.com/mine"}));
    EXPECT_EQ(k8s::finalizers_of(must(k8s::apply(kWidgets, widget("a"), "me"))), std::vector<std::string>{"other/x"});
}

// --- lists

TEST_P(ApiConformance, AListIsSortedByName) {
    for (auto const* name : {"c", "a", "b"}) must(k8s::create(kWidgets, widget(name), "me"));
    Json const list = must(k8s::list(kWidgets, namespace_));
    EXPECT_EQ(names(list), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(list["kind"], "WidgetList");
    EXPECT_FALSE(text_of(member(list, "metadata", "resourceVersion")).empty());
    EXPECT_EQ(text_of(member(list, "metadata", "continue")), "");
}

TEST_P(ApiConformance, ItemsSayWhatTheyAreForCustomTypesAlone) {
    must(k8s::create(kWidgets, widget("a"), "me"));
    must(k8s::create(k8s::kSecrets, secret("s", "Opaque", {{"a", "YQ=="}}), "me"));
    EXPECT_EQ(must(k8s::list(kWidgets, namespace_))["items"][0]["kind"], "Widget");
    Json const secrets = must(k8s::list(k8s::kSecrets, namespace_));
    EXPECT_EQ(secrets["kind"], "SecretList");
    EXPECT_FALSE(secrets["items"][0].contains("kind"));
    EXPECT_FALSE(secrets["items"][0].contains("apiVersion"));
}

TEST_P(ApiConformance, AListIsReadPageByPage) {
    three_widgets();
    Request page = k8s::list(kWidgets, namespace_);
    page.limit = 2;
    Json const first = must(page);
    EXPECT_EQ(names(first), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(member(first, "metadata", "remainingItemCount"), 1);
    page.continue_token = text_of(member(first, "metadata", "continue"));
    Json const second = must(page);
    EXPECT_EQ(names(second), std::vector<std::string>{"c"});
    EXPECT_EQ(text_of(member(second, "metadata", "continue")), "");
    EXPECT_FALSE(second["metadata"].contains("remainingItemCount"));
    EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}

TEST_P(ApiConformance, APageOfASelectionDoesNotSayHowManyRemain) {
    three_widgets();
    Request page = k8s::list(kWidgets, namespace_, "name in (a,b,c)");
    page.limit = 2;
    Json const first = must(page);
    EXPECT_FALSE(text_of(member(first, "metadata", "continue")).empty());
    EXPECT_FALSE(first["metadata"].contains("remainingItemCount"));
}

TEST_P(ApiConformance, AContinueTokenOfSomebodyElseIsRefused) {
    Request page = k8s::list(kWidgets, namespace_);
    page.limit = 2;
    page.continue_token = "garbage";
    EXPECT_EQ(must_fail(page).kind, Error::Kind::Invalid);
}

TEST_P(ApiConformance, MetadataAloneIsListedAndRead) {
    must(k8s::create(kWidgets, widget("a", {{"size", 1}}, {{"labels", {{"x", "y"}}}}), "me"));
    Request all = k8s::list(kWidgets, namespace_);
    all.contents = Request::Contents::Metadata;
    Json const list = must(all);
    EXPECT_EQ(list["kind"], "PartialObjectMetadataList");
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(list["items"][0]["kind"], "PartialObjectMetadata");
    EXPECT_FALSE(list["items"][0].contains("spec"));
    EXPECT_EQ(k8s::label_of(list["items"][0], "x"), "y");

    Request one = k8s::get(kWidgets, key("a"));
    one.contents = Request::Contents::Metadata;
    Json const object = must(one);
    EXPECT_EQ(object["kind"], "PartialObjectMetadata");
    EXPECT_EQ(k8s::name_of(object), "a");
    EXPECT_FALSE(object.contains("spec"));
}

TEST_P(ApiConformance, AListSelectsByLabels) {
    struct Row {
        std::string selector;
        std::vector<std::string> names;
    };
    three_widgets();
    must(k8s::create(kWidgets, widget("bare"), "me"));
    std::vector<Row> const rows{{"name=a", {"a"}},
                                {"name==a", {"a"}},
                                {"name!=a", {"b", "bare", "c"}},
                                {"name in (a, c)", {"a", "c"}},
                                {"name notin (a,c)", {"b", "bare"}},
                                {"name", {"a", "b", "c"}},
                                {"!name", {"bare"}},
                                {"name,name!=b", {"a", "c"}},
                                {"name=a,other=b", {}}};
    for (auto const& row : rows) EXPECT_EQ(names(must(k8s::list(kWidgets, namespace_, row.selector))), row.names) << row.selector;
    EXPECT_EQ(must_fail(k8s::list(kWidgets, namespace_, "name in a")).kind, Error::Kind::Invalid);
}

TEST_P(ApiConformance, AListOfAllNamespacesHasThisOnesObjects) {
    must(k8s::create(kWidgets, widget("a", {}, {{"labels", {{"test", namespace_}}}}), "me"));
    EXPECT_EQ(names(must(k8s::list(kWidgets, "", "test=" + namespace_))), std::vector<std::string>{"a"});
    EXPECT_TRUE(must(k8s::list(kWidgets, "absent-" + namespace_))["items"].empty());
}

// --- what is not there

TEST_P(ApiConformance, AnAbsentObjectIsToldFromATypeThatIsNotServed) {
    Error const absent = must_fail(k8s::get(kWidgets, key("a")));
    EXPECT_EQ(absent.kind, Error::Kind::NotFound);
    EXPECT_FALSE(absent.type_not_served);
    for (auto const& resource : {k8s::Resource{"conformance.example.com", "v1", "nopes", "Nope"},
                                 k8s::Resource{"conformance.example.com", "v9", "widgets", "Widget"},
                                 k8s::Resource{"nobody.example.com", "v1", "widgets", "Widget"}}) {
        Error const unknown = must_fail(k8s::get(resource, key("a")));
        EXPECT_EQ(unknown.kind, Error::Kind::NotFound);
        EXPECT_TRUE(unknown.type_not_served) << unknown.message;
        EXPECT_TRUE(must_fail(k8s::list(resource, "")).type_not_served);
    }
}

TEST_P(ApiConformance, DiscoveryListsWhatIsServed) {
    Json const found = must(k8s::discover(kWidgets));
    EXPECT_EQ(found["groupVersion"], "conformance.example.com/v1");
    auto const described = [&](std::string const& name) {
        for (auto const& resource : found["resources"]) {
            if (resource["name"] == name)
                return resource["kind"].get<std::string>() + (resource["namespaced"] == true ? " namespaced" : "");
        }
        return std::string{"absent"};
    };
    EXPECT_EQ(described("widgets"), "Widget namespaced");
    EXPECT_EQ(described("widgets/status"), "Widget namespaced");
    EXPECT_EQ(described("gadgets"), "Gadget");
    EXPECT_EQ(described("gadgets/status"), "absent");
    Error const unknown = must_fail(k8s::discover({"nobody.example.com", "v1", "", ""}));
    EXPECT_EQ(unknown.kind, Error::Kind::NotFound);
    EXPECT_TRUE(unknown.type_not_served);
}

// --- namespaces

TEST_P(ApiConformance, ANamespaceIsLabelledWithItsName) {
    Json const found = must(k8s::get(k8s::kNamespaces, {"", namespace_}));
    EXPECT_EQ(k8s::label_of(found, "kubernetes.io/metadata.name"), namespace_);
    EXPECT_EQ(member(found, "status", "phase"), "Active");
    EXPECT_FALSE(found["metadata"].contains("generation"));
}

TEST_P(ApiConformance, ASecondNamespaceOfThatNameIsRefused) {
    Json const namespace_object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}};
    EXPECT_EQ(must_fail(k8s::create(k8s::kNamespaces, namespace_object, "me")).kind, Error::Kind::AlreadyExists);
}

TEST_P(ApiConformance, NothingIsMadeInANamespaceThatIsNotThere) {
    Json lost = widget("a");
    lost["metadata"]["namespace"] = "absent-" + namespace_;
    for (auto const& request : {k8s::create(kWidgets, lost, "me"), k8s::apply(kWidgets, lost, "me")}) {
        Error const error = must_fail(request);
        EXPECT_EQ(error.kind, Error::Kind::NotFound);
        EXPECT_FALSE(error.type_not_served);
        EXPECT_NE(error.message.find("namespaces \"absent-" + namespace_ + "\" not found"), std::string::npos) << error.message;
    }
}

TEST_P(ApiConformance, NothingIsMadeInANamespaceThatIsBeingDeleted) {
    must(k8s::create(kWidgets, widget("old", {}, {{"finalizers", {"example.com/x"}}}), "me"));
    Json const marked = must(k8s::remove(k8s::kNamespaces, {"", namespace_}, {}));
    EXPECT_TRUE(k8s::is_being_deleted(marked));
    EXPECT_EQ(member(marked, "status", "phase"), "Terminating");
    for (auto const& request : {k8s::create(kWidgets, widget("new"), "me"), k8s::apply(kWidgets, widget("new"), "me"),
                                k8s::apply(k8s::kSecrets, secret("new", "Opaque", {{"a", "YQ=="}}), "me")}) {
        Error const error = must_fail(request);
        EXPECT_EQ(error.kind, Error::Kind::Forbidden);
        EXPECT_TRUE(k8s::has_cause(error, "NamespaceTerminating"));
    }
    EXPECT_EQ(member(must(k8s::apply(kWidgets, widget("old", {{"size", 1}}), "me")), "spec", "size"), 1)
        << "what is there can be changed";
    Json const again = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}};
    EXPECT_EQ(must_fail(k8s::create(k8s::kNamespaces, again, "me")).kind, Error::Kind::AlreadyExists);
}

// --- secrets

TEST_P(ApiConformance, TheTypeOfASecretCannotBeChanged) {
    must(k8s::apply(k8s::kSecrets, secret("s", "Opaque", {{".dockerconfigjson", "e30="}}), "me"));
    Error const error = must_fail(
        k8s::apply(k8s::kSecrets, secret("s", "kubernetes.io/dockerconfigjson", {{".dockerconfigjson", "e30="}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(error, "FieldValueInvalid"));
    EXPECT_FALSE(member(must(k8s::get(k8s::kSecrets, key("s"))), "metadata").contains("generation"));
}

TEST_P(ApiConformance, APullSecretNeedsItsKey) {
    Error const error =
        must_fail(k8s::create(k8s::kSecrets, secret("s", "kubernetes.io/dockerconfigjson", {{"other", "e30="}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(error, "FieldValueRequired"));
}

// --- schema

TEST_P(ApiConformance, DefaultsAreFilledIn) {
    EXPECT_EQ(member(must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me")), "spec", "provider"), "generic");
    EXPECT_EQ(member(must(k8s::apply(kWidgets, widget("b", {{"size", 1}}), "me")), "spec", "provider"), "generic");
    EXPECT_FALSE(must(k8s::create(kWidgets, widget("c"), "me")).contains("spec"));
    EXPECT_EQ(member(must(merge("a", {{"spec", {{"provider", nullptr}}}})), "spec", "provider"), "generic");
}

TEST_P(ApiConformance, AFieldThatNobodyDeclaredIsRefused) {
    Error const on_create = must_fail(k8s::create(kWidgets, widget("a", {{"size", 1}, {"what", 1}}), "me"));
    EXPECT_EQ(on_create.http_status, 400);
    EXPECT_NE(on_create.message.find("unknown field \"spec.what\""), std::string::npos) << on_create.message;
    must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me"));
    EXPECT_EQ(must_fail(merge("a", {{"spec", {{"nested", {{"what", 1}}}}}})).http_status, 422);
    Error const on_apply = must_fail(k8s::apply(kWidgets, widget("a", {{"what", 1}}), "me"));
    EXPECT_EQ(on_apply.http_status, 500);
    EXPECT_NE(on_apply.message.find(".spec.what: field not declared in schema"), std::string::npos) << on_apply.message;
}

TEST_P(ApiConformance, AValueThatTheSchemaForbidsIsRefused) {
    EXPECT_TRUE(k8s::has_cause(must_fail(k8s::create(kWidgets, widget("a", {{"size", "x"}}), "me")), "FieldValueTypeInvalid"));
    EXPECT_TRUE(
        k8s::has_cause(must_fail(k8s::create(kWidgets, widget("a", {{"color", "green"}}), "me")), "FieldValueNotSupported"));
    EXPECT_TRUE(
        k8s::has_cause(must_fail(k8s::create(kWidgets, widget("a", {{"set", {"x", "x"}}}), "me")), "FieldValueDuplicate"));
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a", {{"size", "x"}}), "me")).http_status, 500);
    struct Row {
        Json spec;
        std::string cause;
        std::string words;
    };
    std::vector<Row> const rows{{{{"period", "1d"}}, "FieldValueInvalid", "spec.period in body should match '^[0-9]+[smh]$'"},
                                {{{"count", 0}}, "FieldValueInvalid", "spec.count in body should be greater than or equal to 1"},
                                {{{"count", 4}}, "FieldValueInvalid", "spec.count in body should be less than or equal to 3"},
                                {{{"few", Json::array()}}, "FieldValueInvalid", "spec.few in body should have at least 1 items"},
                                {{{"few", {"x", "y", "z"}}}, "FieldValueTooMany", "must have at most 2 items"}};
    for (auto const& row : rows) {
        Error const error = must_fail(k8s::apply(kWidgets, widget("a", row.spec), "me"));
        EXPECT_EQ(error.http_status, 422) << error.message;
        EXPECT_TRUE(k8s::has_cause(error, row.cause)) << error.message;
        EXPECT_NE(error.message.find(row.words), std::string::npos) << error.message;
    }
    must(k8s::create(kWidgets, widget("a", {{"color", "red"}}), "me"));
}

TEST_P(ApiConformance, AnImmutableFieldCannotBeChanged) {
    must(k8s::create(kWidgets, widget("a", {{"fixed", "x"}}), "me"));
    Error const error = must_fail(k8s::apply(kWidgets, widget("a", {{"fixed", "y"}}), "me"));
    EXPECT_EQ(error.kind, Error::Kind::Invalid);
    EXPECT_NE(error.message.find("fixed is immutable"), std::string::npos) << error.message;
    must(k8s::apply(kWidgets, widget("a", {{"fixed", "x"}}), "me"));
}

TEST_P(ApiConformance, ABodyThatBelongsElsewhereIsRefused) {
    Request request = k8s::apply(kWidgets, widget("a"), "me");
    request.key.name = "b";
    EXPECT_EQ(must_fail(request).http_status, 400);
    request = k8s::apply(kWidgets, widget("a"), "me");
    request.body["metadata"]["namespace"] = "default";
    EXPECT_EQ(must_fail(request).http_status, 400);
    request = k8s::apply(kWidgets, widget("a"), "me");
    request.body.erase("kind");
    EXPECT_EQ(must_fail(request).http_status, 400);
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("a"), "")).kind, Error::Kind::Invalid);
}

// --- numbers and nulls in what is kept as it is

TEST_P(ApiConformance, NumbersAreStoredAs64BitIntegersOrAsDoubles) {
    auto const values =
        base::parse_json(R"({"a": 9007199254740993, "b": 18446744073709551615, "c": 1e3, "d": 1.0, "e": -0, "f": 0.1,
        "g": 1E+2, "h": 123456789012345678901234567890, "i": 0.00000012, "j": 4.9e-324, "k": -1.50})");
    ASSERT_TRUE(values.has_value());
    auto const stored =
        base::parse_json(R"({"a": 9007199254740993, "b": 18446744073709552000, "c": 1000, "d": 1, "e": 0, "f": 0.1,
        "g": 100, "h": 1.2345678901234568e+29, "i": 1.2e-7, "j": 5e-324, "k": -1.5})");
    Json const made = must(k8s::create(kWidgets, widget("a", {{"values", *values}}), "me"));
    EXPECT_EQ(base::dump_json(made["spec"]["values"]), base::dump_json(*stored));
    Json const applied_values = must(k8s::apply(kWidgets, widget("b", {{"values", *values}}), "me"))["spec"]["values"];
    EXPECT_TRUE(base::same_json(applied_values, *stored)) << base::dump_json(applied_values);
}

TEST_P(ApiConformance, ANumberThatIsNoDoubleIsRefusedOrMadeText) {
    auto const values = base::parse_json(R"({"a": 1e400})");
    EXPECT_EQ(must_fail(k8s::create(kWidgets, widget("a", {{"values", *values}}), "me")).http_status, 400);
    EXPECT_EQ(must(k8s::apply(kWidgets, widget("a", {{"values", *values}}), "me"))["spec"]["values"]["a"], "1e400");
}

TEST_P(ApiConformance, NullsAndEmptyThingsAreKeptWhereAnythingIs) {
    Json const values = {
        {"a", nullptr}, {"b", Json::object()}, {"c", Json::array()}, {"d", {nullptr, 1}}, {"e", {{"f", nullptr}}}};
    EXPECT_EQ(must(k8s::create(kWidgets, widget("a", {{"values", values}}), "me"))["spec"]["values"], values);
    EXPECT_EQ(must(k8s::apply(kWidgets, widget("b", {{"values", values}}), "me"))["spec"]["values"], values);
}

TEST_P(ApiConformance, ANullThatIsNotAllowedIsDroppedOnCreateAndRefusedOnApply) {
    Json const made =
        must(k8s::create(kWidgets, widget("a", {{"interval", nullptr}, {"maybe", nullptr}, {"provider", nullptr}}), "me"));
    Json const expected = {{"maybe", nullptr}, {"provider", "generic"}};
    EXPECT_EQ(made["spec"], expected);
    EXPECT_EQ(must_fail(k8s::apply(kWidgets, widget("b", {{"interval", nullptr}}), "me")).http_status, 422);
    EXPECT_EQ(must(k8s::apply(kWidgets, widget("b", {{"maybe", nullptr}}), "me"))["spec"], expected);
}

TEST_P(ApiConformance, EmptyMetadataIsLeftOut) {
    Json const made =
        must(k8s::create(kWidgets, widget("a", {}, {{"labels", Json::object()}, {"finalizers", Json::array()}}), "me"));
    EXPECT_FALSE(made["metadata"].contains("labels"));
    EXPECT_FALSE(made["metadata"].contains("finalizers"));
}

// --- dry runs

TEST_P(ApiConformance, ADryRunAnswersAndChangesNothing) {
    Request making = k8s::create(kWidgets, widget("new"), "me");
    making.dry_run = true;
    EXPECT_EQ(k8s::generation_of(must(making)), 1);
    EXPECT_EQ(must_fail(k8s::get(kWidgets, key("new"))).kind, Error::Kind::NotFound);

    Json const made = must(k8s::create(kWidgets, widget("a", {{"size", 1}}), "me"));
    Request changing = k8s::apply(kWidgets, widget("a", {{"size", 2}}), "me");
    changing.dry_run = true;
    Json const changed = must(changing);
    EXPECT_EQ(member(changed, "spec", "size"), 2);
    EXPECT_EQ(k8s::generation_of(changed), 2);
    EXPECT_EQ(resource_version_of(changed), resource_version_of(made));
    Request deleting = k8s::remove(kWidgets, key("a"), {});
    deleting.dry_run = true;
    must(deleting);
    EXPECT_EQ(get("a"), made);
    changing.body["spec"]["color"] = "green";
    EXPECT_EQ(must_fail(changing).kind, Error::Kind::Invalid);
}

}  // namespace
