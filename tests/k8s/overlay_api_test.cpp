#include "k8s/overlay_api.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using base::member;
using k8s::Error;
using k8s::MemoryApi;
using k8s::OverlayApi;
using k8s::Request;

constexpr k8s::Resource kWidgets{"example.com", "v1", "widgets", "Widget"};
constexpr auto kNever = base::Deadline::max();

base::Time noon() { return *base::parse_rfc3339("2026-11-30T12:00:00Z"); }

Json widget(std::string const& name, Json spec = Json::object(), std::string const& namespace_ = "default") {
    return {{"apiVersion", "example.com/v1"},
            {"kind", "Widget"},
            {"metadata", {{"name", name}, {"namespace", namespace_}, {"labels", {{"ours", "yes"}}}}},
            {"spec", std::move(spec)}};
}

k8s::ObjectKey key(std::string const& name) { return {"default", name}; }

/// A server, and a view of it.
struct Viewed {
    explicit Viewed(OverlayApi::Writes writes = OverlayApi::Writes::Imagined) : view(server, noon, writes) {
        server->serve(kWidgets);
    }
    k8s::Result<Json> ask(Request request) { return k8s::send_one(view, std::move(request), kNever); }
    bool is_untouched() const { return server->counts().writes == 0; }

    std::shared_ptr<MemoryApi> server = std::make_shared<MemoryApi>(noon);
    OverlayApi view;
};

class OverlayWrites : public testing::TestWithParam<OverlayApi::Writes> {};

TEST_P(OverlayWrites, AreSeenByLaterRequestsAndByNobodyElse) {
    Viewed viewed{GetParam()};
    viewed.server->put(kWidgets, widget("a", {{"size", 1}, {"kept", true}}));
    Json const seen = viewed.ask(k8s::get(kWidgets, key("a"))).value();
    Json wanted = widget("a", {{"size", 2}});
    wanted["metadata"]["uid"] = k8s::uid_of(seen);
    wanted["metadata"]["resourceVersion"] = k8s::resource_version_of(seen);
    Json const applied = viewed.ask(k8s::apply(kWidgets, wanted, "me")).value();
    EXPECT_EQ(applied["spec"], (Json{{"size", 2}, {"kept", true}}));
    EXPECT_EQ(viewed.ask(k8s::get(kWidgets, key("a"))).value()["spec"]["size"], 2);

    wanted["metadata"]["resourceVersion"] = k8s::resource_version_of(applied);
    wanted["spec"]["size"] = 3;
    EXPECT_EQ(viewed.ask(k8s::apply(kWidgets, wanted, "me")).value()["spec"]["size"], 3) << "one upon the other";
    EXPECT_EQ(viewed.server->find(kWidgets, key("a")).value()["spec"]["size"], 1);
    EXPECT_TRUE(viewed.is_untouched());
}

TEST_P(OverlayWrites, MayMakeANamespaceAndWhatIsInIt) {
    Viewed viewed{GetParam()};
    EXPECT_EQ(viewed.ask(k8s::apply(kWidgets, widget("a", {}, "new"), "me")).error().kind, Error::Kind::NotFound);
    Json const space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "new"}}}};
    EXPECT_TRUE(viewed.ask(k8s::create(k8s::kNamespaces, space, "me")));
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, widget("a", {}, "new"), "me")));
    EXPECT_TRUE(viewed.ask(k8s::get(kWidgets, {"new", "a"})));
    EXPECT_EQ(viewed.ask(k8s::create(k8s::kNamespaces, space, "me")).error().kind, Error::Kind::AlreadyExists);
    EXPECT_TRUE(viewed.is_untouched());
    EXPECT_FALSE(viewed.server->find(k8s::kNamespaces, {{}, "new"}));
}

TEST_P(OverlayWrites, MayRemove) {
    Viewed viewed{GetParam()};
    for (auto const* name : {"a", "b"}) viewed.server->put(kWidgets, widget(name));
    Json held = widget("held");
    held["metadata"]["finalizers"] = {"example.com/held"};
    viewed.server->put(kWidgets, held);
    EXPECT_TRUE(viewed.ask(k8s::remove(kWidgets, key("a"), {})));
    EXPECT_EQ(viewed.ask(k8s::get(kWidgets, key("a"))).error().kind, Error::Kind::NotFound);
    EXPECT_TRUE(k8s::is_being_deleted(viewed.ask(k8s::remove(kWidgets, key("held"), {})).value()));
    EXPECT_TRUE(k8s::is_being_deleted(viewed.ask(k8s::get(kWidgets, key("held"))).value()));
    EXPECT_EQ(viewed.ask(k8s::remove(kWidgets, key("none"), {})).error().kind, Error::Kind::NotFound);
    EXPECT_TRUE(viewed.is_untouched());
    EXPECT_EQ(viewed.server->all(kWidgets).size(), 3U);
}

TEST_P(OverlayWrites, AreInListsAsWell) {
    Viewed viewed{GetParam()};
    for (auto const* name : {"a", "b", "c"}) viewed.server->put(kWidgets, widget(name, {{"size", 1}}));
    EXPECT_TRUE(viewed.ask(k8s::remove(kWidgets, key("a"), {})));
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, widget("b", {{"size", 2}}), "me")));
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, widget("new"), "me")));
    Json unlabelled = widget("other");
    unlabelled["metadata"].erase("labels");
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, unlabelled, "me")));
    std::map<std::string, Json> listed;
    Json const list = viewed.ask(k8s::list(kWidgets, "default", "ours=yes")).value();
    for (auto const& item : list["items"]) {
        listed[k8s::name_of(item)] = member(item, "spec", "size");
    }
    EXPECT_EQ(listed, (std::map<std::string, Json>{{"b", 2}, {"c", 1}, {"new", nullptr}}));
}

TEST_P(OverlayWrites, AreForgotten) {
    Viewed viewed{GetParam()};
    viewed.server->put(kWidgets, widget("a", {{"size", 1}}));
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, widget("a", {{"size", 2}}), "me")));
    viewed.view.forget();
    EXPECT_EQ(viewed.ask(k8s::get(kWidgets, key("a"))).value()["spec"]["size"], 1);
}

INSTANTIATE_TEST_SUITE_P(, OverlayWrites, testing::Values(OverlayApi::Writes::Imagined, OverlayApi::Writes::DryRun),
                         [](auto const& row) { return row.param == OverlayApi::Writes::DryRun ? "DryRun" : "Imagined"; });

TEST(Overlay, ReadsWhatTheServerHasNow) {
    Viewed viewed;
    viewed.server->put(kWidgets, widget("a", {{"size", 1}}));
    EXPECT_EQ(viewed.ask(k8s::get(kWidgets, key("a"))).value()["spec"]["size"], 1);
    viewed.server->put(kWidgets, widget("a", {{"size", 5}}));
    EXPECT_EQ(viewed.ask(k8s::get(kWidgets, key("a"))).value()["spec"]["size"], 5);
}

TEST(Overlay, SendsNoWriteThatIsImagined) {
    Viewed viewed;
    viewed.server->put(kWidgets, widget("a"));
    EXPECT_TRUE(viewed.ask(k8s::apply(kWidgets, widget("a", {{"size", 2}}), "me")));
    for (auto const& one : viewed.server->requests()) {
        EXPECT_TRUE(one.request.verb == Request::Verb::Get || one.request.verb == Request::Verb::List)
            << k8s::describe(one.request);
    }
}

TEST(Overlay, SaysWhatTheServerSaysOfADryRun) {
    Viewed viewed{OverlayApi::Writes::DryRun};
    viewed.server->put(kWidgets, widget("a"));
    viewed.server->fail_when(k8s::on(Request::Verb::Apply), k8s::answer_with(403));
    EXPECT_EQ(viewed.ask(k8s::apply(kWidgets, widget("a", {{"size", 2}}), "me")).error().kind, Error::Kind::Forbidden);
    EXPECT_FALSE(member(viewed.ask(k8s::get(kWidgets, key("a"))).value(), "spec").contains("size"));
}

TEST(Overlay, LetsAnotherWritersVersionBeAConflict) {
    Viewed viewed;
    Json const seen = viewed.server->put(kWidgets, widget("a"));
    viewed.server->put(kWidgets, [&] {
        Json changed = widget("a", {{"size", 9}});
        changed["metadata"]["resourceVersion"] = "999";
        return changed;
    }());
    Json patch = {{"metadata", {{"resourceVersion", k8s::resource_version_of(seen)}}}, {"spec", {{"size", 2}}}};
    EXPECT_EQ(viewed.ask(k8s::merge_patch(kWidgets, key("a"), patch, "me")).error().kind, Error::Kind::Conflict);
}

TEST(Overlay, LetsHimCreateWhoMayNotLook) {
    Viewed viewed;
    viewed.server->fail_when(k8s::on(Request::Verb::Get), k8s::answer_with(403), 2);
    EXPECT_TRUE(viewed.ask(k8s::create(kWidgets, widget("a"), "me")));
    viewed.server->fail_when(k8s::on(Request::Verb::Get), k8s::answer_with(403), 2);
    EXPECT_EQ(viewed.ask(k8s::apply(kWidgets, widget("b"), "me")).error().kind, Error::Kind::Forbidden);
}

}  // namespace
