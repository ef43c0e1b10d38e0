#include "function/replay/replay_tally.hpp"

namespace kro {
namespace {

/// Named one by one; of more there is only the count.
constexpr std::size_t kNamed = 20;

}  // namespace

void ReplayTally::add(Handled const& handled) {
    add(handled.report.outcome);
    summary_.requests += handled.report.requests;
    summary_.writes += handled.report.writes;
    if (handled.report.tenant) add(*handled.report.tenant, handled.report);
    for (auto const& finding : handled.findings) add(finding.tenant, finding.report);
}

void ReplayTally::add(Outcome const& outcome) {
    ++summary_.events;
    ++summary_.outcomes[outcome.kind];
}

void ReplayTally::add(Tenant const& tenant, Report const& report) {
    auto& row = tenants_[tenant];
    ++row.events;
    row.writes += report.writes;
    // Without a request nothing is known anew: an echo, or a tenant that was handed on.
    if (report.requests == 0) return;
    row.phase = base::text_of(base::member(report.status, "phase"));
    row.message.clear();
    row.since.clear();
    for (auto const& condition : base::member(report.status, "conditions")) {
        if (base::text_of(base::member(condition, "type")) != "Ready") continue;
        row.message = base::text_of(base::member(condition, "message"));
        row.since = base::text_of(base::member(condition, "lastTransitionTime"));
    }
}

void ReplayTally::add(events::Unreadable const& entry) {
    ++summary_.unreadable;
    if (summary_.unreadable_entries.size() < kNamed) {
        summary_.unreadable_entries.push_back({events::to_string(entry.place), entry.reason});
    }
}

bool ReplayTally::is_clean() const {
    return summary_.unreadable == 0 && !summary_.outcomes.contains(Outcome::Kind::Retry) &&
           !summary_.outcomes.contains(Outcome::Kind::Rejected);
}

ReplaySummary ReplayTally::summary(bool complete, std::function<bool(Tenant const&)> const& is_gone) const {
    ReplaySummary summary = summary_;
    summary.complete = complete;
    for (auto const& [tenant, row] : tenants_) {
        bool const gone = is_gone(tenant);
        summary.tenants.push_back({to_string(tenant), gone ? "" : row.phase, gone ? "gone" : row.message, gone ? "" : row.since,
                                   row.events, row.writes});
    }
    return summary;
}

}  // namespace kro
