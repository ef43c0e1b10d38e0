#include "function/resync_command.hpp"

#include "function/open_clusters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>

namespace kro {
namespace {

constexpr int kFailed = 1;
constexpr std::size_t kBarWidth = 40;
/// A command has no sender who would wait; what takes longer than this does not end.
constexpr std::chrono::hours kLongEnough{1};

/// How far it is.
class Progress {
  public:
    Progress(std::ostream& err, Audience audience) : err_(err), audience_(audience) {}

    void show(std::size_t done, std::size_t total) {
        std::size_t const tenth = total == 0 ? 0 : done * 10 / total;
        std::size_t const filled = total == 0 ? kBarWidth : done * kBarWidth / total;
        if (audience_ == Audience::Program) {
            if (done == 0 || tenth != shown_) err_ << "looked at " << done << " of " << total << " tenants" << std::endl;
            shown_ = tenth;
            return;
        }
        if (done != 0 && done != total && filled == shown_) return;
        shown_ = filled;
        err_ << "\r[" << std::string(filled, '#') << std::string(kBarWidth - filled, ' ') << "] " << done << "/" << total
             << " tenants" << std::flush;
        if (done == total) err_ << std::endl;
    }

  private:
    std::ostream& err_;
    Audience audience_;
    std::size_t shown_ = 0;
};

std::string outcome_of(Finding const& finding) {
    switch (finding.done) {
        case Finding::Done::Planned: return "planned";
        case Finding::Done::Sent: return "sent as an event";
        case Finding::Done::Reconciled:
            return std::string{name_of(finding.report.outcome.kind)} + ": " + finding.report.outcome.why;
    }
    std::abort();
}

std::string needs_of(Finding const& finding) {
    std::string text;
    for (auto const& need : finding.needs) text += (text.empty() ? "" : "; ") + need;
    return text;
}

void print_table(std::vector<Finding> findings, std::ostream& out) {
    if (findings.empty()) return;
    std::sort(findings.begin(), findings.end(), [](Finding const& a, Finding const& b) { return a.tenant < b.tenant; });
    using Row = std::array<std::string, 4>;
    std::vector<Row> rows{{"NAMESPACE", "NAME", "NEEDS", "OUTCOME"}};
    for (auto const& finding : findings) {
        rows.push_back({finding.tenant.namespace_, finding.tenant.name, needs_of(finding), outcome_of(finding)});
    }
    std::array<std::size_t, 4> widths{};
    for (auto const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), row.at(i).size() + 3);
    }
    for (auto const& row : rows) {
        std::string line;
        for (std::size_t i = 0; i + 1 < row.size(); ++i) line += row.at(i) + std::string(widths.at(i) - row.at(i).size(), ' ');
        out << line << row.back() << "\n";
    }
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
    hooks.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
    Resync::Options options;
    options.mode = settings.dry_run ? Resync::Mode::DryRun : Resync::Mode::Act;
    options.ping_source = settings.ping_source;

    auto const deadline = std::chrono::steady_clock::now() + kLongEnough;
    Report const report = Resync{context, options, std::move(hooks)}.run(Resync::Cause::Change, clock(), deadline);
    print_table(std::move(findings), out);
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
    return resync_command(
        **clusters, settings, [] { return std::chrono::system_clock::now(); }, std::cout, std::cerr, audience);
}

}  // namespace kro
