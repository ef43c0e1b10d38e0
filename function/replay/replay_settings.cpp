#include "function/replay/replay_settings.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace kro {
namespace {

using base::Failure;

Failure<std::string> bad_value(std::string const& flag, std::string const& value, std::string const& expected) {
    return Failure{flag + " is \"" + value + "\"; expected " + expected};
}

base::Result<OutputForm, std::string> form_of(std::string const& value, bool html) {
    if (value == "text") return OutputForm::Text;
    if (value == "json") return OutputForm::JsonLines;
    if (value == "html" && html) return OutputForm::Html;
    return bad_value("--output", value, html ? "text, json or html" : "text or json");
}

base::Result<Tenant, std::string> tenant_named(std::string const& flag, std::string const& value) {
    if (auto tenant = parse_tenant(value)) return *std::move(tenant);
    return bad_value(flag, value, "the namespace and the name of a Kro, like team-a/acme");
}

}  // namespace

/// The values as they are written, before any of them is understood.
struct ReplayCommands::Written {
    CLI::App* replay = nullptr;
    CLI::App* explain = nullptr;
    ReplaySettings settings = {};
    std::string until = {};
    std::string tenant = {};
    std::string output = "text";
    double speed = 0;
    std::uint64_t shuffle = 0;
    std::size_t drop = 0;
    std::string explained = {};
    std::string explained_output = "text";
};

ReplayCommands::ReplayCommands(CLI::App& app) : written_(std::make_unique<Written>()) {
    Written& to = *written_;
    to.replay = app.add_subcommand("replay", "Show step by step what archived events lead to, offline or as a dry run");
    CLI::App& replay = *to.replay;
    replay.footer(R"(
Ends with 0 when all was read and no event needs another try or was refused, with 1 otherwise, with 2 for flags that can't be used, and
with 130 when it was interrupted; what was done so far is told all the same.)");
    replay.add_option("ARCHIVE", to.settings.archives, "Files of CloudEvents, in any form that is recorded; - is standard input")
        ->required();
    replay.add_option("--state", to.settings.state, "A file or a folder of manifests: how things were before the first event");
    replay.add_option("--until", to.until, "Stop after the event of this id, or before the first one later than this time");
    replay.add_option("--tenant", to.tenant, "NAMESPACE/NAME: only events that concern this Kro");
    replay.add_option("--type", to.settings.type, "Only events of this type");
    auto* const speed = replay.add_option("--speed", to.speed, "Wait as long as it took then, divided by this; else not at all");
    auto* const shuffle = replay.add_option("--shuffle", to.shuffle,
                                            "In an order of chance that this number stands for; the last state of all holds");
    replay.add_flag("--duplicate", to.settings.duplicate, "Each event twice");
    auto* const drop = replay.add_option("--drop", to.drop, "Without one of every so many, and with a tick at the end");
    auto* const cluster = replay.add_flag("--cluster", to.settings.cluster,
                                          "On the real clusters, where every write is a dry run: what would be changed now");
    auto* const url =
        replay.add_option("--to", to.settings.to, "Post the events to the function at this URL, and tell its answers");
    replay.add_option("--output", to.output, "text, json (lines) or html")->capture_default_str();
    replay.add_flag("--summary", to.settings.summary, "The sums and the tenants alone");
    cluster->excludes(url);
    for (auto* const option : {shuffle, drop}) option->excludes(speed);

    to.explain =
        app.add_subcommand("explain", "Say what a Kro's state is on the real clusters, and what is done next; reads alone");
    to.explain->add_option("TENANT", to.explained, "NAMESPACE/NAME of the Kro")->required();
    to.explain->add_option("--output", to.explained_output, "text or json")->capture_default_str();
}

ReplayCommands::~ReplayCommands() = default;

bool ReplayCommands::asks_for_replay() const { return written_->replay->parsed(); }
bool ReplayCommands::asks_for_explanation() const { return written_->explain->parsed(); }

base::Result<ReplaySettings, std::string> ReplayCommands::replay() const {
    Written const& from = *written_;
    ReplaySettings settings = from.settings;
    settings.output = TRY(form_of(from.output, true));
    if (!from.tenant.empty()) settings.tenant = TRY(tenant_named("--tenant", from.tenant));
    settings.until_time = base::parse_rfc3339(from.until);
    if (!settings.until_time) settings.until = from.until;
    bool const paced = from.replay->count("--speed") > 0;
    if (paced && (!std::isfinite(from.speed) || from.speed <= 0)) return Failure{std::string{"--speed must be more than 0"}};
    settings.speed = from.speed;
    if (from.replay->count("--shuffle") > 0) settings.shuffle = from.shuffle;
    if (from.replay->count("--drop") > 0 && from.drop < 2) return Failure{std::string{"--drop must be 2 or more"}};
    settings.drop = from.drop;
    for (auto const* option : from.replay->get_options()) {
        if (option->count() == 0 || option->get_positional()) continue;
        std::string text = option->get_name();
        for (auto const& value : option->results()) text += option->get_items_expected_max() > 0 ? " " + value : "";
        settings.options.push_back(std::move(text));
    }
    return settings;
}

base::Result<ExplainSettings, std::string> ReplayCommands::explanation() const {
    ExplainSettings settings;
    settings.tenant = TRY(tenant_named("TENANT", written_->explained));
    settings.output = TRY(form_of(written_->explained_output, false));
    return settings;
}

}  // namespace kro
