#include "function/replay/replayed_api.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using k8s::Request;
using kro::RecordedExchange;
using kro::RecordedRun;
using kro::ReplayedApi;
using support::kNever;
using support::kro_named;

k8s::ObjectKey const kAcme{std::string{support::kOnboardingNamespace}, "acme"};

Json in_version(Json object, std::string const& version, Json spec = {}) {
    object["metadata"]["resourceVersion"] = version;
    if (!spec.is_null()) object["spec"] = std::move(spec);
    return object;
}

/// The Kro acme with this version to install, as the API server had it in this state.
Json acme(std::string const& resource_version, std::string const& version) {
    return in_version(kro_named("acme", version), resource_version);
}

struct Replayed {
    Replayed() {
        memory->serve(kro::kKros);
        memory->put(k8s::kNamespaces, {{"metadata", {{"name", support::kOnboardingNamespace}}}});
    }

    k8s::Result<Json> ask(Request request) { return k8s::send_one(api, std::move(request), kNever); }
    std::string version() {
        auto const found = memory->find(kro::kKros, kAcme);
        return found ? base::text_of((*found)["spec"]["version"]) : "none";
    }
    Json applied(std::string const& version) { return ask(k8s::apply(kro::kKros, kro_named("acme", version), "me")).value(); }

    std::shared_ptr<k8s::MemoryApi> memory =
        std::make_shared<k8s::MemoryApi>([] { return support::kNoon; }, k8s::MemoryOptions{.last_version = 1'000'000});
    std::shared_ptr<RecordedRun> run = std::make_shared<RecordedRun>();
    ReplayedApi api{memory, run};
};

RecordedExchange recorded(Request::Verb verb, Json object) {
    return {verb, kro::kKros, kAcme, "", std::move(object), std::nullopt};
}

RecordedExchange recorded(Request::Verb verb, k8s::Error::Kind kind) {
    k8s::Error error;
    error.kind = kind;
    error.message = "as it was";
    return {verb, kro::kKros, kAcme, "", nullptr, std::move(error)};
}

// --- What is known from outside

TEST(ReplayedApi, TakesALaterStateAndLeavesAnOlderOne) {
    Replayed replayed;
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    replayed.api.take(kro::kKros, acme("9", "0.8.0"));
    EXPECT_EQ(replayed.version(), "0.9.1");
    replayed.api.take(kro::kKros, acme("11", "0.9.2"));
    EXPECT_EQ(replayed.version(), "0.9.2");
}

TEST(ReplayedApi, KeepsWhatWasWrittenHereWhereTheSameStateComesAgain) {
    Replayed replayed;
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    replayed.applied("0.9.2");
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    EXPECT_EQ(replayed.version(), "0.9.2");
}

TEST(ReplayedApi, KnowsAStateThatItsOwnWriteLeft) {
    Replayed replayed;
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    Json const first = replayed.applied("0.9.2");
    replayed.applied("0.9.3");
    Json event = acme("12", "0.9.2");
    event["metadata"]["uid"] = "of the real one";
    event["metadata"]["generation"] = 7;
    EXPECT_EQ(replayed.api.take(kro::kKros, event), k8s::resource_version_of(first));
    EXPECT_EQ(replayed.version(), "0.9.3") << "the world is ahead of it";
    EXPECT_EQ(replayed.api.take(kro::kKros, acme("13", "0.8.0")), std::nullopt);
    EXPECT_EQ(replayed.version(), "0.8.0") << "somebody else wrote that";
}

TEST(ReplayedApi, DoesNotBringBackWhatIsGone) {
    Replayed replayed;
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    replayed.api.lose(kro::kKros, kAcme, "12");
    replayed.api.take(kro::kKros, acme("11", "0.9.1"));
    EXPECT_EQ(replayed.version(), "none");
    replayed.api.take(kro::kKros, acme("13", "0.9.2"));
    EXPECT_EQ(replayed.version(), "0.9.2") << "it was made anew";
}

TEST(ReplayedApi, TakesWhatAUserWroteOnTopOfWhatIsThere) {
    Replayed replayed;
    Json there = acme("10", "0.9.1");
    there["status"] = {{"phase", "Ready"}};
    there["metadata"]["finalizers"] = {"a/b"};
    there["metadata"]["generation"] = 1;
    replayed.api.take(kro::kKros, there);
    Json written = kro_named("acme", "0.9.2");
    written["metadata"]["annotations"] = {{"a", "b"}};
    replayed.api.take(kro::kKros, written);
    Json const now = replayed.memory->find(kro::kKros, kAcme).value();
    EXPECT_EQ(now["spec"]["version"], "0.9.2");
    EXPECT_EQ(now["status"]["phase"], "Ready");
    EXPECT_EQ(now["metadata"]["finalizers"], Json::array({"a/b"}));
    EXPECT_EQ(now["metadata"]["annotations"]["a"], "b");
    EXPECT_EQ(k8s::generation_of(now), 2);
}

TEST(ReplayedApi, ShowsAnOlderStateWhereARecordedRunSawIt) {
    Replayed replayed;
    replayed.api.take(kro::kKros, acme("10", "0.9.1"));
    replayed.api.show(kro::kKros, acme("9", "0.8.0"));
    EXPECT_EQ(replayed.version(), "0.8.0");
    replayed.api.hide(kro::kKros, kAcme);
    EXPECT_EQ(replayed.version(), "none");
    replayed.api.take(kro::kKros, acme("5", "0.7.0"));
    EXPECT_EQ(replayed.version(), "0.7.0");
}

// --- What was recorded

TEST(ReplayedApi, AnswersEachReadAsItWasAnswered) {
    Replayed replayed;
    replayed.api.expect(recorded(Request::Verb::Get, acme("10", "0.9.1")));
    replayed.api.expect(recorded(Request::Verb::Get, k8s::Error::Kind::Unavailable));
    replayed.api.expect(recorded(Request::Verb::Get, acme("12", "0.9.2")));
    Request const get = k8s::get(kro::kKros, kAcme);
    EXPECT_EQ(replayed.ask(get).value()["spec"]["version"], "0.9.1");
    EXPECT_EQ(replayed.ask(get).error().message, "as it was");
    EXPECT_EQ(replayed.ask(get).value()["spec"]["version"], "0.9.2");
    EXPECT_EQ(replayed.version(), "0.9.2") << "and that is how it is from then on";
    EXPECT_EQ(replayed.ask(get).value()["spec"]["version"], "0.9.2") << "asked once more than it was then";
}

TEST(ReplayedApi, GivesWhatIsWrittenTheIdentityThatItHad) {
    Replayed replayed;
    Json real = acme("4711", "0.9.1");
    real["metadata"]["uid"] = "real";
    replayed.api.expect(recorded(Request::Verb::Apply, real));
    Json const written = replayed.applied("0.9.5");
    EXPECT_EQ(k8s::resource_version_of(written), "4711");
    EXPECT_EQ(k8s::uid_of(written), "real");
    EXPECT_EQ(written["spec"]["version"], "0.9.5") << "what it says is this program's";
    EXPECT_EQ(k8s::resource_version_of(replayed.memory->find(kro::kKros, kAcme).value()), "4711");
}

TEST(ReplayedApi, CarriesOutNothingThatFailedThen) {
    Replayed replayed;
    replayed.api.expect(recorded(Request::Verb::Apply, k8s::Error::Kind::Conflict));
    EXPECT_EQ(replayed.ask(k8s::apply(kro::kKros, kro_named("acme"), "me")).error().kind, k8s::Error::Kind::Conflict);
    EXPECT_EQ(replayed.version(), "none");
}

TEST(ReplayedApi, BelievesTheRecordingWhereMemoryWouldRefuse) {
    Replayed replayed;
    replayed.api.expect(recorded(Request::Verb::MergePatch, acme("12", "0.9.2")));
    Json const patch = {{"spec", {{"version", "0.9.2"}}}};
    EXPECT_EQ(replayed.ask(k8s::merge_patch(kro::kKros, kAcme, patch, "me")).value()["spec"]["version"], "0.9.2");
    EXPECT_EQ(replayed.version(), "0.9.2");
    replayed.api.expect(recorded(Request::Verb::Delete, {{"kind", "Status"}, {"status", "Success"}}));
    Json held = acme("13", "0.9.2");
    held["metadata"]["finalizers"] = {"a/b"};
    replayed.api.show(kro::kKros, held);
    EXPECT_TRUE(replayed.ask(k8s::remove(kro::kKros, kAcme, {})));
    EXPECT_EQ(replayed.version(), "none") << "the finalizer was not there then";
}

TEST(ReplayedApi, SaysWhatWasNotDoneAgainAndWhatWasDoneBesides) {
    Replayed replayed;
    replayed.api.expect(recorded(Request::Verb::Get, acme("10", "0.9.1")));
    replayed.api.expect(recorded(Request::Verb::Apply, acme("11", "0.9.1")));
    replayed.api.expect(recorded(Request::Verb::Get, acme("12", "0.9.9")));
    EXPECT_TRUE(replayed.ask(k8s::get(kro::kKros, kAcme)));
    EXPECT_TRUE(replayed.ask(k8s::remove(kro::kKros, kAcme, {})));
    EXPECT_EQ(replayed.ask(k8s::get(kro::kKros, kAcme)).error().kind, k8s::Error::Kind::NotFound)
        << "after a write that the recording does not have, it is another run";
    auto const strayed = replayed.api.conclude();
    EXPECT_EQ(strayed.missing, std::vector<std::string>{"apply kros.kro.services.openmcp.cloud project-a--ws-b/acme"});
    EXPECT_EQ(strayed.added, std::vector<std::string>{"delete kros.kro.services.openmcp.cloud project-a--ws-b/acme"});
    EXPECT_TRUE(replayed.api.conclude().missing.empty());
}

TEST(ReplayedApi, IsMemoryAloneWithoutARecording) {
    Replayed replayed;
    Json const written = replayed.applied("0.9.1");
    EXPECT_EQ(replayed.ask(k8s::get(kro::kKros, kAcme)).value(), written);
    EXPECT_TRUE(replayed.api.conclude().added.empty());
}

}  // namespace
