#include "function/report/html_report.hpp"

#include "base/base64.hpp"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <sstream>

namespace {

using kro::Cluster;
using kro::Episode;
using kro::HtmlReport;
using kro::Outcome;
using Json = k8s::Json;

constexpr std::string_view kOpening = "<script type=\"application/json\" class=\"";
constexpr std::string_view kClosing = "</script>\n";
constexpr std::size_t kPageLimit = 60 * 1024;

/// Markup, comments, ends of scripts, line ends of JavaScript, what is no UTF-8, and the frame's own places.
std::string const kHostile =
    "</script><script>alert(1)</script><!-- --> ]]> \u2028\u2029 &lt; '\"`\\ \x01\x7f\xff {{data}}{{script}}";

struct Block {
    std::string name;
    std::string text;
};

/// A report, taken apart.
struct Page {
    std::string frame;  ///< without the data
    std::vector<Block> blocks;

    std::vector<Json> read(std::string_view name) const {
        std::vector<Json> values;
        for (auto const& block : blocks) {
            if (block.name == name) values.push_back(base::parse_json(block.text).value());
        }
        return values;
    }
    Json row() const { return read("rows").at(0).at(0); }
};

Page take_apart(std::string const& text) {
    Page page;
    std::size_t at = 0;
    for (auto found = text.find(kOpening); found != std::string::npos; found = text.find(kOpening, at)) {
        page.frame += text.substr(at, found - at);
        auto const name = found + kOpening.size();
        auto const begin = text.find("\">", name) + 2;
        auto const end = text.find(kClosing, begin);
        page.blocks.push_back({text.substr(name, begin - 2 - name), text.substr(begin, end - begin)});
        at = end + kClosing.size();
    }
    page.frame += text.substr(at);
    return page;
}

Page report_of(std::vector<Episode> const& episodes, kro::ReplayHead const& head = {}, kro::ReplaySummary const& summary = {}) {
    std::ostringstream out;
    HtmlReport report{out, head};
    for (auto const& episode : episodes) report.add(episode);
    report.finish(summary);
    return take_apart(out.str());
}

Episode episode_with(Episode::Part part) {
    Episode episode;
    episode.id = "1";
    episode.parts.push_back(std::move(part));
    return episode;
}

Json status(std::string const& phase, std::string const& release_phase, std::string const& release_message) {
    return {{"phase", phase},
            {"conditions",
             {{{"type", "Ready"},
               {"reason", "Reconciling"},
               {"message", "Waiting"},
               {"lastTransitionTime", "2026-11-30T12:00:00Z"}}}},
            {"resources", {{{"kind", "HelmRelease"}, {"phase", release_phase}, {"message", release_message}}}}};
}

Episode::Round look_at(std::string subject, std::string found, bool failed = false) {
    return {{{Cluster::Platform, std::move(subject), std::move(found), failed}}, {}};
}

Episode::Round change(std::string request, std::string subject, std::string error = {}) {
    return {{}, {{Cluster::Platform, std::move(request), std::move(subject), "why", std::move(error), {}}}};
}

Episode hostile_episode() {
    std::string const& bad = kHostile;
    Episode episode;
    for (auto* text : {&episode.id, &episode.source, &episode.type, &episode.time, &episode.where, &episode.change,
                       &episode.object, &episode.whom, &episode.routed, &episode.recorded}) {
        *text = bad;
    }
    episode.outcome = {Outcome::Kind::Rejected, bad};
    Json const words = {{"phase", bad},
                        {"conditions", {{{"type", "Ready"}, {"reason", bad}, {"message", bad}, {"lastTransitionTime", bad}}}},
                        {"resources", {{{"kind", bad}, {"phase", bad}, {"message", bad}}}},
                        {bad, bad}};
    episode.parts.push_back({bad,
                             {look_at(bad, bad), {{}, {{Cluster::Platform, bad, bad, bad, bad, {{bad, bad, bad}}}}}},
                             {Outcome::Kind::Retry, bad},
                             words,
                             {{bad, bad, bad}}});
    return episode;
}

TEST(ScriptJson, HasNothingThatCouldEndABlockOrBeginMarkup) {
    std::string const text = kro::script_json({{kHostile, {kHostile, 1.5, nullptr}}});
    for (auto const* forbidden : {"<", ">", "&", "\u2028", "\u2029", "\n", "\x01", "\x7f", "\xff"}) {
        EXPECT_EQ(text.find(forbidden), std::string::npos) << testing::PrintToString(forbidden);
    }
}

TEST(ScriptJson, MeansTheSame) {
    Json const value = {{"a<b>&c\u2028\u2029\U0001f600", {1, "\\u003c", R"("</script>")"}}};
    EXPECT_EQ(base::parse_json(kro::script_json(value)).value(), value);
}

TEST(ScriptJson, KeepsNumbersAsTheyAreSpelled) {
    Json const value = base::parse_json(R"([1.0,9007199254740993,1e400,-0])").value();
    EXPECT_EQ(kro::script_json(value), "[1.0,9007199254740993,1e400,-0]");
}

TEST(HtmlReport, HasWhatStrangersWroteInItsDataBlocksAlone) {
    kro::ReplaySummary summary;
    summary.tenants = {{kHostile, kHostile, kHostile, kHostile, 1, 1}};
    summary.unreadable_entries = {{kHostile, kHostile}};
    std::vector<std::string> const texts{kHostile};
    auto const page = report_of({hostile_episode()}, {kHostile, texts, texts, texts}, summary);
    EXPECT_EQ(page.frame, report_of({}).frame);
    ASSERT_EQ(page.blocks.size(), 4U);
    for (auto const& block : page.blocks) EXPECT_EQ(block.text.find_first_of("<>&"), std::string::npos) << block.name;
    EXPECT_EQ(page.row()["why"], base::valid_utf8(kHostile));
}

TEST(HtmlReport, AllowsItsOwnScriptAndStyleAndNothingElse) {
    std::string const frame = report_of({}).frame;
    auto const hash_of = [&](std::string const& opening, std::string const& closing) {
        auto const begin = frame.rfind(opening) + opening.size();
        std::string const text = frame.substr(begin, frame.find(closing, begin) - begin);
        unsigned char digest[SHA256_DIGEST_LENGTH];
        SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest);
        return base::encode_base64({reinterpret_cast<char const*>(digest), sizeof digest});
    };
    EXPECT_NE(frame.find("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-" +
                         hash_of("<script>", "</script>") + "'; style-src 'sha256-" + hash_of("<style>", "</style>") +
                         "'; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'\""),
              std::string::npos)
        << frame.substr(0, 800);
}

TEST(HtmlReport, HasOneScriptAndOneStyle) {
    std::string const frame = report_of({}).frame;
    auto const count = [&](std::string_view text) {
        std::size_t found = 0;
        for (auto at = frame.find(text); at != std::string::npos; at = frame.find(text, at + 1)) ++found;
        return found;
    };
    for (auto const* tag : {"<script", "</script", "<style", "</style", "</html>"}) EXPECT_EQ(count(tag), 1U) << tag;
    EXPECT_EQ(count("{{"), 0U);
}

TEST(HtmlReport, CostsLessThanItsLimitBesideTheData) { EXPECT_LT(report_of({}).frame.size(), kPageLimit); }

TEST(HtmlReport, IsWrittenWhileTheReplayRuns) {
    std::ostringstream out;
    HtmlReport report{out, {}};
    auto const before = out.str().size();
    std::size_t added = 0;
    for (; out.str().size() == before; ++added) {
        ASSERT_LT(added, 10'000U);
        report.add(hostile_episode());
    }
    report.add(hostile_episode());
    report.finish({});
    auto const page = take_apart(out.str());
    auto const rows = page.read("rows");
    auto const episodes = page.read("episodes");
    ASSERT_EQ(rows.size(), 2U);
    ASSERT_EQ(episodes.size(), 2U);
    EXPECT_EQ(rows[0].size(), added);
    EXPECT_EQ(episodes[0].size(), added);
    EXPECT_EQ(rows[1].size(), 1U);
    EXPECT_EQ(episodes[1].size(), 1U);
}

TEST(HtmlReport, HasTheEventsInTheirOrderAndAllThatIsKnownOfThem) {
    std::vector<Episode> episodes(3);
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        episodes[i].id = std::string(1, static_cast<char>('a' + i));
        episodes[i].routed = "by its name";
    }
    auto const page = report_of(episodes);
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        EXPECT_EQ(page.read("rows")[0][i]["id"], episodes[i].id);
        EXPECT_EQ(page.read("episodes")[0][i], kro::to_json(episodes[i]));
    }
}

TEST(HtmlReport, SaysWhatTheSummaryAndTheHeadSay) {
    kro::ReplaySummary summary;
    summary.events = 2;
    summary.outcomes = {{Outcome::Kind::Done, 1}, {Outcome::Kind::Retry, 1}};
    summary.tenants = {{"team-a/acme", "Progressing", "Waiting", "2026-11-30T12:00:00Z", 2, 1}};
    summary.unreadable = 7;
    summary.unreadable_entries = {{"events.jsonl:3", "cut"}};
    auto const page = report_of({}, {"Replay", {"events.jsonl"}, {}, {"assumed"}}, summary);
    EXPECT_EQ(page.read("head").at(0), (Json{{"title", "Replay"}, {"archives", {"events.jsonl"}}, {"notes", {"assumed"}}}));
    Json const said = page.read("summary").at(0);
    EXPECT_EQ(said["outcomes"], (Json{{"Done", 1}, {"Retry", 1}}));
    EXPECT_EQ(said["tenants"][0]["since"], "2026-11-30T12:00:00Z");
    EXPECT_EQ(said["unreadable"], 7);
    EXPECT_EQ(said["unreadableEntries"][0], (Json{{"where", "events.jsonl:3"}, {"why", "cut"}}));
    EXPECT_EQ(said["complete"], true);
}

struct LaneRow {
    std::string name;
    std::vector<Episode::Round> rounds;
    Json expected;
};

class Lane : public testing::TestWithParam<LaneRow> {};

TEST_P(Lane, SaysWhatBecameOfTheObject) {
    auto const page =
        report_of({episode_with({"team-a/acme", GetParam().rounds, {}, status("Progressing", "Progressing", "installing"), {}})});
    EXPECT_EQ(base::member(page.row()["parts"][0], "objects"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    , Lane,
    testing::Values(
        LaneRow{"ThatIsThere", {look_at("Kro acme", "present")}, {{"Kro", "present"}}},
        LaneRow{"ThatIsNotThere", {look_at("AccessRequest a", "absent")}, {{"AccessRequest", "absent"}}},
        LaneRow{"ThatTheStatusHasAPhaseOf", {look_at("HelmRelease kro", "present")}, {{"HelmRelease", "Progressing"}}},
        LaneRow{"ThatTheStatusStillHasButIsGone", {look_at("HelmRelease kro", "absent")}, {{"HelmRelease", "absent"}}},
        LaneRow{"ThatCouldNotBeAsked", {look_at("Kro acme", "timeout", true)}, nullptr},
        LaneRow{"ThatHasNoLane", {look_at("Secret pull", "present")}, nullptr},
        LaneRow{"ThatIsMade",
                {look_at("OCIRepository kro", "absent"), change("apply oci", "OCIRepository kro")},
                {{"OCIRepository", "present"}}},
        LaneRow{"ThatIsDeleted",
                {look_at("HelmRelease kro", "present"), change("delete hr", "HelmRelease kro")},
                {{"HelmRelease", "deleted"}}},
        LaneRow{"ThatCouldNotBeMade",
                {look_at("OCIRepository kro", "absent"), change("apply oci", "OCIRepository kro", "403")},
                {{"OCIRepository", "absent"}}}),
    [](auto const& row) { return row.param.name; });

TEST(HtmlReport, TellsTheConditionAndTheCauseOfATenantThatIsNotReady) {
    auto const page = report_of({episode_with(
        {"team-a/acme", {}, {Outcome::Kind::Waiting, ""}, status("Progressing", "Progressing", "no such image"), {}})});
    EXPECT_EQ(page.row()["parts"][0], (Json{{"tenant", "team-a/acme"},
                                            {"outcome", "Waiting"},
                                            {"phase", "Progressing"},
                                            {"reason", "Reconciling"},
                                            {"message", "Waiting"},
                                            {"since", "2026-11-30T12:00:00Z"},
                                            {"words", {{"HelmRelease", "no such image"}}}}));
}

TEST(HtmlReport, TellsWhatWasWrittenAndThatSomethingFailed) {
    Episode::Part part{
        "team-a/acme", {change("apply kros", "Kro acme"), change("apply hr", "HelmRelease kro", "409 Conflict")}, {}, {}, {}};
    auto const page = report_of({episode_with(std::move(part))});
    EXPECT_EQ(page.row()["parts"][0]["wrote"], (Json{"Kro", "HelmRelease"}));
    EXPECT_EQ(page.row()["parts"][0]["failed"], true);
}

}  // namespace
