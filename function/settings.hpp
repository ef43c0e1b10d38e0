#pragma once

#include "base/result.hpp"
#include "function/handle/log.hpp"
#include "function/handle/sink.hpp"
#include "function/record/record_settings.hpp"
#include "function/replay/replay_settings.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kro {

/// What the program is to do.
enum class Command { Serve, Record, Replay, Explain, Resync, Version };

/// Everything that comes from flags and environment, read once.
struct Settings {
    enum class Onboarding {
        Platform,   ///< the Kros live on the platform cluster itself
        Requested,  ///< the platform is asked for access (ClusterRequest, AccessRequest)
        File,       ///< `onboarding_kubeconfig`
    };

    Command command = Command::Serve;
    std::string provider_name = "kro";
    std::string environment;
    std::string namespace_ = "openmcp-system";  ///< POD_NAMESPACE, or the ServiceAccount's
    Verbosity verbosity = Verbosity::Info;
    std::uint16_t port = 8080;
    std::optional<std::uint16_t> metrics_port;  ///< none: `/metrics` is at `port`
    std::size_t workers = 16;
    std::chrono::milliseconds event_budget = std::chrono::seconds{25};

    std::string kubeconfig;  ///< of the platform cluster; "" means the cluster that this program runs in
    std::string service_host;
    std::string service_port;
    Onboarding onboarding = Onboarding::Requested;
    std::string onboarding_kubeconfig;
    std::string ping_source = "kro-function-resync";  ///< whose schedule follows pollInterval; "" for none
    SinkAddress sink;                                 ///< as a SinkBinding says; no url: none is bound
    std::size_t fan_out_above = 100;
    RecordSettings record;
    ReplaySettings replay;
    ExplainSettings explain;
    bool dry_run = false;   ///< resync says what it would do, and does nothing
    bool embedded = false;  ///< a control plane in memory in the place of every cluster
};

/// Where the environment is asked; none for a variable that is not set.
using Environment = std::function<std::optional<std::string>(std::string const& name)>;

/// What to do instead of running: print `text` and exit with `status`.
struct Exit {
    int status = 0;
    std::string text;
};

/// Reads the command line (without the program's name) and the environment. An unknown flag or a value that can't be used ends with
/// status 2 and a message that names it; `--help` with status 0.
base::Result<Settings, Exit> read_settings(std::vector<std::string> arguments, Environment const& environment);

inline constexpr char const* kProgramVersion = KRO_VERSION;

}  // namespace kro
