#include "function/handle/resync.hpp"

#include "function/handle/bounded_queue.hpp"
#include "function/handle/survey.hpp"
#include "function/reconcile/act.hpp"
#include "function/reconcile/observe.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/kro.hpp"
#include "function/tenant/provider_config.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;
using std::chrono::steady_clock;

/// Asked of the sender who is to come again for what is left.
constexpr std::chrono::seconds kSoon{1};

/// Whether the pass's own time is over, with a moment left to say so.
bool is_over(base::Deadline deadline) { return steady_clock::now() + std::chrono::milliseconds{500} >= deadline; }

std::string look_at(Target const& target) {
    std::string const name = target.key.name.empty() ? std::string{} : " " + target.key.name;
    return "look at " + std::string{target.resource.kind.empty() ? target.resource.group : target.resource.kind} + name +
           " on the " + std::string{name_of(target.cluster)};
}

std::vector<std::string> needs_of(Plan const& plan) {
    std::vector<std::string> needs;
    for (auto const& target : plan.reads) needs.push_back(look_at(target));
    for (auto const& step : plan.steps) needs.push_back(step.why);
    return needs;
}

/// The same for the same state of the same tenant, so that the same need sent twice is the same event.
std::string event_id(Observed const& observed) {
    std::string seen = to_string(observed.tenant);
    for (auto const& [target, one] : observed.seen) {
        if (target.resource == kProviderConfigs) {
            seen += "\n" + std::to_string(k8s::generation_of(one.object));
            continue;
        }
        seen += "\n" + k8s::uid_of(one.object) + " " + k8s::resource_version_of(one.object);
    }
    return stable_uuid(seen);
}

events::CloudEvent reconcile_event(Observed const& observed) {
    events::CloudEvent event;
    event.id = event_id(observed);
    event.source = "/kro-function/resync";
    event.type = kReconcileType;
    event.subject = to_string(observed.tenant);
    return event;
}

/// Secrets and the ConfigMap in the provider's own namespace that any of its settings names.
std::vector<Target> sources_of(ProviderConfig const& config, Provider const& provider) {
    std::vector<Target> targets;
    for (auto const& name : pull_secrets_of(config)) {
        targets.push_back({Cluster::Platform, k8s::kSecrets, {provider.namespace_, name}});
    }
    if (config.ca_bundle) targets.push_back({Cluster::Platform, k8s::kConfigMaps, {provider.namespace_, config.ca_bundle->name}});
    return targets;
}

/// Whether any tenant gets a copy in its namespace.
bool makes_copies(ProviderConfig const& config) {
    auto const names_one = [](Offer const& offer) { return !offer.chart_pull_secret.empty(); };
    return !config.image_pull_secret.empty() || config.ca_bundle ||
           (config.offers && std::any_of(config.offers->begin(), config.offers->end(), names_one));
}

}  // namespace

/// What one run knows.
class Resync::Pass {
  public:
    Pass(Resync const& resync, base::Time now, base::Deadline deadline)
        : context_(resync.context_), options_(resync.options_), hooks_(resync.hooks_), now_(now), deadline_(deadline) {
        report_.keep = context_.keep;
    }

    ~Pass() {
        queue_.close();
        end_threads();
    }
    Pass(Pass const&) = delete;
    Pass& operator=(Pass const&) = delete;

    Report run(Cause cause) {
        if (!look_at_config()) return std::move(report_);
        keep_schedule();
        bool const asked_for = operation_of(config().object) == Operation::Reconcile;
        if (cause == Cause::Tick && !asked_for && !is_due(schedule_, last_resync_of(config().object), now_)) {
            report_.outcome = {Outcome::Kind::Done, "no resync is due yet", std::nullopt};
            return std::move(report_);
        }
        look_at_tenants();
        if (report_.outcome.kind != Outcome::Kind::Retry) finish();
        return std::move(report_);
    }

  private:
    Target config_target() const { return {Cluster::Platform, kProviderConfigs, {{}, context_.provider.name}}; }
    Target ping_source_target() const {
        return {Cluster::Platform, kPingSources, {context_.provider.namespace_, options_.ping_source}};
    }
    Seen const& config() const { return shared_.seen.at(config_target()); }

    bool look_at_config() {
        std::vector<Target> targets{config_target()};
        if (!options_.ping_source.empty()) targets.push_back(ping_source_target());
        observe(context_.clusters, shared_, targets, deadline_, report_);
        if (config().failed() && k8s::may_pass(*config().error)) return fail(*config().error);
        auto read = read_provider_config(config().object);
        if (read) {
            settings_ = *std::move(read);
        } else if (config().present()) {
            findings_.config_fault = read.error();
        }
        if (auto const interval = poll_interval_of(settings_)) {
            schedule_ = schedule_for(*interval);
        } else {
            findings_.interval_fault = interval.error();
        }
        return true;
    }

    /// Ends the pass for now; whether that was no failure.
    bool fail(k8s::Error const& error) {
        report_.outcome = {Outcome::Kind::Retry, error.message, error.retry_after};
        return false;
    }

    /// The PingSource ticks as pollInterval says. One that can't be used leaves the schedule as it is.
    void keep_schedule() {
        if (options_.ping_source.empty() || !config().present()) return;
        Seen const& source = shared_.seen.at(ping_source_target());
        std::string const now = text_of(member(source.object, "spec", "schedule"));
        if (!findings_.interval_fault.empty() || !findings_.config_fault.empty()) {
            if (source.present() && !findings_.interval_fault.empty()) {
                findings_.interval_fault += "; PingSource " + options_.ping_source + " goes on with \"" + now + "\"";
            }
            return;
        }
        std::string const what = "PingSource " + k8s::to_string(ping_source_target().key);
        if (source.failed() && !source.error->type_not_served) {
            findings_.schedule_fault = what + " can't be looked at: " + source.error->message;
        }
        if (!source.present() || now == schedule_.cron || options_.mode == Mode::DryRun) return;
        Json patch = {
            {"metadata", {{"uid", k8s::uid_of(source.object)}, {"resourceVersion", k8s::resource_version_of(source.object)}}},
            {"spec", {{"schedule", schedule_.cron}}}};
        auto const error = write(k8s::merge_patch(kPingSources, ping_source_target().key, std::move(patch), kFieldManager),
                                 "tick as spec.pollInterval says");
        if (error) findings_.schedule_fault = what + " can't be given the schedule \"" + schedule_.cron + "\": " + error->message;
    }

    /// A write of the pass's own. Its failure, if it failed.
    std::optional<k8s::Error> write(k8s::Request request, std::string why) {
        Addressed const asked{Cluster::Platform, std::move(request)};
        auto answers = context_.clusters.send({&asked, 1}, nullptr, deadline_);
        Exchange exchange = exchange_of(asked, answers.front(), report_.keep);
        exchange.why = std::move(why);
        auto error = exchange.error;
        add_round(report_, {std::move(exchange)});
        if (answers.front().result) {
            Json const& object = *answers.front().result;
            report_.written.push_back(
                {k8s::path_of(asked.request.resource, asked.request.key), k8s::resource_version_of(object)});
        }
        return error;
    }

    // --- Tenants

    struct Work {
        Observed observed;
        std::vector<std::string> needs;
    };

    void look_at_tenants() {
        auto const sources = sources_of(settings_, context_.provider);
        if (!sources.empty()) observe(context_.clusters, shared_, sources, deadline_, report_);
        std::map<Target, Seen> shared = shared_.seen;
        shared.erase(ping_source_target());
        // A source that could not be asked is asked again by each tenant that needs it. That the ProviderConfig can't be read, each is told.
        std::erase_if(shared, [&](auto const& one) { return one.second.failed() && one.first != config_target(); });

        Survey survey{context_.clusters, std::move(shared),
                      makes_copies(settings_) ? Survey::Copies::Whole : Survey::Copies::Names, options_.page_size};
        Survey::Visitor visitor;
        visitor.counted = [&](std::size_t total) {
            total_ = total;
            hooks_.progress(0, total_);
        };
        visitor.tenant = [&](Observed& observed) { return look_at(observed); };
        visitor.orphan = [&](Tenant const& tenant) {
            Observed observed{tenant, context_.clusters.kros(), false, {}, std::nullopt, true};
            hand_over({std::move(observed), {"look whether its Kro is gone, and clean up after it"}});
        };
        auto const surveyed = survey.run(visitor, deadline_, report_);
        send_events();
        queue_.finish();
        end_threads();
        conclude(surveyed);
    }

    void end_threads() {
        for (auto& thread : threads_) thread.join();
        threads_.clear();
    }

    /// Whether there is time for another one.
    bool look_at(Observed& observed) {
        if (is_over(deadline_)) return false;
        Plan const plan = plan_for(observed, context_.provider, now_);
        ++looked_at_;
        hooks_.progress(looked_at_, total_);
        if (plan.reads.empty() && plan.steps.empty()) {
            Json const& kro =
                observed.seen.at({Cluster::Onboarding, observed.kros, {observed.tenant.namespace_, observed.tenant.name}}).object;
            std::lock_guard const lock{mutex_};
            findings_.tenants.add(text_of(member(kro, "status", "phase")));
            return true;
        }
        hand_over({observed, needs_of(plan)});
        return true;
    }

    void hand_over(Work work) {
        ++needy_;
        if (options_.mode == Mode::DryRun) {
            Finding finding{work.observed.tenant, work.observed.orphaned, std::move(work.needs), Finding::Done::Planned, {}};
            std::lock_guard const lock{mutex_};
            hooks_.found(finding);
            return;
        }
        if (hooks_.sink && sink_answers_ && needy_ > options_.fan_out_above && !work.observed.orphaned) {
            to_send_.push_back(std::move(work));
            // One goes ahead: a sink that waits for this very request to end is found out by one event, not by many.
            std::size_t const at_once = sent_ == 0 ? 1 : static_cast<std::size_t>(options_.parallel);
            if (to_send_.size() >= at_once) send_events();
            return;
        }
        reconcile_here(std::move(work));
    }

    void send_events() {
        if (to_send_.empty()) return;
        std::vector<Work> const batch = std::exchange(to_send_, {});
        std::vector<events::CloudEvent> events;
        for (auto const& work : batch) events.push_back(reconcile_event(work.observed));
        auto const taken = hooks_.sink(events, deadline_);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (!taken[i]) {
                sink_answers_ = false;
                reconcile_here(batch[i]);
                continue;
            }
            ++sent_;
            Finding const finding{batch[i].observed.tenant, false, batch[i].needs, Finding::Done::Sent, {}};
            std::lock_guard const lock{mutex_};
            findings_.tenants.add("");
            hooks_.found(finding);
        }
    }

    void reconcile_here(Work work) {
        if (threads_.size() < static_cast<std::size_t>(options_.parallel)) {
            threads_.emplace_back([this] {
                while (auto next = queue_.pop()) reconcile_one(*std::move(next));
            });
        }
        queue_.push(std::move(work));
    }

    void reconcile_one(Work work) {
        Finding finding{work.observed.tenant, work.observed.orphaned, std::move(work.needs), Finding::Done::Reconciled, {}};
        if (is_over(deadline_)) {
            finding.report.outcome = {Outcome::Kind::Retry, "no time was left for it", kSoon};
        } else {
            finding.report = hooks_.reconcile(std::move(work.observed), deadline_);
        }
        std::lock_guard const lock{mutex_};
        report_of_tenants_.requests += finding.report.requests;
        report_of_tenants_.writes += finding.report.writes;
        if (!finding.report.status.is_null()) findings_.tenants.add(text_of(member(finding.report.status, "phase")));
        if (finding.report.outcome.kind == Outcome::Kind::Retry) {
            ++left_;
            if (left_ == 1)
                first_left_ = {to_string(finding.tenant) + ": " + finding.report.outcome.why, finding.report.outcome.retry_after};
        }
        hooks_.found(finding);
    }

    void conclude(k8s::Result<void> const& surveyed) {
        report_.requests += report_of_tenants_.requests;
        report_.writes += report_of_tenants_.writes;
        if (!surveyed) {
            fail(surveyed.error());
            return;
        }
        std::size_t const unseen = total_ - looked_at_;
        std::string why = std::to_string(looked_at_) + " tenants looked at, " + std::to_string(needy_) + " in need of something";
        if (sent_ > 0) why += ", " + std::to_string(sent_) + " handed on as events";
        if (unseen + left_ == 0) {
            report_.outcome = {Outcome::Kind::Done, std::move(why), std::nullopt};
            return;
        }
        why += ", " + std::to_string(unseen + left_) + " left for another try";
        if (left_ > 0) why += "; " + first_left_.why;
        report_.outcome = {Outcome::Kind::Retry, std::move(why), left_ > 0 ? first_left_.retry_after : std::optional{kSoon}};
    }

    // --- The ProviderConfig

    void finish() {
        if (!config().present() || options_.mode == Mode::DryRun) return;
        Json const& object = config().object;
        Json status = desired_provider_status(object, findings_, now_);
        if (!provider_status_differs(object, status, schedule_, now_)) return take_request_off(object);
        Json body = {{"apiVersion", k8s::api_version(kProviderConfigs)},
                     {"kind", kProviderConfigs.kind},
                     {"metadata",
                      {{"name", k8s::name_of(object)},
                       {"uid", k8s::uid_of(object)},
                       {"resourceVersion", k8s::resource_version_of(object)}}},
                     {"status", std::move(status)}};
        // Where somebody has changed it meanwhile, their change is an event that leads to another pass.
        auto const error = write(k8s::apply_status(kProviderConfigs, std::move(body), kFieldManager), "say how the resync went");
        if (error && error->kind != k8s::Error::Kind::Conflict && error->kind != k8s::Error::Kind::NotFound) fail(*error);
        if (error) return;
        Json updated = object;
        updated["metadata"]["resourceVersion"] = report_.written.back().resource_version;
        take_request_off(updated);
    }

    void take_request_off(Json const& object) {
        if (operation_of(object) != Operation::Reconcile) return;
        Json patch = {{"metadata",
                       {{"uid", k8s::uid_of(object)},
                        {"resourceVersion", k8s::resource_version_of(object)},
                        {"annotations", {{kOperationAnnotation, nullptr}}}}}};
        auto const error = write(k8s::merge_patch(kProviderConfigs, config_target().key, std::move(patch), kFieldManager),
                                 "the request to reconcile has been met");
        if (error && error->kind != k8s::Error::Kind::NotFound) fail(*error);
    }

    struct Left {
        std::string why;
        std::optional<std::chrono::seconds> retry_after;
    };

    Context const& context_;
    Options const& options_;
    Hooks const& hooks_;
    base::Time now_;
    base::Deadline deadline_;
    Report report_;

    Observed shared_;
    ProviderConfig settings_{std::string{kDefaultChartUrl}, {}, std::string{kDefaultPollInterval}, {}, {}, {}};
    PollSchedule schedule_ = schedule_for(std::chrono::minutes{1});
    ProviderFindings findings_;

    std::size_t total_ = 0;
    std::size_t looked_at_ = 0;
    std::size_t needy_ = 0;
    std::size_t sent_ = 0;
    bool sink_answers_ = true;
    std::vector<Work> to_send_;

    BoundedQueue<Work> queue_{16};
    std::vector<std::thread> threads_;
    std::mutex mutex_;  ///< for what the threads write: below, findings_.tenants, and the hook
    Report report_of_tenants_;
    std::size_t left_ = 0;
    Left first_left_;
};

Report Resync::run(Cause cause, base::Time now, base::Deadline deadline) { return Pass{*this, now, deadline}.run(cause); }

}  // namespace kro
