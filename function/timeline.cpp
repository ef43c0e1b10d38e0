#include "function/timeline.hpp"

#include "k8s/condition.hpp"

#include <sstream>

namespace kro {
namespace {

std::string last_word(std::string const& type) {
    auto const dot = type.rfind('.');
    return dot == std::string::npos ? type : type.substr(dot + 1);
}

std::string time_of_day(base::Time now) { return base::rfc3339_nano(now).substr(11, 12); }

}  // namespace

std::string timeline_entry(events::CloudEvent const& event, std::string const& whom, Report const& report, base::Time now) {
    std::ostringstream out;
    out << time_of_day(now) << "  " << last_word(event.type);
    std::string const& kind = events::extension(event, "kind");
    if (!kind.empty()) out << " " << kind << " " << events::extension(event, "name");
    if (!whom.empty()) out << "  (" << whom << ")";
    out << "\n";
    int number = 0;
    for (auto const& round : report.rounds) {
        ++number;
        for (auto const& one : round) {
            out << "    " << number << "  " << name_of(one.cluster) << ": " << one.request;
            if (!one.why.empty()) out << "   # " << one.why;
            if (one.error && one.error->kind != k8s::Error::Kind::NotFound) out << "   ! " << one.error->message;
            out << "\n";
        }
    }
    out << "    => " << name_of(report.outcome.kind) << ": " << report.outcome.why << "\n";
    if (auto const ready = k8s::find_condition({{"status", report.status}}, "Ready")) {
        out << "    status: " << base::text_of(base::member(report.status, "phase")) << ", Ready=" << ready->status << ", " << ready->reason
            << ": " << ready->message << "\n";
    }
    out << "\n";
    return out.str();
}

}  // namespace kro
