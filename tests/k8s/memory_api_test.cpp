#include "k8s/memory_api.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using base::Json;
using base::member;
using k8s::Error;
using k8s::MemoryApi;
using k8s::Request;
using Verb = k8s::Request::Verb;

constexpr k8s::Resource kWidgets{"example.com", "v1", "widgets", "Widget"};
base::Time const kNoon = *base::parse_rfc3339("2026-11-30T12:00:00Z");
constexpr auto kNever = base::Deadline::max();

MemoryApi server(k8s::MemoryOptions options = {}) {
    MemoryApi api{[] { return kNoon; }, options};
    api.serve(kWidgets);
    return api;
}

Json widget(std::string const& name, Json spec = Json::object()) {
    return {{"apiVersion", "example.com/v1"},
            {"kind", "Widget"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec", std::move(spec)}};
}

k8s::ObjectKey key(std::string const& name) { return {"default", name}; }

k8s::Result<Json> ask(k8s::Api& api, Request request) { return k8s::send_one(api, std::move(request), kNever); }

TEST(MemoryApi, IsTheSameEachTime) {
    auto const run = [] {
        MemoryApi api = server();
        ask(api, k8s::apply(kWidgets, widget("a", {{"size", 1}}), "me")).value();
        ask(api, k8s::apply(kWidgets, widget("a", {{"size", 2}}), "me")).value();
        return base::dump_json(*api.find(kWidgets, key("a")));
    };
    EXPECT_EQ(run(), run());
}

TEST(MemoryApi, CountsRoundsReadsAndWrites) {
    MemoryApi api = server();
    std::vector<Request> batch{k8s::get(kWidgets, key("a")), k8s::list(kWidgets, ""), k8s::apply(kWidgets, widget("a"), "me")};
    api.send(batch, kNever);
    batch[2].dry_run = true;
    api.send(batch, kNever);

    EXPECT_EQ(api.counts().rounds, 2U);
    EXPECT_EQ(api.counts().reads, 4U);
    EXPECT_EQ(api.counts().writes, 1U);
    ASSERT_EQ(api.requests().size(), 6U);
    EXPECT_EQ(k8s::describe(api.requests()[2].request), "apply widgets.example.com default/a");
    EXPECT_EQ(api.requests()[3].round, 2U);
    api.forget_requests();
    EXPECT_TRUE(api.requests().empty());
    EXPECT_EQ(api.counts().rounds, 0U);
}

TEST(MemoryApi, KeepsNoMoreRequestsThanItIsTold) {
    MemoryApi api = server({.kept_requests = 2});
    for (int i = 0; i < 5; ++i) static_cast<void>(ask(api, k8s::get(kWidgets, key("w" + std::to_string(i)))).has_value());
    ASSERT_EQ(api.requests().size(), 2U);
    EXPECT_EQ(api.requests()[0].request.key.name, "w3");
    EXPECT_EQ(api.counts().reads, 5U);
}

struct FaultRow {
    std::string name;
    k8s::Fault fault;
    Error::Kind kind;
    bool maybe_done = false;
    bool done = false;
};

class FaultOf : public testing::TestWithParam<FaultRow> {};

TEST_P(FaultOf, AWriteIsSeenAndDoneAsItsKindSays) {
    MemoryApi api = server();
    api.fail(2, GetParam().fault);
    ASSERT_TRUE(ask(api, k8s::get(k8s::kNamespaces, {"", "default"})).has_value());
    auto const answer = ask(api, k8s::apply(kWidgets, widget("a"), "me"));

    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, GetParam().kind) << answer.error().message;
    EXPECT_EQ(answer.error().maybe_done, GetParam().maybe_done);
    EXPECT_EQ(api.find(kWidgets, key("a")).has_value(), GetParam().done);
    EXPECT_TRUE(ask(api, k8s::apply(kWidgets, widget("a"), "me")).has_value());
}

INSTANTIATE_TEST_SUITE_P(, FaultOf,
                         testing::Values(FaultRow{"Conflict", k8s::conflict(), Error::Kind::Conflict},
                                         FaultRow{"TooManyRequests", k8s::answer_with(429, {}, "7"), Error::Kind::Throttled},
                                         FaultRow{"ServiceUnavailable", k8s::answer_with(503), Error::Kind::Unavailable},
                                         FaultRow{"Unauthorized", k8s::answer_with(401), Error::Kind::Unauthorized},
                                         FaultRow{"Html", k8s::answer_with(502, "<html>"), Error::Kind::Unavailable},
                                         FaultRow{"Refused", k8s::connection_refused(), Error::Kind::Unavailable},
                                         FaultRow{"Timeout", k8s::timeout(), Error::Kind::Unavailable, true},
                                         FaultRow{"CutBefore", k8s::cut_before(), Error::Kind::Unavailable, true},
                                         FaultRow{"CutAfter", k8s::cut_after(), Error::Kind::Unavailable, true, true},
                                         FaultRow{"Truncated", k8s::truncated(), Error::Kind::Unavailable, true, true}),
                         [](auto const& row) { return row.param.name; });

TEST(MemoryApi, FailsTheRequestsThatMatch) {
    MemoryApi api = server();
    api.fail_when(k8s::on(Verb::Get, kWidgets, "a"), k8s::answer_with(429, {}, "7"), 2);
    EXPECT_EQ(ask(api, k8s::get(kWidgets, key("b"))).error().kind, Error::Kind::NotFound);
    auto const first = ask(api, k8s::get(kWidgets, key("a")));
    EXPECT_EQ(first.error().kind, Error::Kind::Throttled);
    EXPECT_EQ(first.error().retry_after, std::chrono::seconds{7});
    EXPECT_EQ(ask(api, k8s::get(kWidgets, key("a"))).error().kind, Error::Kind::Throttled);
    EXPECT_EQ(ask(api, k8s::get(kWidgets, key("a"))).error().kind, Error::Kind::NotFound);
    api.fail_when(k8s::on(Verb::Get), k8s::timeout());
    api.heal();
    EXPECT_EQ(ask(api, k8s::get(kWidgets, key("a"))).error().kind, Error::Kind::NotFound);
}

TEST(MemoryApi, LetsAnotherWriterInJustBeforeARequest) {
    MemoryApi api = server();
    Json seen = ask(api, k8s::apply(kWidgets, widget("a"), "me")).value();
    api.forget_requests();
    api.before(k8s::on(Verb::JsonPatch, kWidgets), [](MemoryApi& other) {
        ask(other, k8s::merge_patch(kWidgets, key("a"), {{"metadata", {{"finalizers", {"other/x"}}}}}, "other")).value();
    });
    Json const patch =
        Json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", k8s::resource_version_of(seen)}},
                     {{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", {"mine/y"}}}});
    EXPECT_EQ(ask(api, k8s::json_patch(kWidgets, key("a"), patch, "me")).error().kind, Error::Kind::Conflict);
    EXPECT_EQ(k8s::finalizers_of(*api.find(kWidgets, key("a"))), std::vector<std::string>{"other/x"});
    EXPECT_EQ(api.requests().size(), 1U);
}

TEST(MemoryApi, TellsWhatHappened) {
    MemoryApi api = server();
    EXPECT_TRUE(api.take_changes().empty());
    ask(api, k8s::apply(kWidgets, widget("a"), "me")).value();
    ask(api, k8s::apply(kWidgets, widget("a"), "me")).value();
    ask(api, k8s::apply(kWidgets, widget("a", {{"size", 1}}), "me")).value();
    ask(api, k8s::remove(kWidgets, key("a"), {})).value();
    EXPECT_TRUE(api.wait_for_changes(kNever));

    auto const changes = api.take_changes();
    ASSERT_EQ(changes.size(), 3U);
    EXPECT_EQ(changes[0].kind, k8s::Change::Kind::Added);
    EXPECT_EQ(changes[1].kind, k8s::Change::Kind::Updated);
    EXPECT_EQ(changes[2].kind, k8s::Change::Kind::Deleted);
    EXPECT_EQ(changes[2].resource, kWidgets);
    EXPECT_EQ(k8s::uid_of(changes[2].object), k8s::uid_of(changes[0].object));
    EXPECT_FALSE(api.wait_for_changes(base::Deadline{}));
}

TEST(MemoryApi, SeedsAnObjectAsItIsGiven) {
    MemoryApi api = server();
    Json given = widget("a", {{"size", 1}});
    given["metadata"]["namespace"] = "fresh";
    given["metadata"]["uid"] = "my-uid";
    given["metadata"]["resourceVersion"] = "4000";
    given["metadata"]["deletionTimestamp"] = "2026-11-30T11:00:00Z";
    given["metadata"]["finalizers"] = {"other/x"};
    given["status"] = {{"phase", "Ready"}};
    Json const stored = api.put(kWidgets, given);

    EXPECT_EQ(k8s::uid_of(stored), "my-uid");
    EXPECT_EQ(k8s::resource_version_of(stored), "4000");
    EXPECT_EQ(k8s::generation_of(stored), 1);
    EXPECT_EQ(member(stored, "status", "phase"), "Ready");
    EXPECT_TRUE(k8s::is_being_deleted(stored));
    EXPECT_TRUE(api.find(k8s::kNamespaces, {"", "fresh"}).has_value());
    EXPECT_EQ(k8s::resource_version_of(api.put(kWidgets, widget("b"))), "4001");
    EXPECT_TRUE(api.erase(kWidgets, {"fresh", "a"}));
    EXPECT_FALSE(api.erase(kWidgets, {"fresh", "a"}));
    EXPECT_EQ(api.all(kWidgets).size(), 1U);
}

TEST(MemoryApi, ServesATypeAsItsDefinitionSays) {
    MemoryApi api = server();
    constexpr k8s::Resource kThings{"example.org", "v1", "things", "Thing", k8s::Resource::Scope::Cluster};
    EXPECT_TRUE(ask(api, k8s::list(kThings, "")).error().type_not_served);
    auto const definition = [](std::string const& plural) -> Json {
        return {{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "CustomResourceDefinition"},
                {"metadata", {{"name", plural + ".example.org"}}},
                {"spec",
                 {{"group", "example.org"},
                  {"scope", "Cluster"},
                  {"names", {{"plural", plural}, {"kind", "Thing"}}},
                  {"versions", {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", Json::object()}}}}}}};
    };
    ask(api, k8s::apply(k8s::kCustomResourceDefinitions, definition("things"), "me")).value();
    EXPECT_TRUE(ask(api, k8s::list(kThings, "")).has_value());

    // A second definition of the same kind is never served.
    Json const second = ask(api, k8s::apply(k8s::kCustomResourceDefinitions, definition("thinges"), "me")).value();
    EXPECT_EQ(member(second, "status", "conditions").at(0).at("type"), "NamesAccepted");
    EXPECT_EQ(member(second, "status", "conditions").at(0).at("status"), "False");
    EXPECT_TRUE(ask(api, k8s::list({"example.org", "v1", "thinges", "Thing"}, "")).error().type_not_served);

    ask(api, k8s::remove(k8s::kCustomResourceDefinitions, {"", "things.example.org"}, {})).value();
    EXPECT_TRUE(ask(api, k8s::list(kThings, "")).error().type_not_served);
}

TEST(MemoryApi, HoldsADeletionUntilItIsReleased) {
    MemoryApi api = server();
    api.put(kWidgets, widget("a"));
    api.hold_deletion_of(kWidgets);
    ask(api, k8s::remove(kWidgets, key("a"), {})).value();
    EXPECT_TRUE(k8s::is_being_deleted(ask(api, k8s::get(kWidgets, key("a"))).value()));
    ask(api, k8s::remove(kWidgets, key("a"), {})).value();
    api.release_deletion_of(kWidgets);
    EXPECT_EQ(ask(api, k8s::get(kWidgets, key("a"))).error().kind, Error::Kind::NotFound);
    EXPECT_EQ(api.take_changes().back().kind, k8s::Change::Kind::Deleted);
}

TEST(MemoryApi, EmptiesANamespaceThatIsDeleted) {
    MemoryApi api = server();
    Json kept = widget("kept");
    kept["metadata"]["namespace"] = "doomed";
    kept["metadata"]["finalizers"] = {"other/x"};
    Json gone = widget("gone");
    gone["metadata"]["namespace"] = "doomed";
    api.put(kWidgets, kept);
    api.put(kWidgets, gone);
    ask(api, k8s::remove(k8s::kNamespaces, {"", "doomed"}, {})).value();
    EXPECT_FALSE(api.find(kWidgets, {"doomed", "gone"}).has_value());
    EXPECT_TRUE(api.find(k8s::kNamespaces, {"", "doomed"}).has_value());

    ask(api, k8s::merge_patch(kWidgets, {"doomed", "kept"}, {{"metadata", {{"finalizers", nullptr}}}}, "other")).value();
    EXPECT_FALSE(api.find(k8s::kNamespaces, {"", "doomed"}).has_value());
}

TEST(MemoryApi, ExpiresTheTokensThatItGave) {
    MemoryApi api = server();
    for (auto const* name : {"a", "b", "c", "d"}) api.put(kWidgets, widget(name));
    Request page = k8s::list(kWidgets, "default");
    page.limit = 2;
    page.continue_token = ask(api, page).value()["metadata"]["continue"];
    api.expire_continue_tokens(MemoryApi::Expiry::WithToken);
    auto const expired = ask(api, page);
    ASSERT_EQ(expired.error().kind, Error::Kind::Expired);
    page.continue_token = expired.error().continue_token;
    Json const rest = ask(api, page).value();
    EXPECT_EQ(k8s::name_of(rest["items"][0]), "c");

    api.expire_continue_tokens(MemoryApi::Expiry::WithoutToken);
    EXPECT_EQ(ask(api, page).error().continue_token, "");
}

TEST(MemoryApi, LeavesManagedFieldsOutWhenTold) {
    MemoryApi api = server({.show_managed_fields = false});
    Json const stored = ask(api, k8s::apply(kWidgets, widget("a", {{"size", 1}, {"old", 1}}), "me")).value();
    EXPECT_FALSE(stored["metadata"].contains("managedFields"));
    EXPECT_FALSE(ask(api, k8s::apply(kWidgets, widget("a", {{"size", 1}}), "me")).value()["spec"].contains("old"));
}

TEST(MemoryApi, AsksTheRulesOfAType) {
    MemoryApi api = server();
    k8s::ResourceRules rules;
    rules.fill_defaults = [](Json& object) { object["spec"].emplace("size", 7); };
    rules.validate = [](Json const&, Json const& after) -> std::vector<k8s::Violation> {
        if (member(after, "spec", "size") != 13) return {};
        return {{"spec.size", "Invalid value: 13: bad luck"}};
    };
    api.serve(kWidgets, rules);
    EXPECT_EQ(ask(api, k8s::apply(kWidgets, widget("a"), "me")).value()["spec"]["size"], 7);
    auto const refused = ask(api, k8s::apply(kWidgets, widget("a", {{"size", 13}}), "me"));
    EXPECT_EQ(refused.error().kind, Error::Kind::Invalid);
    EXPECT_TRUE(k8s::has_cause(refused.error(), "FieldValueInvalid"));
}

// Seen on a real server with CRDs whose status has a default.
TEST(MemoryApi, GivesANewObjectTheStatusThatIsTheDefault) {
    MemoryApi api = server();
    k8s::ResourceRules rules;
    Json const status = {{"type", "object"},
                         {"default", {{"observedGeneration", -1}}},
                         {"properties", {{"observedGeneration", {{"type", "integer"}}}}}};
    rules.schema = {{"type", "object"}, {"properties", {{"spec", {{"type", "object"}}}, {"status", status}}}};
    api.serve(kWidgets, rules);
    EXPECT_EQ(ask(api, k8s::apply(kWidgets, widget("a"), "me")).value()["status"]["observedGeneration"], -1);
}

TEST(MemoryApi, GoesOnFromTheIdentityThatItWasTold) {
    MemoryApi api = server();
    ask(api, k8s::apply(kWidgets, widget("a", {{"size", 1}}), "me")).value();
    api.take_changes();
    api.identify(kWidgets, key("a"), {{"uid", "real"}, {"resourceVersion", "9000"}, {"generation", 7}, {"labels", {{"a", "b"}}}});
    Json const told = *api.find(kWidgets, key("a"));
    EXPECT_EQ(k8s::uid_of(told), "real");
    EXPECT_EQ(k8s::resource_version_of(told), "9000");
    EXPECT_EQ(k8s::generation_of(told), 7);
    EXPECT_FALSE(told["metadata"].contains("labels")) << "that is no identity";
    EXPECT_EQ(told["spec"]["size"], 1);
    EXPECT_TRUE(api.take_changes().empty());

    Json const written = ask(api, k8s::apply(kWidgets, widget("a", Json::object()), "me")).value();
    EXPECT_EQ(k8s::resource_version_of(written), "9001");
    EXPECT_EQ(k8s::generation_of(written), 8);
    EXPECT_FALSE(written["spec"].contains("size")) << "its manager is still known";

    api.identify(kWidgets, key("nobody"), {{"uid", "x"}});
    EXPECT_FALSE(api.find(kWidgets, key("nobody")).has_value());
}

TEST(MemoryApi, IsSharedByItsConnections) {
    std::unique_ptr<k8s::Api> connection;
    {
        MemoryApi api = server();
        connection = api.connect();
        api.put(kWidgets, widget("a"));
    }
    EXPECT_TRUE(ask(*connection, k8s::get(kWidgets, key("a"))).has_value());
}

TEST(MemoryApi, LetsSeveralThreadsWriteAtOnce) {
    MemoryApi api = server();
    std::atomic<int> created = 0;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([&api, &created] {
            for (int i = 0; i < 100; ++i) {
                if (ask(api, k8s::create(kWidgets, widget("w" + std::to_string(i)), "me"))) ++created;
            }
        });
    }
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(created, 100);
    EXPECT_EQ(api.all(kWidgets).size(), 100U);
}

}  // namespace
