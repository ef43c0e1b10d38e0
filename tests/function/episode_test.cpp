#include "function/report/episode.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using kro::Difference;
using kro::differences;
using support::json;

using Differences = std::vector<Difference>;

TEST(Differences, AreNoneBetweenTheSame) {
    EXPECT_EQ(differences(json(R"({"spec":{"n":1}})"), json(R"({"spec":{"n":1.0}})")), Differences{})
        << "one number, spelled in two ways";
}

TEST(Differences, NameWhatChangedWhatCameAndWhatWent) {
    auto const found = differences(json(R"({"spec":{"url":"a","gone":true,"same":[1]}})"),
                                   json(R"({"spec":{"url":"b","new":null,"same":[1]}})"));
    EXPECT_EQ(found, (Differences{{"spec.gone", "true", ""}, {"spec.new", "", "null"}, {"spec.url", "\"a\"", "\"b\""}}));
}

TEST(Differences, GoFieldByFieldThroughWhatIsNew) {
    auto const found = differences(nullptr, json(R"({"spec":{"ref":{"tag":"0.9.1"},"values":{},"list":[7]}})"));
    EXPECT_EQ(found, (Differences{{"spec.list[0]", "", "7"}, {"spec.ref.tag", "", "\"0.9.1\""}, {"spec.values", "", "{}"}}));
}

TEST(Differences, AreTheOtherWayRoundForWhatIsGone) {
    EXPECT_EQ(differences(json(R"({"data":{"key":"value"}})"), nullptr), (Differences{{"data.key", "\"value\"", ""}}));
}

TEST(Differences, LeaveOutWhatNamesAnObjectAndWhatAnApiServerKeepsForItself) {
    Json const object = support::stored(support::kro_named("acme"));
    EXPECT_EQ(differences(nullptr, object), (Differences{{"spec.version", "", "\"0.9.1\""}}));
    Json later = object;
    later["metadata"]["resourceVersion"] = "101";
    later["metadata"]["generation"] = 2;
    later["metadata"]["managedFields"] = Json::array({{{"manager", "kubectl"}}});
    EXPECT_EQ(differences(object, later), Differences{});
    later["spec"]["uid"] = "another field of that name";
    EXPECT_EQ(differences(object, later), (Differences{{"spec.uid", "", "\"another field of that name\""}}));
}

TEST(Differences, PutNamesThatAreNoIdentifiersInBrackets) {
    auto const found = differences(json(R"({"metadata":{"annotations":{}}})"),
                                   json(R"({"metadata":{"annotations":{"openmcp.cloud/operation":"ignore"}}})"));
    EXPECT_EQ(found, (Differences{{"metadata.annotations[openmcp.cloud/operation]", "", "\"ignore\""}}));
}

TEST(Differences, TellConditionsByTheirTypeAndOtherItemsByTheirName) {
    auto const found = differences(
        json(R"({"conditions":[{"type":"Ready","status":"False"}],"resources":[{"name":"a","phase":"Ready"}]})"),
        json(
            R"({"conditions":[{"type":"Other","status":"True"},{"type":"Ready","status":"True"}],"resources":[{"name":"a","phase":"Progressing"}]})"));
    EXPECT_EQ(found, (Differences{{"conditions[Other].status", "", "\"True\""},
                                  {"conditions[Other].type", "", "\"Other\""},
                                  {"conditions[Ready].status", "\"False\"", "\"True\""},
                                  {"resources[a].phase", "\"Ready\"", "\"Progressing\""}}));
}

TEST(Differences, TellItemsThatHaveNoNameByTheirPlaceInItsOrder) {
    Json before = Json::array();
    for (int i = 0; i < 12; ++i) before.push_back(i);
    Json after = before;
    after[2] = "two";
    after[10] = "ten";
    EXPECT_EQ(differences({{"list", before}}, {{"list", after}}),
              (Differences{{"list[2]", "2", "\"two\""}, {"list[10]", "10", "\"ten\""}}));
}

TEST(Differences, ShowAValueOfAnotherTypeWhole) {
    EXPECT_EQ(differences(json(R"({"a":{"b":1}})"), json(R"({"a":[1]})")), (Differences{{"a", R"({"b":1})", "[1]"}}));
}

TEST(Episode, AsJsonHasWhatItHasAndNothingEmpty) {
    kro::Episode episode;
    episode.id = "1";
    episode.answer = 204;
    episode.requests = 2;
    episode.writes = 1;
    episode.outcome = {kro::Outcome::Kind::Waiting, "for Flux"};
    kro::Episode::Round looks;
    looks.looks.push_back({kro::Cluster::Onboarding, "Kro acme", "present"});
    kro::Episode::Round changes;
    changes.changes.push_back({kro::Cluster::Platform, "apply x", "HelmRelease y", "because", "refused", {{"spec.a", "", "1"}}});
    episode.parts.push_back({"team-a/acme", {looks, changes}, episode.outcome, nullptr, {}});
    EXPECT_EQ(kro::to_json(episode), json(R"({
        "id": "1", "answer": 204, "requests": 2, "writes": 1, "outcome": {"kind": "Waiting", "why": "for Flux"},
        "parts": [{
            "tenant": "team-a/acme", "outcome": {"kind": "Waiting", "why": "for Flux"},
            "rounds": [
                {"looks": [{"cluster": "onboarding cluster", "subject": "Kro acme", "found": "present"}]},
                {"changes": [{"cluster": "platform cluster", "request": "apply x", "subject": "HelmRelease y", "why": "because",
                              "error": "refused", "differences": [{"field": "spec.a", "after": "1"}]}]}]}]})"));
}

}  // namespace
