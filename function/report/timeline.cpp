#include "function/report/timeline.hpp"

#include "k8s/condition.hpp"

namespace kro {
namespace {

constexpr std::string_view kIndent = "    ";
/// A value of a difference, which may be a whole CA bundle.
constexpr std::size_t kLongest = 160;

std::string last_word(std::string const& type) {
    auto const dot = type.rfind('.');
    return dot == std::string::npos ? type : type.substr(dot + 1);
}

std::string first_word(std::string const& text) { return text.substr(0, text.find(' ')); }

/// "2026-11-30T12:00:00.117Z": milliseconds are enough for a person.
std::string shortened(std::string const& time) {
    constexpr std::size_t kToMilliseconds = 23;
    return time.size() <= kToMilliseconds ? time : time.substr(0, kToMilliseconds) + "Z";
}

std::string cut(std::string const& value) {
    if (value.size() <= kLongest) return value;
    return base::cut_utf8(value, kLongest) + "... (" + std::to_string(value.size()) + " bytes)";
}

std::string line(std::string_view text) { return std::string{kIndent} + std::string{text} + "\n"; }

/// `+` came, `-` went, `~` changed.
std::string told(Difference const& difference) {
    if (difference.before.empty()) return "  + " + difference.field + ": " + cut(difference.after);
    if (difference.after.empty()) return "  - " + difference.field + ": " + cut(difference.before);
    return "  ~ " + difference.field + ": " + cut(difference.before) + " -> " + cut(difference.after);
}

/// "look at Kro acme, ProviderConfig kro (absent)"
std::string looked_at(std::vector<Episode::Look> const& looks) {
    std::string text;
    for (auto const& look : looks) {
        text += (text.empty() ? "look at " : ", ") + look.subject;
        if (look.failed) {
            text += " (! " + look.found + ")";
        } else if (look.found != "present") {
            text += " (" + look.found + ")";
        }
    }
    return text;
}

/// Told along with how the tenant's status is at the end.
bool is_about_status(Episode::Change const& change) {
    return change.subject.starts_with("Kro ") && change.request.find("/status ") != std::string::npos;
}

std::string told(Episode::Change const& change) {
    std::string text =
        line(first_word(change.request) + " " + change.subject + " on the " + std::string{name_of(change.cluster)} + ": " +
             change.why + (change.error.empty() ? "" : " (! " + change.error + ")"));
    if (is_about_status(change)) return text;
    for (auto const& difference : change.differences) text += line(told(difference));
    return text;
}

std::string told(Outcome const& outcome) { return "=> " + std::string{name_of(outcome.kind)} + ": " + outcome.why; }

std::string told_rounds(Episode::Part const& part) {
    std::string text;
    for (auto const& round : part.rounds) {
        if (!round.looks.empty()) text += line(looked_at(round.looks));
        for (auto const& change : round.changes) text += told(change);
    }
    return text;
}

std::string told_status(Episode::Part const& part) {
    std::string text;
    if (auto const ready = k8s::find_condition({{"status", part.status}}, "Ready")) {
        text += line("status: " + base::text_of(base::member(part.status, "phase")) + ", Ready=" + ready->status + ", " +
                     ready->reason + ", \"" + ready->message + "\"");
    }
    for (auto const& difference : part.changes) text += line(told(difference));
    return text;
}

}  // namespace

std::string timeline_of(Episode::Part const& part) { return told_rounds(part) + line(told(part.outcome)) + told_status(part); }

std::string timeline_entry(Episode const& episode) {
    std::string text = episode.time.empty() ? std::string{"-"} : shortened(episode.time);
    text += "  " + last_word(episode.type);
    if (!episode.object.empty()) text += " " + episode.object;
    text += "  (" + episode.whom + ")\n";
    if (!episode.where.empty()) text += line("from " + episode.where + ", id " + episode.id);
    if (!episode.routed.empty()) text += line("because " + episode.routed);
    bool const about_one = episode.parts.size() == 1 && episode.parts.front().tenant == episode.whom;
    for (auto const& part : episode.parts) {
        if (about_one || part.tenant.empty()) {
            text += told_rounds(part);
        } else {
            text += line("for " + part.tenant) + timeline_of(part);
        }
    }
    text += line(told(episode.outcome) + (episode.answer == 0 ? "" : "; answered " + std::to_string(episode.answer)));
    if (about_one) text += told_status(episode.parts.front());
    if (!episode.recorded.empty()) text += line("! " + episode.recorded);
    return text + "\n";
}

}  // namespace kro
