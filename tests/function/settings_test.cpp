#include "function/settings.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

using kro::Settings;
using kro::Verbosity;

using Variables = std::map<std::string, std::string>;

base::Result<Settings, kro::Exit> read(std::vector<std::string> arguments, Variables const& variables = {}) {
    return kro::read_settings(std::move(arguments), [&](std::string const& name) -> std::optional<std::string> {
        auto const found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional{found->second};
    });
}

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Settings, HaveDefaults) {
    Settings const settings = read({}).value();
    EXPECT_EQ(settings.command, kro::Command::Serve);
    EXPECT_EQ(settings.provider_name, "kro");
    EXPECT_EQ(settings.port, 8080);
    EXPECT_FALSE(settings.metrics_port);
    EXPECT_EQ(settings.verbosity, Verbosity::Info);
    EXPECT_EQ(settings.onboarding, Settings::Onboarding::Requested);
    EXPECT_EQ(settings.namespace_, "openmcp-system");
    EXPECT_FALSE(settings.embedded);
}

TEST(Settings, TakeThePortFromTheEnvironmentAsKnativeGivesIt) {
    EXPECT_EQ(read({}, {{"PORT", "9123"}}).value().port, 9123);
    EXPECT_EQ(read({"--port=9124"}, {{"PORT", "9123"}}).value().port, 9124) << "a flag wins";
}

TEST(Settings, MayAskForAResyncThatOnlyTells) {
    EXPECT_EQ(read({"resync"}).value().command, kro::Command::Resync);
    EXPECT_FALSE(read({"resync"}).value().dry_run);
    EXPECT_TRUE(read({"resync", "--dry-run", "--onboarding=platform"}).value().dry_run);
    EXPECT_FALSE(read({"serve", "--dry-run"})) << "it would promise too much";
}

TEST(Settings, TakeTheSinkAsASinkBindingGivesIt) {
    Settings const settings =
        read({},
             {{"K_SINK", "http://broker.test/ns/one"}, {"K_CE_OVERRIDES", R"({"extensions":{"a":"b"}})"}, {"FAN_OUT_ABOVE", "7"}})
            .value();
    EXPECT_EQ(settings.sink.url, "http://broker.test/ns/one");
    EXPECT_EQ(settings.sink.ce_overrides, R"({"extensions":{"a":"b"}})");
    EXPECT_EQ(settings.fan_out_above, 7U);
    EXPECT_FALSE(read({"--fan-out-above=many"}));
}

TEST(Settings, SayWhatIsReplayed) {
    Settings const settings =
        read({"replay", "a.jsonl", "-", "--state=dump", "--until", "2026-11-30T12:00:00Z", "--tenant", "team-a/acme", "--type",
              "t", "--duplicate", "--shuffle", "7", "--drop=5", "--output", "json", "--summary", "--provider-name", "other"})
            .value();
    EXPECT_EQ(settings.command, kro::Command::Replay);
    EXPECT_EQ(settings.provider_name, "other");
    kro::ReplaySettings const& replay = settings.replay;
    EXPECT_EQ(replay.archives, (std::vector<std::string>{"a.jsonl", "-"}));
    EXPECT_EQ(replay.state, "dump");
    EXPECT_EQ(replay.until_time, base::parse_rfc3339("2026-11-30T12:00:00Z"));
    EXPECT_EQ(replay.until, "");
    EXPECT_EQ(replay.tenant, (kro::Tenant{"team-a", "acme"}));
    EXPECT_EQ(replay.type, "t");
    EXPECT_TRUE(replay.duplicate);
    EXPECT_EQ(replay.shuffle, 7U);
    EXPECT_EQ(replay.drop, 5U);
    EXPECT_EQ(replay.output, kro::OutputForm::JsonLines);
    EXPECT_TRUE(replay.summary);
    EXPECT_EQ(replay.options.front(), "--state dump");
    EXPECT_EQ(replay.options.back(), "--summary");
}

TEST(Settings, OfAReplayHaveDefaults) {
    kro::ReplaySettings const replay = read({"replay", "events.jsonl", "--until=c0ffee"}).value().replay;
    EXPECT_EQ(replay.until, "c0ffee");
    EXPECT_FALSE(replay.until_time);
    EXPECT_FALSE(replay.tenant);
    EXPECT_FALSE(replay.shuffle);
    EXPECT_EQ(replay.speed, 0);
    EXPECT_EQ(replay.output, kro::OutputForm::Text);
    EXPECT_EQ(read({"replay", "e", "--speed=2.5"}).value().replay.speed, 2.5);
    EXPECT_TRUE(read({"replay", "e", "--cluster", "--onboarding=platform"}).value().replay.cluster);
    EXPECT_EQ(read({"replay", "e", "--to=http://x"}).value().replay.to, "http://x");
    EXPECT_EQ(read({"replay", "e", "--output=html"}).value().replay.output, kro::OutputForm::Html);
}

TEST(Settings, NameWhatAReplayCannotUse) {
    std::vector<std::pair<std::vector<std::string>, std::string>> const rows{
        {{"replay"}, "ARCHIVE"},
        {{"replay", "e", "--tenant=acme"}, "--tenant is \"acme\""},
        {{"replay", "e", "--output=xml"}, "--output is \"xml\"; expected text, json or html"},
        {{"replay", "e", "--speed=0"}, "--speed must be more than 0"},
        {{"replay", "e", "--drop=1"}, "--drop must be 2 or more"},
        {{"replay", "e", "--shuffle=x"}, "--shuffle"},
        {{"replay", "e", "--cluster", "--to=http://x"}, "--cluster excludes --to"},
        {{"replay", "e", "--shuffle=1", "--speed=1"}, "--speed"},
        {{"explain"}, "TENANT"},
        {{"explain", "acme"}, "TENANT is \"acme\"; expected the namespace and the name of a Kro"},
        {{"explain", "team-a/acme", "--output=html"}, "expected text or json"}};
    for (auto const& [arguments, part] : rows) {
        auto const settings = read(arguments);
        ASSERT_FALSE(settings) << part;
        EXPECT_EQ(settings.error().status, 2) << part;
        EXPECT_TRUE(contains(settings.error().text, part)) << settings.error().text;
    }
}

TEST(Settings, SayWhoIsExplained) {
    Settings const settings = read({"explain", "team-a/acme", "--output", "json", "--kubeconfig", "p.yaml"}).value();
    EXPECT_EQ(settings.command, kro::Command::Explain);
    EXPECT_EQ(settings.explain.tenant, (kro::Tenant{"team-a", "acme"}));
    EXPECT_EQ(settings.explain.output, kro::OutputForm::JsonLines);
    EXPECT_EQ(settings.kubeconfig, "p.yaml");
}

TEST(Settings, SayWhereEventsAreRecorded) {
    EXPECT_EQ(read({}).value().record.file, "");
    EXPECT_EQ(read({"serve", "--record", "/a/events.jsonl"}).value().record.file, "/a/events.jsonl");
    kro::RecordSettings const record = read({}, {{"KRO_RECORD", "/a/events.jsonl"},
                                                 {"KRO_RECORD_MAX_SIZE", "3Mi"},
                                                 {"KRO_RECORD_MAX_AGE", "90m"},
                                                 {"KRO_RECORD_KEEP", "0"}})
                                           .value()
                                           .record;
    EXPECT_EQ(record.file, "/a/events.jsonl");
    EXPECT_EQ(record.max_size, 3U << 20U);
    EXPECT_EQ(record.max_age, std::chrono::minutes{90});
    EXPECT_EQ(record.keep, 0U);
    EXPECT_EQ(read({}).value().record.max_size, 64U << 20U);
    EXPECT_EQ(read({}).value().record.max_age, std::chrono::hours{24});
    EXPECT_EQ(read({}).value().record.keep, 8U);
}

TEST(Settings, TakeSizesAsTheyAreWritten) {
    for (auto const& [text, size] : std::map<std::string, std::uintmax_t>{
             {"0", 0}, {"4096", 4096}, {"1KiB", 1024}, {"64MiB", std::uintmax_t{64} << 20U}, {"2Gi", std::uintmax_t{2} << 30U}}) {
        EXPECT_EQ(read({"--record-max-size=" + text}).value().record.max_size, size) << text;
    }
    for (auto const* text : {"", "MiB", "-1", "1.5Mi", "64MB", "64 MiB", "iB", "99999999999999999999", "99999999999999Gi"}) {
        auto const refused = read({"--record-max-size=" + std::string{text}});
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().status, 2);
    }
}

TEST(Settings, NameTheArchiveOfARecorder) {
    Settings const settings = read({"record", "/a/events.jsonl"}).value();
    EXPECT_EQ(settings.command, kro::Command::Record);
    EXPECT_EQ(settings.record.file, "/a/events.jsonl");
    EXPECT_EQ(read({"record"}, {{"KRO_RECORD", "/b"}}).value().record.file, "/b");
    auto const refused = read({"record"});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(contains(refused.error().text, "kro-function record PATH"));
}

TEST(Settings, KeepThePingSourceInStepUnlessToldOtherwise) {
    EXPECT_EQ(read({}).value().ping_source, "kro-function-resync");
    EXPECT_EQ(read({}, {{"PING_SOURCE", ""}}).value().ping_source, "");
}

struct BadPort {
    std::string name;
    std::string port;
};

class UnusablePort : public testing::TestWithParam<BadPort> {};

TEST_P(UnusablePort, EndsTheProgramWithOneLine) {
    auto const settings = read({}, {{"PORT", GetParam().port}});
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().status, 2);
    EXPECT_TRUE(contains(settings.error().text, "PORT")) << settings.error().text;
    EXPECT_EQ(settings.error().text.find('\n'), settings.error().text.size() - 1) << settings.error().text;
}

INSTANTIATE_TEST_SUITE_P(, UnusablePort,
                         testing::Values(BadPort{"Letters", "abc"}, BadPort{"TooLarge", "70000"}, BadPort{"Empty", ""},
                                         BadPort{"Negative", "-1"}, BadPort{"TrailingText", "80a"}, BadPort{"Space", " 80"},
                                         BadPort{"Hexadecimal", "0x50"}),
                         [](auto const& row) { return row.param.name; });

TEST(Settings, AreTakenAsThePlatformStartsAProvider) {
    Settings const settings =
        read({"serve", "--environment=dev", "--verbosity=debug", "--provider-name=kro", "--metrics-bind-address=:8080",
              "--metrics-secure=false", "--leader-elect=true", "--port=8081"},
             {{"POD_NAME", "p"}, {"POD_NAMESPACE", "providers"}, {"POD_IP", "10.0.0.1"}})
            .value();
    EXPECT_EQ(settings.environment, "dev");
    EXPECT_EQ(settings.verbosity, Verbosity::Debug);
    EXPECT_EQ(settings.metrics_port, 8080);
    EXPECT_EQ(settings.port, 8081);
    EXPECT_EQ(settings.namespace_, "providers");
}

TEST(Settings, TakeTheVerbosityInAnyCase) {
    for (auto const* text : {"DEBUG", "debug", "Debug"})
        EXPECT_EQ(read({"--verbosity", text}).value().verbosity, Verbosity::Debug);
    EXPECT_EQ(read({"--verbosity=ERROR"}).value().verbosity, Verbosity::Error);
}

TEST(Settings, SayWhereTheKrosLive) {
    EXPECT_EQ(read({"--onboarding=platform"}).value().onboarding, Settings::Onboarding::Platform);
    Settings const file = read({"--onboarding", "/etc/onboarding.yaml"}).value();
    EXPECT_EQ(file.onboarding, Settings::Onboarding::File);
    EXPECT_EQ(file.onboarding_kubeconfig, "/etc/onboarding.yaml");
}

TEST(Settings, RefuseValuesByTheNameThatTheyCameFrom) {
    for (auto const& [flag, value] : Variables{{"--verbosity", "LOUD"},
                                               {"--workers", "0"},
                                               {"--workers", "many"},
                                               {"--event-budget", "soon"},
                                               {"--metrics-bind-address", "here"},
                                               {"--metrics-secure", "true"},
                                               {"--onboarding", ""},
                                               {"--provider-name", ""}}) {
        auto const settings = read({flag + "=" + value});
        ASSERT_FALSE(settings) << flag;
        EXPECT_EQ(settings.error().status, 2) << flag;
        EXPECT_TRUE(contains(settings.error().text, flag)) << settings.error().text;
    }
    auto const budget = read({}, {{"EVENT_BUDGET", "10ms"}});
    ASSERT_FALSE(budget);
    EXPECT_TRUE(contains(budget.error().text, "EVENT_BUDGET")) << budget.error().text;
}

TEST(Settings, RefuseAnUnknownFlag) {
    auto const settings = read({"--no-such-flag"});
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().status, 2);
    EXPECT_TRUE(contains(settings.error().text, "no-such-flag")) << settings.error().text;
}

TEST(Settings, RefuseAnUnknownCommand) {
    auto const settings = read({"dance"});
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().status, 2);
}

TEST(Help, IsNoError) {
    auto const settings = read({"--help"});
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().status, 0);
    EXPECT_TRUE(contains(settings.error().text, "--port"));
    EXPECT_TRUE(contains(settings.error().text, "PORT"));
}

TEST(Settings, KnowTheVersionCommand) { EXPECT_EQ(read({"version"}).value().command, kro::Command::Version); }

}  // namespace
