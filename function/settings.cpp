#include "function/settings.hpp"

#include "function/tenant/go_duration.hpp"
#include "k8s/credentials.hpp"
#include "k8s/kubeconfig.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <sstream>

namespace kro {
namespace {

constexpr int kUsage = 2;

constexpr char kFooter[] = R"(
Every flag can be given by the environment variable that stands behind it.

Examples:
  kro-function serve --embedded                      try it out, no cluster needed
  kro-function serve --kubeconfig platform.yaml --onboarding platform
  PORT=9000 kro-function                             as Knative starts it
  kro-function resync --dry-run --kubeconfig platform.yaml --onboarding platform
  kro-function record events.jsonl                   keep the events that others are to answer
  kro-function replay events.jsonl                   show step by step what they lead to, offline
  kro-function explain project-a--ws-dev/acme --kubeconfig platform.yaml --onboarding platform
)";

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// A port, 0 to 65535; 0 lets the system choose one.
std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

std::optional<std::size_t> parse_number(std::string_view text) {
    std::size_t number = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Bytes: `67108864`, `64MiB` or, as Kubernetes writes it, `64Mi`.
std::optional<std::uintmax_t> parse_size(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, unsigned>, 3> kUnits{{{"Ki", 10}, {"Mi", 20}, {"Gi", 30}}};
    if (text.ends_with("iB")) text.remove_suffix(1);
    unsigned shift = 0;
    for (auto const& [unit, bits] : kUnits) {
        if (!text.ends_with(unit)) continue;
        shift = bits;
        text.remove_suffix(unit.size());
        break;
    }
    auto const number = parse_number(text);
    if (!number || *number > (std::numeric_limits<std::uintmax_t>::max() >> shift)) return std::nullopt;
    return std::uintmax_t{*number} << shift;
}

/// `:8080` or `0.0.0.0:8080`, as metrics addresses are written; `0` switches metrics off.
std::optional<std::uint16_t> parse_bind_address(std::string_view text) {
    auto const colon = text.rfind(':');
    return colon == std::string_view::npos ? std::nullopt : parse_port(text.substr(colon + 1));
}

/// The values as they are written, before any of them is understood.
struct Written {
    std::string provider_name = "kro";
    std::string environment;
    std::string verbosity = "INFO";
    std::string namespace_;
    std::string port = "8080";
    std::string metrics_bind_address;
    std::string metrics_secure;
    std::string leader_elect;
    std::string workers = "16";
    std::string event_budget = "25s";
    std::string kubeconfig;
    std::string onboarding = "requested";
    std::string ping_source = "kro-function-resync";
    std::string sink;
    std::string fan_out_above = "100";
    std::string record;
    std::string record_max_size = "64MiB";
    std::string record_max_age = "24h";
    std::string record_keep = "8";
    bool embedded = false;
    bool dry_run = false;
};

/// One flag and its variable. A variable that is set to nothing counts as set: an empty PORT is a mistake, not a default.
class Flags {
  public:
    Flags(CLI::App& app, Environment const& environment) : app_(app), environment_(environment) {}

    void add(std::string const& flag, std::string const& variable, std::string& value, std::string const& help) {
        CLI::Option* option = app_.add_option("--" + flag, value, help + " [" + variable + "]");
        if (!value.empty()) option->default_str(value);
        pending_.push_back({option, variable, &value});
    }

    /// Fills in from the environment what no flag has said; the name that a value came from is kept for messages.
    void take_environment() {
        for (auto const& [option, variable, value] : pending_) {
            if (option->count() > 0) {
                came_from_[value] = option->get_name();
            } else if (auto const set = environment_(variable)) {
                *value = *set;
                came_from_[value] = variable;
            } else {
                came_from_[value] = option->get_name();
            }
        }
    }

    std::string origin(std::string const& value) const {
        auto const found = came_from_.find(&value);
        return found == came_from_.end() ? std::string{} : found->second;
    }

  private:
    struct Pending {
        CLI::Option* option;
        std::string variable;
        std::string* value;
    };
    CLI::App& app_;
    Environment const& environment_;
    std::vector<Pending> pending_;
    std::map<std::string const*, std::string> came_from_;
};

base::Failure<Exit> usage(std::string message) {
    return base::Failure{Exit{kUsage, "kro-function: " + std::move(message) + "\n"}};
}

base::Failure<Exit> bad_value(Flags const& flags, std::string const& value, std::string const& expected) {
    return usage(flags.origin(value) + " is \"" + value + "\"; expected " + expected);
}

base::Result<RecordSettings, Exit> understand_record(Written const& written, Flags const& flags) {
    RecordSettings record;
    record.file = written.record;
    auto const size = parse_size(written.record_max_size);
    if (!size) return bad_value(flags, written.record_max_size, "a size like 64MiB, or 0 for no limit");
    record.max_size = *size;
    auto const age = parse_go_duration(written.record_max_age);
    if (!age || age->count() < 0) return bad_value(flags, written.record_max_age, "a duration like 24h, or 0s for no limit");
    record.max_age = *age;
    auto const keep = parse_number(written.record_keep);
    if (!keep) return bad_value(flags, written.record_keep, "a number of files");
    record.keep = *keep;
    return record;
}

base::Result<Settings, Exit> understand(Written const& written, Flags const& flags, Environment const& environment) {
    Settings settings;
    settings.provider_name = written.provider_name;
    if (settings.provider_name.empty()) return bad_value(flags, written.provider_name, "a name");
    settings.environment = written.environment;
    settings.embedded = written.embedded;
    settings.dry_run = written.dry_run;

    std::map<std::string, Verbosity> const verbosities{
        {"debug", Verbosity::Debug}, {"info", Verbosity::Info}, {"error", Verbosity::Error}};
    auto const verbosity = verbosities.find(lower_case(written.verbosity));
    if (verbosity == verbosities.end()) return bad_value(flags, written.verbosity, "DEBUG, INFO or ERROR");
    settings.verbosity = verbosity->second;

    auto const port = parse_port(written.port);
    if (!port) return bad_value(flags, written.port, "a port from 0 to 65535");
    settings.port = *port;
    if (!written.metrics_bind_address.empty() && written.metrics_bind_address != "0") {
        settings.metrics_port = parse_bind_address(written.metrics_bind_address);
        if (!settings.metrics_port) return bad_value(flags, written.metrics_bind_address, "an address like :8080");
    }
    std::string const secure = lower_case(written.metrics_secure);
    if (!secure.empty() && secure != "false")
        return bad_value(flags, written.metrics_secure, "false: metrics are served as plain HTTP");

    auto const workers = parse_number(written.workers);
    if (!workers || *workers < 1 || *workers > 256) return bad_value(flags, written.workers, "a number from 1 to 256");
    settings.workers = *workers;
    auto const fan_out_above = parse_number(written.fan_out_above);
    if (!fan_out_above) return bad_value(flags, written.fan_out_above, "a number of tenants");
    settings.fan_out_above = *fan_out_above;

    auto const budget = parse_go_duration(written.event_budget);
    if (!budget || *budget < std::chrono::seconds{1})
        return bad_value(flags, written.event_budget, "a duration of at least 1s, like 25s");
    settings.event_budget = std::chrono::duration_cast<std::chrono::milliseconds>(*budget);

    settings.record = TRY(understand_record(written, flags));
    settings.ping_source = written.ping_source;
    settings.sink = {written.sink, environment("K_CA_CERTS").value_or(""), environment("K_CE_OVERRIDES").value_or("")};
    settings.kubeconfig = written.kubeconfig;
    settings.service_host = environment("KUBERNETES_SERVICE_HOST").value_or("");
    settings.service_port = environment("KUBERNETES_SERVICE_PORT").value_or("");
    if (written.onboarding == "platform") {
        settings.onboarding = Settings::Onboarding::Platform;
    } else if (written.onboarding == "requested") {
        settings.onboarding = Settings::Onboarding::Requested;
    } else if (written.onboarding.empty()) {
        return bad_value(flags, written.onboarding, "platform, requested, or a kubeconfig file");
    } else {
        settings.onboarding = Settings::Onboarding::File;
        settings.onboarding_kubeconfig = written.onboarding;
    }

    settings.namespace_ = written.namespace_;
    if (settings.namespace_.empty()) {
        auto const file = k8s::read_file(std::string{k8s::kServiceAccountFolder} + "/namespace", 4096);
        settings.namespace_ = file && !file->empty() ? *file : "openmcp-system";
    }
    return settings;
}

}  // namespace

base::Result<Settings, Exit> read_settings(std::vector<std::string> arguments, Environment const& environment) {
    CLI::App app{"kro-function: the event-driven service provider of openMCP for kro", "kro-function"};
    app.footer(kFooter);
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.add_subcommand("serve", "Answer CloudEvents over HTTP: Knative's entry point (default)");
    Written written;
    CLI::App* resync = app.add_subcommand("resync", "Look at every tenant once, as a tick does, and say what was found");
    resync->add_flag("--dry-run", written.dry_run, "Say what each tenant needs, and write nothing");
    CLI::App* record = app.add_subcommand("record", "Keep CloudEvents that come over HTTP in an archive, and do nothing else");
    std::string record_path;
    record->add_option("PATH", record_path, "The archive's file; else --record");
    ReplayCommands const replays{app};
    CLI::App* version = app.add_subcommand("version", "Print the version and stop");

    Flags flags{app, environment};
    flags.add("provider-name", "PROVIDER_NAME", written.provider_name, "The ProviderConfig's name that counts");
    flags.add("environment", "ENVIRONMENT", written.environment, "The name of the installation, for the platform");
    flags.add("verbosity", "VERBOSITY", written.verbosity, "DEBUG, INFO or ERROR");
    flags.add("namespace", "POD_NAMESPACE", written.namespace_,
              "Where the source secrets lie; else the ServiceAccount's, else openmcp-system");
    flags.add("port", "PORT", written.port, "Where events are taken, on all addresses");
    flags.add("metrics-bind-address", "METRICS_BIND_ADDRESS", written.metrics_bind_address,
              "Serve /metrics here, like :8081, and not at --port");
    flags.add("metrics-secure", "METRICS_SECURE", written.metrics_secure, "false; metrics are served as plain HTTP");
    flags.add("leader-elect", "LEADER_ELECT", written.leader_elect, "Taken and not needed: any number of pods may run at once");
    flags.add("workers", "WORKERS", written.workers, "Events that are handled at a time");
    flags.add("event-budget", "EVENT_BUDGET", written.event_budget,
              "How long one event may take before its sender is asked to try again");
    flags.add("kubeconfig", "KUBECONFIG", written.kubeconfig, "The platform cluster; else the cluster that this runs in");
    flags.add("onboarding", "ONBOARDING", written.onboarding,
              "Where the Kros live: platform, requested (from the platform), or a kubeconfig file");
    flags.add("ping-source", "PING_SOURCE", written.ping_source,
              "The PingSource in --namespace whose schedule follows the ProviderConfig's pollInterval; empty for none");
    flags.add("sink", "K_SINK", written.sink,
              "Where a resync sends one event per tenant when there are many; a SinkBinding sets it");
    flags.add("fan-out-above", "FAN_OUT_ABOVE", written.fan_out_above,
              "So many tenants in need are reconciled by a resync itself before the sink gets the rest");
    flags.add("record", "KRO_RECORD", written.record, "Write every answered event, without secrets, into this archive");
    flags.add("record-max-size", "KRO_RECORD_MAX_SIZE", written.record_max_size,
              "The archive's file is full with so many bytes; 0: never");
    flags.add("record-max-age", "KRO_RECORD_MAX_AGE", written.record_max_age, "... or after so long; 0s: never");
    flags.add("record-keep", "KRO_RECORD_KEEP", written.record_keep, "How many full files are kept");
    app.add_flag("--embedded", written.embedded, "A control plane in memory in the place of every cluster, to try it out");

    std::reverse(arguments.begin(), arguments.end());
    try {
        app.parse(arguments);
    } catch (CLI::ParseError const& error) {
        std::ostringstream out;
        std::ostringstream err;
        int const status = app.exit(error, out, err);
        return base::Failure{status == 0 ? Exit{0, out.str()} : Exit{kUsage, "kro-function: " + err.str()}};
    }
    flags.take_environment();
    if (!record_path.empty()) written.record = record_path;
    if (record->parsed() && written.record.empty()) return usage("record needs the archive's file: kro-function record PATH");
    Settings settings = TRY(understand(written, flags, environment));
    if (resync->parsed()) settings.command = Command::Resync;
    if (record->parsed()) settings.command = Command::Record;
    if (replays.asks_for_replay()) {
        auto replay = replays.replay();
        if (!replay) return usage(replay.error());
        settings.command = Command::Replay;
        settings.replay = *std::move(replay);
    }
    if (replays.asks_for_explanation()) {
        auto explanation = replays.explanation();
        if (!explanation) return usage(explanation.error());
        settings.command = Command::Explain;
        settings.explain = *std::move(explanation);
    }
    if (version->parsed()) settings.command = Command::Version;
    return settings;
}

}  // namespace kro
