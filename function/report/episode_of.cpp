#include "function/report/episode_of.hpp"

#include "events/knative.hpp"
#include "function/tenant/kinds.hpp"

#include <map>

namespace kro {
namespace {

using k8s::Json;
using k8s::Request;

/// The latest that is known of each object on its way through a report.
class Known {
  public:
    explicit Known(std::map<Target, Seen> const& given) {
        for (auto const& [target, seen] : given) {
            if (seen.present()) note(target, seen.object);
        }
    }

    Json const& before(Target const& target) const {
        static Json const nothing;
        auto const found = objects_.find(target);
        return found == objects_.end() ? nothing : *found->second;
    }

    void note(Target const& target, Json const& object) {
        if (target.key.name.empty()) {
            for (auto const& item : k8s::items_of(object)) objects_[{target.cluster, target.resource, k8s::key_of(item)}] = &item;
            return;
        }
        objects_[target] = &object;
    }
    void forget(Target const& target) { objects_.erase(target); }

  private:
    std::map<Target, Json const*> objects_;
};

Target target_of(Exchange const& exchange) {
    Request const& request = exchange.contents->request;
    k8s::ObjectKey key = request.key;
    if (request.verb == Request::Verb::Create && key.name.empty()) key = k8s::key_of(request.body);
    return {exchange.cluster, request.resource, std::move(key)};
}

std::string redacted(std::string const& text, Redactor const* redactor) {
    return redactor != nullptr ? redactor->redacted(text) : text;
}

Json redacted(Json object, Redactor const* redactor, std::string_view kind = {}) {
    if (redactor != nullptr) redactor->redact(object, kind);
    return object;
}

bool is_assumed(Json const& object) { return k8s::annotation_of(object, kAssumedAnnotation) == "true"; }

std::string found(Exchange const& exchange, Redactor const* redactor) {
    if (exchange.error) return exchange.error->is_absence() ? "absent" : redacted(exchange.error->message, redactor);
    if (exchange.contents && is_assumed(exchange.contents->answer)) return "assumed";
    if (!exchange.contents || exchange.contents->request.verb != Request::Verb::List) return "present";
    std::size_t const count = k8s::items_of(exchange.contents->answer).size();
    return std::to_string(count) + (count == 1 ? " item" : " items");
}

Episode::Look look_of(Exchange const& exchange, Redactor const* redactor) {
    bool const failed = exchange.error && !exchange.error->is_absence();
    return {exchange.cluster, exchange.subject, found(exchange, redactor), failed};
}

/// A removal has no differences: all of the object would be one.
Episode::Change change_of(Exchange const& exchange, Known const& known, Redactor const* redactor) {
    Episode::Change change{exchange.cluster, exchange.request, exchange.subject, exchange.why, {}, {}};
    if (exchange.error) change.error = redacted(exchange.error->message, redactor);
    if (!exchange.contents || exchange.error || exchange.contents->request.verb == Request::Verb::Delete) return change;
    Target const target = target_of(exchange);
    change.differences = differences(redacted(known.before(target), redactor, target.resource.kind),
                                     redacted(exchange.contents->answer, redactor, target.resource.kind));
    return change;
}

Episode::Round round_of(Round const& round, Known& known, Redactor const* redactor) {
    Episode::Round told;
    for (auto const& exchange : round) {
        if (exchange.write) {
            told.changes.push_back(change_of(exchange, known, redactor));
        } else {
            told.looks.push_back(look_of(exchange, redactor));
        }
        if (!exchange.contents || exchange.error) continue;
        if (exchange.contents->request.verb == Request::Verb::Delete) {
            known.forget(target_of(exchange));
        } else {
            known.note(target_of(exchange), exchange.contents->answer);
        }
    }
    return told;
}

/// The status that the Kro had before anything was written; null where it was not looked at.
Json const& first_status(Report const& report) {
    static Json const nothing;
    auto const is_kro = [&](Target const& target) { return target.resource.kind == kKros.kind && !target.key.name.empty(); };
    for (auto const& [target, seen] : report.given) {
        if (is_kro(target) && seen.present()) return base::member(seen.object, "status");
    }
    for (auto const& round : report.rounds) {
        for (auto const& exchange : round) {
            if (!exchange.contents || exchange.error || exchange.write || !is_kro(target_of(exchange))) continue;
            return base::member(exchange.contents->answer, "status");
        }
    }
    return nothing;
}

Episode::Part part_of(Finding const& finding, Redactor const* redactor) {
    Episode::Part part = kro::part_of(finding.report, redactor);
    part.tenant = to_string(finding.tenant);
    if (finding.done == Finding::Done::Sent) part.outcome.why = "handed on as an event";
    return part;
}

std::string_view name_of(events::ObjectEvent::Change change) {
    switch (change) {
        case events::ObjectEvent::Change::Added: return "added";
        case events::ObjectEvent::Change::Updated: return "updated";
        case events::ObjectEvent::Change::Deleted: return "deleted";
    }
    std::abort();
}

}  // namespace

Episode::Part part_of(Report const& report, Redactor const* redactor) {
    Episode::Part part;
    if (report.tenant) part.tenant = to_string(*report.tenant);
    part.outcome = report.outcome;
    part.status = redacted(report.status, redactor);
    Known known{report.given};
    for (auto const& round : report.rounds) part.rounds.push_back(round_of(round, known, redactor));
    if (report.keep == Keep::Contents && !report.status.is_null())
        part.changes = differences(first_status(report), report.status);
    return part;
}

Episode episode_about(events::CloudEvent const& event) {
    Episode episode;
    episode.id = event.id;
    episode.source = event.source;
    episode.type = event.type;
    auto const meaning = events::meaning_of(event);
    if (auto const* about = meaning ? std::get_if<events::ObjectEvent>(&*meaning) : nullptr) {
        episode.change = name_of(about->change);
        episode.object = about->kind + " " + about->name;
    }
    return episode;
}

Episode episode_of(Handled const& handled, Redactor const* redactor) {
    Episode episode = episode_about(handled.event);
    episode.time = base::rfc3339_nano(handled.received);
    episode.whom = handled.whom.empty() ? "nobody" : handled.whom;
    episode.routed = handled.routed;
    episode.outcome = handled.report.outcome;
    episode.answer = answer_for(handled.report.outcome).status;
    episode.requests = handled.report.requests;
    episode.writes = handled.report.writes;
    if (handled.report.tenant || !handled.report.rounds.empty()) episode.parts.push_back(part_of(handled.report, redactor));
    for (auto const& finding : handled.findings) episode.parts.push_back(part_of(finding, redactor));
    return episode;
}

}  // namespace kro
