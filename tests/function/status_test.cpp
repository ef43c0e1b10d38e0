#include "function/tenant/status.hpp"

#include "function/tenant/kinds.hpp"
#include "k8s/condition.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using kro::Kro;
using kro::Verdict;
using support::json;
using support::kNoon;

kro::Tenant const kAcme = support::tenant_named("acme");

Json kro_with(Json status, std::int64_t generation = 1) {
    Json object = support::stored(support::kro_named("acme"));
    object["metadata"]["generation"] = generation;
    object["status"] = std::move(status);
    return object;
}

Json desired_status(Json const& kro, Verdict const& verdict, Json const& resources, base::Time now) {
    return kro::desired_status(kro::read_kro(kro), base::member(kro, "status"), verdict, resources, now);
}

Verdict const kReady{Verdict::Phase::Ready, "ReconcileSuccess", "Domain Service is ready"};
Verdict const kWaiting{Verdict::Phase::Progressing, "Reconciling", "Waiting for managed resources to become ready"};

Json release() { return support::stored(support::helm_release(kAcme)); }
Json repository() { return support::stored(support::oci_repository(kAcme)); }

// --- Readiness

TEST(Readiness, NeedsTheConditionForTheCurrentGeneration) {
    EXPECT_TRUE(kro::readiness_of(support::ready(release())).ready);
    Json stale = support::ready(release());
    stale["metadata"]["generation"] = 2;
    EXPECT_FALSE(kro::readiness_of(stale).ready);
    EXPECT_NE(kro::readiness_of(stale).message, "");
    stale["status"]["observedGeneration"] = 2;
    EXPECT_TRUE(kro::readiness_of(stale).ready);
}

TEST(Readiness, OfAnObjectThatFluxHasNotSeenIsFalseWithAMessage) {
    EXPECT_FALSE(kro::readiness_of(release()).ready);
    EXPECT_NE(kro::readiness_of(release()).message, "");
    EXPECT_FALSE(kro::readiness_of(nullptr).ready);
}

TEST(Readiness, HasTheMessageOfFlux) {
    EXPECT_EQ(kro::readiness_of(support::not_ready(release(), "InstallFailed", "timed out")).message, "timed out");
    EXPECT_EQ(kro::readiness_of(support::not_ready(release(), "InstallFailed", "")).message, "Flux reports InstallFailed");
}

TEST(Readiness, SaysWhatToDoWhereTheRetriesAreUsedUp) {
    Json stalled = support::not_ready(release(), "InstallFailed", "timed out");
    stalled["status"]["conditions"].push_back(
        json(R"({"type": "Stalled", "status": "True", "reason": "RetriesExceeded", "message": "m"})"));
    std::string const message = kro::readiness_of(stalled).message;
    EXPECT_NE(message.find("timed out"), std::string::npos) << message;
    EXPECT_NE(message.find("openmcp.cloud/operation=reconcile"), std::string::npos) << message;
}

TEST(HelmReleaseReadiness, NeedsTheChartThatTheRepositoryHasNow) {
    Json const old = support::ready(release(), "0.9.1");
    EXPECT_TRUE(kro::helm_release_readiness(old, support::ready(repository(), "0.9.1")).ready);
    auto const readiness = kro::helm_release_readiness(old, support::ready(repository(), "0.9.2"));
    EXPECT_FALSE(readiness.ready);
    EXPECT_NE(readiness.message.find("0.9.2"), std::string::npos) << readiness.message;
}

TEST(HelmReleaseReadiness, DoesWithoutTheDigestWhereFluxDoesNotSayIt) {
    Json silent = support::ready(release());
    silent["status"].erase("lastAttemptedRevisionDigest");
    EXPECT_TRUE(kro::helm_release_readiness(silent, support::ready(repository(), "0.9.2")).ready);
    Json without = support::ready(repository());
    without["status"].erase("artifact");
    EXPECT_TRUE(kro::helm_release_readiness(support::ready(release()), without).ready);
}

// --- The status as it is written

TEST(DesiredStatus, HasEverythingThatIsRequired) {
    Json const status = desired_status(kro_with({}, 3), kReady, json("[]"), kNoon);
    EXPECT_EQ(
        base::dump_json(status),
        R"({"conditions":[{"lastTransitionTime":"2026-11-30T12:00:00Z","message":"Domain Service is ready","observedGeneration":3,)"
        R"("reason":"ReconcileSuccess","status":"True","type":"Ready"}],"observedGeneration":3,"phase":"Ready","resources":[]})");
}

TEST(DesiredStatus, MovesTheTransitionTimeOnlyWithTheStatus) {
    Json const first = desired_status(kro_with({}), kWaiting, nullptr, kNoon);
    Verdict const error{Verdict::Phase::Progressing, "ReconcileError", "no"};
    Json const second = desired_status(kro_with(first), error, nullptr, kNoon + std::chrono::hours{1});
    EXPECT_EQ(second["conditions"][0]["reason"], "ReconcileError");
    EXPECT_EQ(second["conditions"][0]["lastTransitionTime"], "2026-11-30T12:00:00Z");
    Json const third = desired_status(kro_with(second), kReady, nullptr, kNoon + std::chrono::hours{2});
    EXPECT_EQ(third["conditions"][0]["lastTransitionTime"], "2026-11-30T14:00:00Z");
}

TEST(DesiredStatus, HasOneConditionHoweverManyThereWere) {
    Json const piled = json(R"({"conditions": [
        {"type": "Ready", "status": "False", "reason": "A", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        {"type": "Ready", "status": "True", "reason": "B", "lastTransitionTime": "2026-01-02T00:00:00Z"},
        {"type": "Audited", "status": "True", "reason": "C", "lastTransitionTime": "2026-01-03T00:00:00Z"}]})");
    Json const status = desired_status(kro_with(piled), kReady, nullptr, kNoon);
    ASSERT_EQ(status["conditions"].size(), 1U) << "another's condition is not ours to apply";
    EXPECT_EQ(status["conditions"][0]["type"], "Ready");
}

TEST(DesiredStatus, CutsALongMessageBetweenCharacters) {
    // Byte 32,768 lies inside the two-byte character.
    std::string const message = std::string(32767, 'x') + "\xC3\xA9" + std::string(8000, 'y');
    Verdict const error{Verdict::Phase::Progressing, "", message};
    Json const condition = desired_status(kro_with({}), error, nullptr, kNoon)["conditions"][0];
    EXPECT_EQ(condition["message"], std::string(32767, 'x'));
    EXPECT_NE(condition["reason"], "");
}

TEST(ResourceEntry, CutsALongMessageAndMendsBrokenBytes) {
    std::string const message = std::string(32766, 'x') + "\xFF" + "end";
    Json const entry = kro::resource_entry(kro::kHelmReleases, {"ns", "name"}, "Progressing", message);
    EXPECT_EQ(entry["message"], std::string(32766, 'x'));
    EXPECT_EQ(entry["apiGroup"], "helm.toolkit.fluxcd.io");
    EXPECT_EQ(entry["location"], "PlatformCluster");
    EXPECT_FALSE(kro::resource_entry(kro::kHelmReleases, {"ns", "name"}, "Ready", "").contains("message"));
}

TEST(StatusDiffers, WhenAnythingOfOursDoes) {
    Json const entry = kro::resource_entry(kro::kHelmReleases, {"ns", "name"}, "Ready", "");
    Json const resources = Json::array({entry});
    Json const written = desired_status(kro_with({}), kReady, resources, kNoon);
    auto const again = [&](Verdict const& verdict, Json const& list, std::int64_t generation) {
        return kro::status_differs(written,
                                   desired_status(kro_with(written, generation), verdict, list, kNoon + std::chrono::hours{1}));
    };
    EXPECT_FALSE(again(kReady, resources, 1));
    EXPECT_TRUE(again(kReady, resources, 2));
    EXPECT_TRUE(again(kWaiting, resources, 1));
    EXPECT_TRUE(again(kReady, json("[]"), 1));
    EXPECT_TRUE(kro::status_differs(nullptr, written));
}

TEST(StatusDiffers, NotByTheConditionsOfOthers) {
    Json const written = desired_status(kro_with({}), kReady, nullptr, kNoon);
    Json with_other = written;
    with_other["conditions"].push_back(
        json(R"({"type": "Audited", "status": "True", "reason": "C", "lastTransitionTime": "2026-01-03T00:00:00Z"})"));
    EXPECT_FALSE(kro::status_differs(with_other, desired_status(kro_with(with_other), kReady, nullptr, kNoon)));
}

TEST(StatusDiffers, NotWhereThereAreNoResourcesAndNoneAreWanted) {
    Json written = desired_status(kro_with({}), kWaiting, nullptr, kNoon);
    written.erase("resources");
    EXPECT_FALSE(kro::status_differs(written, desired_status(kro_with(written), kWaiting, nullptr, kNoon)));
}

// --- Events

TEST(WarningEvent, IsTheSameObjectForTheSameWordsAndAnotherForOthers) {
    Kro const kro = kro::read_kro(kro_with({}));
    Json const event = kro::warning_event(kro, "ReconcileError", "no", kNoon);
    EXPECT_EQ(event["metadata"]["name"],
              kro::warning_event(kro, "ReconcileError", "no", kNoon + std::chrono::hours{1})["metadata"]["name"]);
    EXPECT_NE(event["metadata"]["name"], kro::warning_event(kro, "ReconcileError", "yes", kNoon)["metadata"]["name"]);
    EXPECT_EQ(event["involvedObject"]["uid"], "uid-of-acme");
    EXPECT_EQ(event["metadata"]["namespace"], kAcme.namespace_);
    EXPECT_EQ(event["type"], "Warning");
}

TEST(WarningEvent, FitsWhatTheApiServerTakes) {
    Json object = support::stored(support::kro_named(std::string(250, 'n')));
    Json const event = kro::warning_event(kro::read_kro(object), "ReconcileError", std::string(1023, 'x') + "\xC3\xA9", kNoon);
    EXPECT_LE(event["metadata"]["name"].get<std::string>().size(), 253U);
    EXPECT_EQ(event["message"], std::string(1023, 'x'));
}

}  // namespace
