#include "function/resync_command.hpp"

#include "base/text.hpp"
#include "function/open_clusters.hpp"
#include "function/report/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace kro {
namespace {

constexpr int kFailed = 1;
/// A command has no sender who would wait; what takes longer than this does not end.
constexpr std::chrono::hours kLongEnough{1};

std::string outcome_of(Finding const& finding) {
    switch (finding.done) {
        case Finding::Done::Planned: return "planned";
        case Finding::Done::Sent: return "sent as an event";
        case Finding::Done::Reconciled:
            return std::string{name_of(finding.report.outcome.kind)} + ": " + finding.report.outcome.why;
    }
    std::abort();
}

void print_findings(std::vector<Finding> findings, std::ostream& out) {
    if (findings.empty()) return;
    std::sort(findings.begin(), findings.end(), [](Finding const& a, Finding const& b) { return a.tenant < b.tenant; });
    std::vector<std::vector<std::string>> rows{{"NAMESPACE", "NAME", "NEEDS", "OUTCOME"}};
    for (auto const& finding : findings) {
        rows.push_back({finding.tenant.namespace_, finding.tenant.name, base::joined(finding.needs, "; "), outcome_of(finding)});
    }
    print_table(rows, out);
}

}  // namespace

int resync_command(Clusters& clusters, Settings const& settings, base::Clock const& clock, std::ostream& out, std::ostream& err,
                   Audience audience) {
    Provider const provider{.name = settings.provider_name, .namespace_ = settings.namespace_};
    Context const context{clusters, provider};
    Progress progress{err, audience};
    std::vector<Finding> findings;
    Resync::Hooks hooks;
    hooks.reconcile = [&](Observed observed, base::Deadline until) {
        return reconcile(context, std::move(observed), clock(), until);
    };
    hooks.found = [&](Finding const& finding) { findings.push_back(finding); };
    hooks.progress = [&](std::size_t done, std::size_t total) {
        if (!progress.is_due(done, total)) return;
        std::string const of = std::to_string(total) + " tenants";
        progress.show(done, total, std::to_string(done) + "/" + of, "looked at " + std::to_string(done) + " of " + of);
    };
    Resync::Options options;
    options.mode = settings.dry_run ? Resync::Mode::DryRun : Resync::Mode::Act;
    options.ping_source = settings.ping_source;

    auto const deadline = std::chrono::steady_clock::now() + kLongEnough;
    Report const report = Resync{context, options, std::move(hooks)}.run(Resync::Cause::Change, clock(), deadline);
    print_findings(std::move(findings), out);
    out << report.outcome.why << "; " << report.requests << " requests, " << report.writes << " of them writes" << std::endl;
    return report.outcome.kind == Outcome::Kind::Retry ? kFailed : 0;
}

int resync_command(Settings const& settings) {
    auto const clusters = open_clusters(settings);
    if (!clusters) {
        std::cerr << "kro-function: " << clusters.error().message << std::endl;
        return kFailed;
    }
    auto const audience = ::isatty(STDERR_FILENO) == 1 ? Audience::Person : Audience::Program;
    return resync_command(**clusters, settings, base::system_clock(), std::cout, std::cerr, audience);
}

}  // namespace kro
