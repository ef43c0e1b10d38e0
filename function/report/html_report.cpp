#include "function/report/html_report.hpp"

#include "base/base64.hpp"
#include "function/report/report_page.hpp"
#include "function/tenant/kinds.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kro {
namespace {

using k8s::Json;

/// So much JSON is collected before it is written: one block, which the page reads when an event of it is opened.
constexpr std::size_t kBlockSize = std::size_t{256} * 1024;

/// What may not stand in a script element, and the JSON that means the same; all of it is in strings. kRisky has the first bytes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEscapes{
    {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}}};
constexpr char kRisky[] = "<>&\xe2";

/// The kinds that have a lane in a tenant's timeline.
constexpr std::array kLanes{kKros.kind, kAccessRequests.kind, kOciRepositories.kind, kHelmReleases.kind};

/// Source: CSP Level 3, section 2.3.1: 'sha256-...' of the element's text.
std::string hash_source(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
    std::string bytes(digest.begin(), digest.begin() + size);
    return "'sha256-" + base::encode_base64(bytes) + "'";
}

std::string policy() {
    return "default-src 'none'; script-src " + hash_source(kReportJs) + "; style-src " + hash_source(kReportCss) +
           "; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'";
}

/// The page's frame, up to or after the place where the data goes, with what belongs into its other places.
std::string frame(std::string_view part) {
    std::array<std::pair<std::string_view, std::string>, 3> const places{
        {{"{{policy}}", policy()}, {"{{style}}", std::string{kReportCss}}, {"{{script}}", std::string{kReportJs}}}};
    std::string text{part};
    for (auto const& [place, value] : places) {
        if (auto const at = text.find(place); at != std::string::npos) text.replace(at, place.size(), value);
    }
    return text;
}

constexpr std::string_view kDataPlace = "{{data}}";

std::string before_data() { return frame(kReportHtml.substr(0, kReportHtml.find(kDataPlace))); }
std::string after_data() { return frame(kReportHtml.substr(kReportHtml.find(kDataPlace) + kDataPlace.size())); }

std::string block(std::string_view name, std::string_view json) {
    return "<script type=\"application/json\" class=\"" + std::string{name} + "\">" + std::string{json} + "</script>\n";
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

std::optional<std::string_view> lane_of(std::string_view subject) {
    auto const lane = std::find(kLanes.begin(), kLanes.end(), first_word(subject));
    return lane == kLanes.end() ? std::nullopt : std::optional{*lane};
}

Json const& ready_condition(Json const& status) {
    static Json const none;
    for (auto const& condition : base::member(status, "conditions")) {
        if (base::text_of(base::member(condition, "type")) == "Ready") return condition;
    }
    return none;
}

/// What became of the objects that have lanes: "absent", "deleted", "present", or the phase that the Kro's status gives them.
Json objects_of(Episode::Part const& part) {
    Json objects = Json::object();
    auto const put_state = [&](std::string const& subject, std::string_view state) {
        if (auto const lane = lane_of(subject)) objects[std::string{*lane}] = state;
    };
    for (auto const& round : part.rounds) {
        for (auto const& look : round.looks) {
            if (!look.failed) put_state(look.subject, look.found == "absent" ? "absent" : "present");
        }
        for (auto const& change : round.changes) {
            if (change.error.empty()) put_state(change.subject, first_word(change.request) == "delete" ? "deleted" : "present");
        }
    }
    for (auto const& resource : base::member(part.status, "resources")) {
        auto const object = objects.find(base::text_of(base::member(resource, "kind")));
        if (object != objects.end() && *object == "present") *object = base::text_of(base::member(resource, "phase"));
    }
    return objects;
}

/// What the Kro's status says of objects that are not Ready: the cause, in Flux's own words.
Json words_of(Json const& status) {
    Json words = Json::object();
    for (auto const& resource : base::member(status, "resources")) {
        if (base::text_of(base::member(resource, "phase")) == "Ready") continue;
        base::put_text(words, base::text_of(base::member(resource, "kind")), base::text_of(base::member(resource, "message")));
    }
    return words;
}

Json wrote_of(Episode::Part const& part) {
    Json kinds = Json::array();
    for (auto const& round : part.rounds) {
        for (auto const& change : round.changes) {
            if (auto const lane = lane_of(change.subject)) kinds.push_back(*lane);
        }
    }
    return kinds;
}

bool has_failure(Episode::Part const& part) {
    return std::any_of(part.rounds.begin(), part.rounds.end(), [](auto const& round) {
        return std::any_of(round.looks.begin(), round.looks.end(), [](auto const& look) { return look.failed; }) ||
               std::any_of(round.changes.begin(), round.changes.end(), [](auto const& change) { return !change.error.empty(); });
    });
}

Json row_of(Episode::Part const& part) {
    Json row = {{"tenant", part.tenant}, {"outcome", name_of(part.outcome.kind)}};
    Json const& ready = ready_condition(part.status);
    base::put_text(row, "phase", base::text_of(base::member(part.status, "phase")));
    base::put_text(row, "reason", base::text_of(base::member(ready, "reason")));
    base::put_text(row, "message", base::text_of(base::member(ready, "message")));
    base::put_text(row, "since", base::text_of(base::member(ready, "lastTransitionTime")));
    if (has_failure(part)) row["failed"] = true;
    if (Json words = words_of(part.status); !words.empty()) row["words"] = std::move(words);
    if (Json objects = objects_of(part); !objects.empty()) row["objects"] = std::move(objects);
    if (Json kinds = wrote_of(part); !kinds.empty()) row["wrote"] = std::move(kinds);
    return row;
}

/// What the page's lists, filters and timelines need of an event.
Json row_of(Episode const& episode) {
    Json row = {{"id", episode.id},
                {"outcome", name_of(episode.outcome.kind)},
                {"answer", episode.answer},
                {"requests", episode.requests},
                {"writes", episode.writes}};
    base::put_text(row, "time", episode.time);
    base::put_text(row, "where", episode.where);
    base::put_text(row, "type", episode.type);
    base::put_text(row, "change", episode.change);
    base::put_text(row, "object", episode.object);
    base::put_text(row, "whom", episode.whom);
    base::put_text(row, "why", episode.outcome.why);
    base::put_text(row, "recorded", episode.recorded);
    for (auto const& part : episode.parts) row["parts"].push_back(row_of(part));
    return row;
}

void append(std::string& list, Json const& value) {
    list += list.empty() ? "[" : ",\n";
    list += script_json(value);
}

}  // namespace

std::string script_json(Json const& value) {
    std::string const text = base::dump_json(value);
    std::string safe;
    safe.reserve(text.size());
    std::size_t begin = 0;
    for (auto at = text.find_first_of(kRisky); at != std::string::npos; at = text.find_first_of(kRisky, at + 1)) {
        std::string_view const rest = std::string_view{text}.substr(at);
        auto const escape =
            std::find_if(kEscapes.begin(), kEscapes.end(), [&](auto const& one) { return rest.starts_with(one.first); });
        if (escape == kEscapes.end()) continue;
        safe.append(text, begin, at - begin).append(escape->second);
        begin = at + escape->first.size();
    }
    return safe.append(text, begin);
}

HtmlReport::HtmlReport(std::ostream& out, ReplayHead const& head) : out_(out) {
    out_ << before_data() << block("head", script_json(to_json(head)));
}

void HtmlReport::add(Episode const& episode) {
    append(rows_, row_of(episode));
    append(episodes_, to_json(episode));
    if (episodes_.size() >= kBlockSize) flush();
}

void HtmlReport::finish(ReplaySummary const& summary) {
    flush();
    out_ << block("summary", script_json(to_json(summary))) << after_data() << std::flush;
}

void HtmlReport::flush() {
    if (rows_.empty()) return;
    out_ << block("rows", rows_ + "]") << block("episodes", episodes_ + "]");
    rows_.clear();
    episodes_.clear();
}

}  // namespace kro
