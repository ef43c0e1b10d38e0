#include "function/replay/replay_printer.hpp"

#include "function/report/table.hpp"
#include "function/report/timeline.hpp"

#include <ostream>

namespace kro {
namespace {

void print_head(ReplayHead const& head, std::ostream& out) {
    out << head.title << "\n";
    if (!head.options.empty()) {
        out << " ";
        for (auto const& option : head.options) out << " " << option;
        out << "\n";
    }
    for (auto const& note : head.notes) out << "  " << note << "\n";
    out << "\n";
}

std::string plural(std::size_t count, std::string const& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void print_tenants(std::vector<ReplaySummary::Tenant> const& tenants, std::ostream& out) {
    if (tenants.empty()) return;
    std::vector<std::vector<std::string>> rows{{"TENANT", "PHASE", "SINCE", "EVENTS", "WRITES", "MESSAGE"}};
    for (auto const& tenant : tenants) {
        rows.push_back({tenant.tenant, tenant.phase, tenant.since, std::to_string(tenant.events), std::to_string(tenant.writes),
                        tenant.message});
    }
    print_table(rows, out);
}

void print_sums(ReplaySummary const& summary, std::ostream& out) {
    out << plural(summary.events, "event");
    char const* separator = ": ";
    for (auto const& [kind, count] : summary.outcomes) {
        out << separator << count << " " << name_of(kind);
        separator = ", ";
    }
    out << "; " << plural(summary.requests, "request") << ", " << summary.writes << " of them writes";
    if (summary.unreadable > 0) out << "; " << summary.unreadable << " in the archives that can't be read";
    if (!summary.complete) out << "; ended before the archives did";
    out << "\n";
}

}  // namespace

ReplayPrinter::ReplayPrinter(OutputForm form, std::ostream& out, ReplayHead const& head) : form_(form), out_(out) {
    switch (form_) {
        case OutputForm::Text: print_head(head, out_); return;
        case OutputForm::JsonLines: out_ << base::dump_json({{"head", to_json(head)}}) << "\n"; return;
        case OutputForm::Html: html_.emplace(out_, head); return;
    }
}

void ReplayPrinter::add(Episode const& episode) {
    switch (form_) {
        case OutputForm::Text: out_ << timeline_entry(episode); return;
        case OutputForm::JsonLines: out_ << base::dump_json({{"episode", to_json(episode)}}) << "\n"; return;
        case OutputForm::Html: html_->add(episode); return;
    }
}

void ReplayPrinter::finish(ReplaySummary const& summary) {
    switch (form_) {
        case OutputForm::Text:
            print_tenants(summary.tenants, out_);
            print_sums(summary, out_);
            for (auto const& note : summary.notes) out_ << note << "\n";
            break;
        case OutputForm::JsonLines: out_ << base::dump_json({{"summary", to_json(summary)}}) << "\n"; break;
        case OutputForm::Html: html_->finish(summary); break;
    }
    out_ << std::flush;
}

}  // namespace kro
