#include "function/timeline.hpp"

#include "k8s/condition.hpp"

#include <sstream>

namespace kro {
namespace {

constexpr std::string_view kIndent = "                ";

std::string last_word(std::string const& type) {
    auto const dot = type.rfind('.');
    return dot == std::string::npos ? type : type.substr(dot + 1);
}

std::string first_word(std::string const& text) { return text.substr(0, text.find(' ')); }

std::string time_of_day(base::Time now) { return base::rfc3339_nano(now).substr(11, 12); }

/// "Kro acme, ProviderConfig kro (none)": what a round of reads looked at.
std::string looked_at(Round const& round) {
    std::string text;
    for (auto const& one : round) {
        text += (text.empty() ? "" : ", ") + one.subject;
        if (!one.error) continue;
        text += one.error->kind == k8s::Error::Kind::NotFound ? " (none)" : " (! " + one.error->message + ")";
    }
    return text;
}

std::string wrote(Exchange const& one) {
    std::string text =
        first_word(one.request) + " " + one.subject + " on the " + std::string{name_of(one.cluster)} + ": " + one.why;
    if (one.error) text += " (! " + one.error->message + ")";
    return text;
}

}  // namespace

std::string timeline_entry(events::CloudEvent const& event, std::string const& whom, Report const& report, base::Time now) {
    std::ostringstream out;
    out << time_of_day(now) << "  " << last_word(event.type);
    std::string const& kind = events::extension(event, "kind");
    if (!kind.empty()) out << " " << kind << " " << events::extension(event, "name");
    if (!whom.empty()) out << "  (" << whom << ")";
    out << "\n";
    for (auto const& round : report.rounds) {
        if (round.empty()) continue;
        if (!round.front().write) {
            out << kIndent << "look at " << looked_at(round) << "\n";
            continue;
        }
        for (auto const& one : round) out << kIndent << wrote(one) << "\n";
    }
    out << kIndent << "=> " << name_of(report.outcome.kind) << ": " << report.outcome.why << "\n";
    if (auto const ready = k8s::find_condition({{"status", report.status}}, "Ready")) {
        out << kIndent << "status: " << base::text_of(base::member(report.status, "phase")) << ", Ready=" << ready->status << ", "
            << ready->reason << ", \"" << ready->message << "\"\n";
    }
    out << "\n";
    return out.str();
}

}  // namespace kro
