#include "function/record_command.hpp"

#include "base/base64.hpp"
#include "events/archive.hpp"
#include "function/record/recorder.hpp"
#include "function/record/recording.hpp"
#include "function/serve.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"
#include "tests/events/samples.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/full_disk.hpp"
#include "tests/support/raw_client.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <vector>

/// From events on the wire to what then stands in the archive.
namespace {

using base::member;
using base::text_of;
using component::Json;
using component::KeptLines;
using component::Pod;
using component::Simulation;
using events::StoredEvent;
using kro::Cluster;
using support::RawClient;
using namespace std::chrono_literals;

std::string const kCanary = "cAnAry7-Zq3$xW!";

kro::Tenant acme() { return support::tenant_named("acme"); }

std::string text_of_file(std::filesystem::path const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<StoredEvent> read(std::filesystem::path const& file) {
    std::vector<StoredEvent> events;
    for (events::ArchiveReader reader{{file.string()}}; auto entry = reader.next();) {
        auto* event = std::get_if<StoredEvent>(&*entry);
        EXPECT_NE(event, nullptr) << std::get<events::Unreadable>(*entry).reason;
        if (event != nullptr) events.push_back(std::move(*event));
    }
    return events;
}

/// Those that were recorded, without what was observed for them.
std::vector<StoredEvent> recorded(std::filesystem::path const& file) {
    auto events = read(file);
    std::erase_if(events, [](auto const& one) { return one.event.type == kro::kObservedType; });
    return events;
}

std::string on_the_wire(events::HttpMessage const& message) {
    std::string text = "POST / HTTP/1.1\r\nHost: x\r\n";
    for (auto const& [name, value] : message.headers) {
        if (name != "Content-Length" && name != "Host") text += name + ":" + value + "\r\n";
    }
    return text + "Content-Length: " + std::to_string(message.body.size()) + "\r\n\r\n" + message.body;
}

/// Whether a text shows the secret, or how it begins, as it is or in base64.
bool shows_canary(std::string const& text) {
    return text.find(kCanary.substr(0, 6)) != std::string::npos ||
           text.find(base::encode_base64(kCanary).substr(0, 8)) != std::string::npos;
}

/// A Secret as an ApiServerSource sends it.
events::HttpMessage secret_event() {
    Json const object = {{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", {{"name", "pull"}, {"namespace", "openmcp-system"}, {"resourceVersion", "7"}}},
                         {"data", {{"k", base::encode_base64(kCanary)}}}};
    return component::resource_event({k8s::Change::Kind::Updated, k8s::kSecrets, object});
}

// --- The command

/// Keeps log lines, and says at which port the program serves.
class Log final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    std::uint16_t port() { return port_.get_future().get(); }
    std::string text() {
        std::lock_guard const lock{mutex_};
        return text_;
    }

  private:
    void sink_it_(spdlog::details::log_msg const& message) override {
        std::string const line{message.payload.begin(), message.payload.end()};
        text_ += line + "\n";
        auto const port = base::integer_of(member(base::parse_json(line).value(), "port"));
        if (port != 0) port_.set_value(static_cast<std::uint16_t>(port));
    }
    void flush_() override {}

    std::promise<std::uint16_t> port_;
    std::string text_;
};

/// A command that serves until it is stopped.
class Running {
  public:
    using Command = int (*)(kro::Settings const&, std::shared_ptr<spdlog::logger>);
    Running(Command command, kro::Settings settings)
        : log_(std::make_shared<Log>()),
          settings_(std::move(settings)),
          ended_(std::async(std::launch::async,
                            [this, command] {
                                auto logger = std::make_shared<spdlog::logger>("test", log_);
                                logger->set_pattern("%v");
                                return command(settings_, logger);
                            })),
          port_(log_->port()) {}

    std::uint16_t port() const { return port_; }
    std::string log() const { return log_->text(); }
    /// As Kubernetes stops it. Returns the exit status.
    int stop() {
        std::raise(SIGTERM);
        return ended_.get();
    }

  private:
    std::shared_ptr<Log> log_;
    kro::Settings settings_;
    std::future<int> ended_;
    std::uint16_t port_;
};

kro::Settings settings_for(std::filesystem::path const& archive) {
    kro::Settings settings;
    settings.port = 0;
    settings.record.file = archive.string();
    return settings;
}

TEST(RecordCommand, KeepsEveryEventWithoutItsSecrets) {
    support::Folder const folder;
    Running program{kro::record_command, settings_for(folder / "events.jsonl")};
    RawClient client{program.port()};
    auto with_token = secret_event();
    with_token.headers.emplace_back("Authorization", "Bearer " + kCanary);
    with_token.headers.emplace_back("Ce-Authtoken", kCanary);
    EXPECT_EQ(client.ask(on_the_wire(with_token)).status, 204);
    EXPECT_EQ(client.ask(on_the_wire(sample("kro-add.http"))).status, 204);
    auto const two = events::parse_http(sample("kro-update.http")).value().at(0);
    EXPECT_EQ(client.ask(on_the_wire(events::to_batch({two, two}))).status, 204);
    EXPECT_EQ(client.ask(on_the_wire({{{"Content-Type", "application/json"}}, "{}"})).status, 400);
    EXPECT_EQ(client.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
    EXPECT_EQ(client.ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
    EXPECT_EQ(program.stop(), 0);

    auto const events = read(folder / "events.jsonl");
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[1].event, events::parse_http(sample("kro-add.http")).value().at(0));
    EXPECT_EQ(events[3].event, two);
    for (auto const& one : events) EXPECT_TRUE(one.received) << one.event.id;
    EXPECT_EQ(events[0].status, 0) << "it was answered by nobody who acts on it";
    EXPECT_EQ(events::extension(events[0].event, "name"), "pull");
    EXPECT_FALSE(shows_canary(text_of_file(folder / "events.jsonl")));
    EXPECT_FALSE(shows_canary(program.log()));
}

TEST(RecordCommand, GoesOnWithTheArchiveThatIsThere) {
    support::Folder const folder;
    folder.write("events.jsonl", R"({"specversion":"1.0","id":"old","source":"/x","type":"t"})"
                                 "\n{\"torn");
    Running program{kro::record_command, settings_for(folder / "events.jsonl")};
    RawClient client{program.port()};
    EXPECT_EQ(client.ask(on_the_wire(component::ping_event())).status, 204);
    EXPECT_EQ(program.stop(), 0);
    std::vector<std::string> entries;
    for (events::ArchiveReader reader{{(folder / "events.jsonl").string()}}; auto entry = reader.next();) {
        auto const* event = std::get_if<StoredEvent>(&*entry);
        entries.push_back(event == nullptr ? "?" : event->event.id);
    }
    EXPECT_EQ(entries, (std::vector<std::string>{"old", "?", "tick"}));
}

TEST(RecordCommand, DoesNotStartWhereTheArchiveCantBeWritten) {
    support::Folder const folder;
    auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<KeptLines>());
    EXPECT_EQ(kro::record_command(settings_for(folder / "none/events.jsonl"), logger), 1);
    folder.write("events.jsonl.key", "no key");
    EXPECT_EQ(kro::record_command(settings_for(folder / "events.jsonl"), logger), 1);
}

TEST(Serving, RecordsWhatItAnswers) {
    support::Folder const folder;
    auto settings = settings_for(folder / "events.jsonl");
    settings.embedded = true;
    testing::internal::CaptureStdout();
    Running program{kro::serve, settings};
    RawClient client{program.port()};
    for (auto const* name : {"1-provider-config-added", "2-acme-added", "4-acme-upgraded"}) {
        std::string const body = text_of_file(std::string{KRO_TEST_DATA "/demo/"} + name + ".json");
        EXPECT_EQ(client.ask(on_the_wire({{{"Content-Type", "application/cloudevents+json"}}, body})).status, 204);
    }
    auto const metrics = client.ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body;
    EXPECT_EQ(program.stop(), 0);
    testing::internal::GetCapturedStdout();

    EXPECT_NE(metrics.find("kro_function_recorded_events_total"), std::string::npos);
    auto const events = read(folder / "events.jsonl");
    ASSERT_GT(events.size(), 8U);
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
        if (events[i].event.type != kro::kObservedType) continue;
        EXPECT_EQ(events[i].event.subject, events[i + 1].event.id);
        EXPECT_EQ(events[i].received, events[i + 1].received);
    }
}

// --- The recorder

/// A simulation whose pod's events are recorded.
class Recorded {
  public:
    explicit Recorded(kro::Recorder::Options options = {}) {
        options.archive.file = archive();
        options.between_tries = 0ms;
        auto logger = std::make_shared<spdlog::logger>("test", log_);
        logger->set_pattern("%v");
        recorder_.emplace(std::move(options), base::system_clock(), metrics_, std::move(logger));
        kro::EventHandler::Options handling;
        handling.keep = kro::Keep::Contents;
        auto& world = simulation.world;
        simulation.pod = std::make_unique<Pod>(
            world.platform, world.onboarding,
            [&world](std::string const&) { return k8s::Result<kro::SharedApi>{world.control_plane}; }, world.clock(), handling);
        simulation.pod->handler().set_witness([this](kro::Handled const& handled) {
            if (recorder_) recorder_->record(handled);
        });
    }

    std::filesystem::path archive() const { return folder_ / "events.jsonl"; }
    support::Folder const& folder() const { return folder_; }
    std::string log() const {
        std::string text;
        for (auto const& line : log_->lines()) text += line + "\n";
        return text;
    }
    std::string metrics() const { return metrics_.text(); }
    kro::Recorder& recorder() { return *recorder_; }

    /// Ends when all is written.
    void finish() { recorder_.reset(); }

    Simulation simulation;

  private:
    support::Folder folder_;
    kro::Metrics metrics_;
    std::shared_ptr<KeptLines> log_ = std::make_shared<KeptLines>();
    std::optional<kro::Recorder> recorder_;
};

/// Every exchange of the archive, in its order.
std::vector<Json> exchanges(std::vector<StoredEvent> const& events) {
    std::vector<Json> all;
    for (auto const& one : events) {
        if (one.event.type != kro::kObservedType) continue;
        for (auto const& part : member(events::json_data(one.event), "parts")) {
            for (auto const& round : member(part, "rounds")) all.insert(all.end(), round.begin(), round.end());
        }
    }
    return all;
}

Json secretive_config() {
    return support::provider_config(
        {{"imagePullSecret", {{"name", "chart-pull"}}},
         {"values", {{"imagePullSecrets", {{{"name", "image-pull"}}}}, {"db", {{"password", kCanary}}}}}});
}

Json canary_secret(std::string const& name) {
    Json const auth = {{"auth", base::encode_base64("bob:" + kCanary)}, {"password", kCanary}};
    return support::secret(name, "kubernetes.io/dockerconfigjson",
                           {{".dockerconfigjson", base::dump_json({{"auths", {{"registry.test", auth}}}})}});
}

/// What the platform hands out for acme's control plane, with the canary as its token.
void give_canary_kubeconfig(Simulation& simulation) {
    Json secret = simulation.world.object(k8s::kSecrets, support::kubeconfig_key(acme()));
    ASSERT_TRUE(secret.is_object());
    secret["data"]["kubeconfig"] = base::encode_base64(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {name: a, cluster: {server: "
        "'https://a.test'}}\ncontexts:\n- {name: c, "
        "context: {cluster: a, user: u}}\nusers:\n- {name: u, user: {token: '" +
        kCanary + "'}}\n");
    simulation.world.put(std::move(secret));
}

TEST(Recorder, ShowsNoSecretOfATenantsWholeLife) {
    Recorded recorded;
    Simulation& simulation = recorded.simulation;
    simulation.world.put(secretive_config());
    for (auto const* name : {"chart-pull", "image-pull"}) simulation.create(canary_secret(name));
    simulation.create(support::kro_named("acme"));
    simulation.settle();
    give_canary_kubeconfig(simulation);
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.settle();
    simulation.deliver(secret_event());
    simulation.remove_kro("acme");
    simulation.settle();
    recorded.finish();

    auto const events = read(recorded.archive());
    EXPECT_GT(events.size(), 20U);
    EXPECT_FALSE(shows_canary(text_of_file(recorded.archive())));
    EXPECT_FALSE(shows_canary(recorded.log()));
    for (auto const& line : simulation.pod->lines()) EXPECT_FALSE(shows_canary(line)) << line;
    auto const all = exchanges(events);
    auto const is_secret_copy = [](Json const& one) {
        return text_of(member(one, "verb")) == "apply" && text_of(member(one, "resource", "kind")) == "Secret";
    };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), is_secret_copy), 2);
}

TEST(Recorder, HasEveryWriteInItsOrderWithItsReason) {
    Recorded recorded;
    Simulation& simulation = recorded.simulation;
    std::vector<std::string> expected;
    simulation.pod->handler().set_witness([&](kro::Handled const& handled) {
        recorded.recorder().record(handled);
        if (handled.report.shared) return;
        for (auto const& round : handled.report.rounds) {
            for (auto const& one : round) {
                if (one.write) expected.push_back(one.subject + ": " + one.why);
            }
        }
    });
    simulation.create(support::kro_named("acme"));
    simulation.settle();
    simulation.change_kro("acme", {{"spec", {{"version", "0.9.2"}}}});
    simulation.settle();
    recorded.finish();

    std::vector<std::string> written;
    for (auto const& one : exchanges(read(recorded.archive()))) {
        if (!one.contains("why")) continue;
        written.push_back(text_of(member(one, "resource", "kind")) + " " + text_of(member(one, "name")) + ": " +
                          text_of(one["why"]));
        EXPECT_TRUE(one.contains("object") != one.contains("error")) << one;
    }
    EXPECT_GT(written.size(), 6U);
    EXPECT_EQ(written, expected);
}

TEST(Recorder, SaysHowAnEventWasAnswered) {
    Recorded recorded;
    recorded.simulation.deliver(component::ping_event());
    recorded.finish();
    auto const events = ::recorded(recorded.archive());
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].event.id, "tick");
    EXPECT_EQ(events[0].status, 204);
    EXPECT_EQ(events[0].outcome, "Done");
    EXPECT_EQ(events[0].why, "a tick: 0 tenants looked at, 0 in need of something");
    EXPECT_EQ(events[0].received, recorded.simulation.world.now);
}

TEST(Recorder, HasAPartForEachTenantThatATickFoundInNeed) {
    Recorded recorded;
    Simulation& simulation = recorded.simulation;
    for (auto const* name : {"acme", "globex"}) simulation.create(support::kro_named(name));
    simulation.settle();
    for (auto const* name : {"acme", "globex"}) {
        simulation.remove(kro::kHelmReleases, support::helm_release_key(support::tenant_named(name)));
    }
    simulation.take_events();  // lost
    simulation.ping();
    recorded.finish();

    std::vector<std::string> tenants;
    bool listed = false;
    for (auto const& one : read(recorded.archive())) {
        if (one.event.subject != "tick" || one.event.type != kro::kObservedType) continue;
        for (auto const& part : member(events::json_data(one.event), "parts")) {
            tenants.push_back(text_of(part["tenant"]));
            listed = listed || (!tenants.back().empty() && member(part["rounds"][0][0], "listed") == Json(true));
        }
    }
    std::sort(tenants.begin(), tenants.end());
    EXPECT_EQ(tenants, (std::vector<std::string>{"", "project-a--ws-b/acme", "project-a--ws-b/globex"}));
    EXPECT_TRUE(listed) << "what the lists had told before";
}

TEST(Recorder, HarmsNoEventWhereTheDiskIsFullAndGoesOnAfterwards) {
    Recorded recorded;
    recorded.simulation.deliver(component::ping_event());
    auto const wait = [&](std::string const& metric) {
        while (recorded.metrics().find(metric) == std::string::npos) std::this_thread::yield();
    };
    wait("kro_function_recorded_events_total 1\n");
    {
        support::FullDisk const full{text_of_file(recorded.archive()).size() + 100};
        recorded.simulation.deliver(component::ping_event());
        recorded.simulation.deliver(component::ping_event());
        wait(R"(kro_function_unrecorded_events_total{reason="write failed"} 2)");
    }
    recorded.simulation.deliver(component::ping_event());
    recorded.finish();

    for (auto const& answer : recorded.simulation.answers) EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(::recorded(recorded.archive()).size(), 2U);
    std::string const log = recorded.log();
    auto const once = log.find(R"("msg":"events are not recorded","reason":"write failed")");
    EXPECT_NE(once, std::string::npos) << log;
    EXPECT_EQ(log.find("events are not recorded", once + 10), std::string::npos) << log;
    EXPECT_NE(log.find("No space left on device"), std::string::npos) << log;
    EXPECT_NE(log.find(R"("msg":"events are recorded again","lost":2)"), std::string::npos) << log;
}

TEST(Recorder, HarmsNoEventWhereTheFileCantBeWritten) {
    Recorded recorded;
    std::filesystem::create_directory(recorded.archive());
    recorded.simulation.deliver(component::ping_event());
    recorded.simulation.deliver(component::ping_event());
    recorded.finish();
    for (auto const& answer : recorded.simulation.answers) EXPECT_EQ(answer.status, 204);
    EXPECT_NE(recorded.metrics().find(R"(kro_function_unrecorded_events_total{reason="write failed"} 2)"), std::string::npos)
        << recorded.metrics();
    EXPECT_NE(recorded.log().find("can't be opened for writing: Is a directory"), std::string::npos) << recorded.log();
}

TEST(Recorder, LeavesOutWhatComesFasterThanItCanBeWritten) {
    kro::Recorder::Options options;
    options.queue_bytes = 1;
    Recorded recorded{options};
    events::CloudEvent event = events::parse_http(component::ping_event()).value().at(0);
    event.data = Json{{"text", std::string(std::size_t{1} << 20U, 'x')}};
    constexpr int kEvents = 100;
    for (int i = 0; i < kEvents; ++i) recorded.recorder().record(event, support::kNoon);
    recorded.finish();
    std::size_t const written = ::recorded(recorded.archive()).size();
    EXPECT_LT(written, kEvents);
    EXPECT_NE(recorded.metrics().find("kro_function_unrecorded_events_total{reason=\"queue full\"} " +
                                      std::to_string(kEvents - written)),
              std::string::npos)
        << recorded.metrics();
}

TEST(Recorder, BeginsNewFilesAsItIsTold) {
    kro::Recorder::Options options;
    options.archive.max_size = 1;
    options.archive.keep = 2;
    Recorded recorded{options};
    for (int i = 0; i < 5; ++i) recorded.simulation.deliver(component::ping_event());
    recorded.finish();
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator{recorded.folder().path()}) files += entry.is_regular_file();
    EXPECT_EQ(files, 4U) << "two full ones, the one that is written, the key";
}

}  // namespace
