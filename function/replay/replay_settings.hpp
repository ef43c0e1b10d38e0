#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "function/tenant/tenant.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kro {

/// What a replay or an explanation is written as.
enum class OutputForm { Text, JsonLines, Html };

/// What `kro-function replay` is asked for.
struct ReplaySettings {
    std::vector<std::string> archives;  ///< files; `-` for standard input
    std::string state;                  ///< a file or a folder of manifests: how things were before the first event; "" for none
    std::string until;                  ///< the id of the last event, ...
    std::optional<base::Time> until_time = std::nullopt;  ///< ... or the latest time
    std::optional<Tenant> tenant = std::nullopt;          ///< only events that concern this one
    std::string type;                                     ///< only events of this type; "" for all
    double speed = 0;                                     ///< real gaps divided by this; 0: no gaps
    std::optional<std::uint64_t> shuffle = std::nullopt;  ///< a seed
    bool duplicate = false;                               ///< each event twice
    std::size_t drop = 0;                                 ///< one of so many is left out; 0: none
    bool cluster = false;                                 ///< on the real clusters, with dry runs alone
    std::string to;                                       ///< the URL of a function that gets the events; "" for none
    OutputForm output = OutputForm::Text;
    bool summary = false;              ///< the sums alone
    std::vector<std::string> options;  ///< as they were given: "--tenant team-a/acme"

    /// Whether the order of the events, or which of them there are, is left to chance: then all of them must be known before.
    bool leaves_to_chance() const { return shuffle.has_value() || drop > 0; }
};

/// What `kro-function explain` is asked for.
struct ExplainSettings {
    Tenant tenant;
    OutputForm output = OutputForm::Text;
};

/// The two commands and their flags on a command line. Must live until it has been parsed.
class ReplayCommands {
  public:
    explicit ReplayCommands(CLI::App& app);
    ~ReplayCommands();
    ReplayCommands(ReplayCommands const&) = delete;
    ReplayCommands& operator=(ReplayCommands const&) = delete;

    bool asks_for_replay() const;
    bool asks_for_explanation() const;
    /// What was asked for. The error names the flag, what it was given and what was expected.
    base::Result<ReplaySettings, std::string> replay() const;
    base::Result<ExplainSettings, std::string> explanation() const;

  private:
    struct Written;
    std::unique_ptr<Written> written_;
};

}  // namespace kro
