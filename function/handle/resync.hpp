#pragma once

#include "function/handle/route.hpp"
#include "function/handle/sink.hpp"
#include "function/reconcile/reconcile.hpp"
#include "function/tenant/provider_status.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kro {

/// What a resync made of one tenant that was not as it should be.
struct Finding {
    enum class Done {
        Reconciled,  ///< `report` says how that went
        Sent,        ///< as an event to the sink
        Planned,     ///< nothing, in a dry run
    };
    Tenant tenant;
    bool orphaned = false;           ///< its Kro is gone
    std::vector<std::string> needs;  ///< why each first step, or "look at ..." where more must be known before
    Done done = Done::Reconciled;
    Report report;
};

/// Looks at every tenant in one pass (Survey), decides by the same plan as for a single event, and acts on those whose plan is not empty: by
/// itself while they are few, and, where a sink is bound, as one event per tenant to it from there on.
///
/// Along the way it keeps the PingSource's schedule to the ProviderConfig's pollInterval, and says in the ProviderConfig's status how it
/// went. What it could not finish in time is told as Retry; what was done by then has an empty plan the next time.
class Resync {
  public:
    enum class Mode { Act, DryRun };
    struct Options {
        Mode mode = Mode::Act;
        int parallel = 8;                 ///< tenants at a time, and events at a time
        std::size_t fan_out_above = 100;  ///< so many are reconciled here before the sink gets the rest
        int page_size = 500;              ///< at most so many objects of a list at a time
        std::string ping_source = {};     ///< in the provider's namespace; "" for none to keep in step
    };
    struct Hooks {
        /// Reconciles one tenant, beginning with what was observed. Called from several threads.
        std::function<Report(Observed, base::Deadline)> reconcile;
        /// Told of every tenant that needed something, one at a time.
        std::function<void(Finding const&)> found = [](Finding const&) {};
        /// How many Kros have been looked at, of how many.
        std::function<void(std::size_t done, std::size_t total)> progress = [](std::size_t, std::size_t) {};
        Sink sink = nullptr;
    };
    using Cause = ForEveryone::Cause;  ///< a tick counts only where a resync is due

    Resync(Context const& context, Options options, Hooks hooks)
        : context_(context), options_(std::move(options)), hooks_(std::move(hooks)) {}

    /// One pass. The report has the sums of its own requests and of all tenants'; `rounds` has its own alone.
    Report run(Cause cause, base::Time now, base::Deadline deadline);

  private:
    class Pass;

    Context context_;
    Options options_;
    Hooks hooks_;
};

}  // namespace kro
