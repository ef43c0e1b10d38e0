#include "function/handle/handle.hpp"

#include "base/overloaded.hpp"
#include "function/handle/log.hpp"
#include "function/handle/pages.hpp"
#include "function/handle/resync.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/provider_config.hpp"

#include <algorithm>
#include <cstdlib>

namespace kro {
namespace {

using std::chrono::steady_clock;

/// So many are kept; a tenant's name and its namespace are some 150 bytes.
constexpr std::size_t kKnownNamespaces = 10'000;

Report ended(Outcome::Kind kind, std::string why) {
    Report report;
    report.outcome = {kind, std::move(why), std::nullopt};
    return report;
}

int severity(Outcome const& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::Done: return 0;
        case Outcome::Kind::Waiting: return 1;
        case Outcome::Kind::Rejected: return 2;
        case Outcome::Kind::Retry: return 3;
    }
    std::abort();
}

/// The answer for a batch: if one of its events needs another try, all of them come again; that does no harm to the others.
Outcome const& worse(Outcome const& left, Outcome const& right) { return severity(right) > severity(left) ? right : left; }

std::chrono::microseconds since(steady_clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start);
}

/// Whether any setting of the ProviderConfig names this Secret or ConfigMap.
bool names(k8s::Json const& provider_config, ForUsersOf const& used) {
    auto const config = read_provider_config(provider_config);
    if (!config) return true;
    if (used.kind == "ConfigMap") return config->ca_bundle && config->ca_bundle->name == used.name;
    return pull_secrets_of(*config).contains(used.name);
}

}  // namespace

HttpAnswer answer_for(Outcome const& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::Done:
        case Outcome::Kind::Waiting: return {204, std::nullopt, {}};
        case Outcome::Kind::Retry: return {503, outcome.retry_after, outcome.why};
        case Outcome::Kind::Rejected: return {400, std::nullopt, outcome.why};
    }
    std::abort();
}

EventHandler::EventHandler(Clusters& clusters, Provider provider, Options options, base::Clock clock, Metrics& metrics,
                           std::shared_ptr<spdlog::logger> logger)
    : clusters_(clusters),
      provider_(std::move(provider)),
      options_(std::move(options)),
      clock_(std::move(clock)),
      metrics_(metrics),
      logger_(std::move(logger)) {}

HttpAnswer EventHandler::handle(events::HttpMessage const& message) {
    auto const deadline = steady_clock::now() + options_.budget;
    auto const parsed = events::parse_http(message);
    if (!parsed) {
        std::string const reason = events::to_string(parsed.error());
        int const status = events::http_status(parsed.error());
        metrics_.request_refused(status);
        log_line(*logger_, spdlog::level::warn, clock_(), "not an event", {{"status", status}, {"why", reason}});
        return {status, std::nullopt, reason};
    }
    Outcome outcome{Outcome::Kind::Done, "no events", std::nullopt};
    for (auto const& event : *parsed) outcome = worse(outcome, answer_event(event, nullptr, deadline));
    return answer_for(outcome);
}

HttpAnswer EventHandler::handle(events::CloudEvent const& event, Route const* route) {
    return answer_for(answer_event(event, route, steady_clock::now() + options_.budget));
}

Outcome EventHandler::answer_event(events::CloudEvent const& event, Route const* route, base::Deadline deadline) {
    auto const start = steady_clock::now();
    Handled handled{event, clock_()};
    handled.report = route != nullptr ? run(handled, *route, deadline) : run(handled, deadline);
    log_event(handled, since(start));
    if (witness_) witness_(handled);
    return std::move(handled.report.outcome);
}

Report EventHandler::run(Handled& handled, base::Deadline deadline) {
    auto const way = route(handled.event, events::meaning_of(handled.event), provider_);
    return way ? run(handled, *way, deadline) : ended(Outcome::Kind::Rejected, way.error());
}

Report EventHandler::run(Handled& handled, Route const& route, base::Deadline deadline) {
    handled.whom = whom_of(route);
    handled.routed = why_of(route);
    return std::visit(base::Overloaded{[&](ForTenant const& one) { return run_tenant(one, deadline); },
                                       [&](ForNamespace const& one) { return run_namespace(handled, one, deadline); },
                                       [&](ForEveryone const& one) { return run_everyone(handled, one, deadline); },
                                       [&](ForUsersOf const& one) { return run_users_of(handled, one, deadline); },
                                       [&](ForNobody const& one) { return ended(Outcome::Kind::Done, "ignored: " + one.why); }},
                      route);
}

Report EventHandler::run_tenant(ForTenant const& one, base::Deadline deadline) {
    if (echo_.knows(one.object, one.resource_version)) return ended(Outcome::Kind::Done, std::string{kEcho});
    About const about = one.flux_object ? About::FluxObject : About::Anything;
    bool shared = true;
    auto report = turnstile_.pass(one.tenant, deadline, [&] {
        shared = false;
        Report done = reconcile(context(), one.tenant, about, clock_(), deadline);
        if (done.outcome.kind != Outcome::Kind::Retry) echo_.remember(done.written);
        return done;
    });
    if (!report) return ended(Outcome::Kind::Retry, "the tenant is still being brought up to date for an earlier event");
    report->shared = shared;
    return *std::move(report);
}

Report EventHandler::run_namespace(Handled& handled, ForNamespace const& one, base::Deadline deadline) {
    Report report;
    auto tenant = tenant_in(one.namespace_);
    if (!tenant) {
        auto const tenants = all_tenants(clusters_, deadline, report);
        if (!tenants) {
            report.outcome = {Outcome::Kind::Retry, tenants.error().message, tenants.error().retry_after};
            return report;
        }
        tenant = remember_namespaces(*tenants, one.namespace_);
        if (!tenant) {
            report.outcome = {Outcome::Kind::Done, "ignored: no tenant has the namespace " + one.namespace_, std::nullopt};
            return report;
        }
    }
    handled.whom = to_string(*tenant);
    return run_tenant({.tenant = *std::move(tenant), .flux_object = true}, deadline);
}

/// Whose `wanted` is.
std::optional<Tenant> EventHandler::remember_namespaces(std::vector<Tenant> const& tenants, std::string const& wanted) {
    std::optional<Tenant> found;
    std::lock_guard const lock{namespaces_mutex_};
    namespaces_.clear();
    for (auto const& tenant : tenants) {
        std::string namespace_ = tenant_namespace(tenant);
        if (namespace_ == wanted) found = tenant;
        if (namespaces_.size() < kKnownNamespaces) namespaces_.emplace(std::move(namespace_), tenant);
    }
    return found;
}

std::optional<Tenant> EventHandler::tenant_in(std::string const& namespace_) {
    std::lock_guard const lock{namespaces_mutex_};
    auto const known = namespaces_.find(namespace_);
    return known == namespaces_.end() ? std::nullopt : std::optional{known->second};
}

Report EventHandler::run_everyone(Handled& handled, ForEveryone const& route, base::Deadline deadline) {
    if (echo_.knows(route.object, route.resource_version)) return ended(Outcome::Kind::Done, std::string{kEcho});
    // A tick that comes while another pass goes on asks for nothing that this one does not do. A change may have come too late for it.
    auto const sharing = route.cause == ForEveryone::Cause::Tick ? Sharing::Running : Sharing::Next;
    bool shared = true;
    auto const pass = [&] {
        shared = false;
        return resync(handled, route, deadline);
    };
    auto report = everyone_.pass({}, deadline, pass, sharing);
    if (!report) return ended(Outcome::Kind::Retry, "every tenant is still being looked at for an earlier event");
    report->shared = shared;
    return *std::move(report);
}

Report EventHandler::resync(Handled& handled, ForEveryone const& route, base::Deadline deadline) {
    Resync::Hooks hooks;
    hooks.reconcile = [&](Observed observed, base::Deadline until) { return reconcile_seen(std::move(observed), until); };
    hooks.found = [&](Finding const& finding) {
        log_finding(handled.event.id, finding);
        if (witness_) handled.findings.push_back(finding);
    };
    hooks.sink = options_.sink;
    Report report = Resync{context(), options_.resync, std::move(hooks)}.run(route.cause, clock_(), deadline);
    echo_.remember(report.written);
    report.outcome.why = route.why + ": " + report.outcome.why;
    return report;
}

Report EventHandler::reconcile_seen(Observed observed, base::Deadline deadline) {
    Tenant const tenant = observed.tenant;
    auto report = turnstile_.pass(
        tenant, deadline,
        [&] {
            Report done = reconcile(context(), std::move(observed), clock_(), deadline);
            if (done.outcome.kind != Outcome::Kind::Retry) echo_.remember(done.written);
            return done;
        },
        Sharing::Nobody);
    if (!report) return ended(Outcome::Kind::Retry, "it is still being brought up to date for an earlier event");
    return *std::move(report);
}

void EventHandler::log_finding(std::string const& event_id, Finding const& finding) {
    Report const& report = finding.report;
    metrics_.requests_made(report);
    log_requests(event_id, report);
    bool const sent = finding.done == Finding::Done::Sent;
    // A tenant that was looked at more closely and needed nothing is no news.
    auto const level = report.outcome.kind == Outcome::Kind::Retry     ? spdlog::level::warn
                       : report.writes > 0 || sent || finding.orphaned ? spdlog::level::info
                                                                       : spdlog::level::debug;
    log_line(*logger_, level, clock_(), "tenant looked at",
             {{"event", event_id},
              {"kro", to_string(finding.tenant)},
              {"needs", finding.needs},
              {"outcome", sent ? "Sent" : name_of(report.outcome.kind)},
              {"why", sent ? "handed on as an event" : report.outcome.why},
              {"requests", report.requests},
              {"writes", report.writes}});
}

Report EventHandler::run_users_of(Handled& handled, ForUsersOf const& used, base::Deadline deadline) {
    Addressed const asked{Cluster::Platform, k8s::get(kProviderConfigs, {{}, provider_.name})};
    auto answers = clusters_.send({&asked, 1}, nullptr, deadline);
    auto const& config = answers.front().result;
    if (!config && config.error().is_absence()) {
        return ended(Outcome::Kind::Done, "ignored: there is no ProviderConfig that could name it");
    }
    if (!config) {
        Report report = ended(Outcome::Kind::Retry, config.error().message);
        report.outcome.retry_after = config.error().retry_after;
        return report;
    }
    if (!names(*config, used)) return ended(Outcome::Kind::Done, "ignored: the ProviderConfig does not name it");
    return run_everyone(handled, {.why = used.kind + " " + used.name + " changed"}, deadline);
}

void EventHandler::log_requests(std::string const& event_id, Report const& report) {
    if (!logger_->should_log(spdlog::level::debug)) return;
    base::Time const now = clock_();
    for (auto const& round : report.rounds) {
        for (auto const& one : round) {
            base::Json line = {{"event", event_id},
                               {"cluster", name_of(one.cluster)},
                               {"request", one.request},
                               {"result", one.error ? one.error->message : "ok"},
                               {"duration_ms", one.duration.count() / 1000}};
            if (!one.why.empty()) line["why"] = one.why;
            log_line(*logger_, spdlog::level::debug, now, "request", std::move(line));
        }
    }
}

void EventHandler::log_event(Handled const& handled, std::chrono::microseconds took) {
    events::CloudEvent const& event = handled.event;
    Report const& report = handled.report;
    base::Time const now = clock_();
    metrics_.event_answered(event.type, events::extension(event, "kind"), report, took, now);
    log_requests(event.id, report);
    auto const level = report.outcome.kind == Outcome::Kind::Retry || report.outcome.kind == Outcome::Kind::Rejected
                           ? spdlog::level::warn
                           : spdlog::level::info;
    if (!logger_->should_log(level)) return;
    log_line(*logger_, level, now, "event answered",
             {{"event", event.id},
              {"type", event.type},
              {"kro", handled.whom},
              {"outcome", name_of(report.outcome.kind)},
              {"why", report.outcome.why},
              {"requests", report.requests},
              {"writes", report.writes},
              {"duration_ms", took.count() / 1000}});
}

}  // namespace kro
