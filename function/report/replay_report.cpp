#include "function/report/replay_report.hpp"

#include <string_view>

namespace kro {
namespace {

using k8s::Json;

void put(Json& object, std::string_view name, std::vector<std::string> const& texts) {
    if (!texts.empty()) object[std::string{name}] = texts;
}

Json to_json(ReplaySummary::Tenant const& tenant) {
    Json object = {{"tenant", tenant.tenant}, {"events", tenant.events}, {"writes", tenant.writes}};
    base::put_text(object, "phase", tenant.phase);
    base::put_text(object, "message", tenant.message);
    base::put_text(object, "since", tenant.since);
    return object;
}

Json to_json(ReplaySummary::Unreadable const& entry) { return {{"where", entry.where}, {"why", entry.why}}; }

}  // namespace

Json to_json(ReplayHead const& head) {
    Json object = Json::object();
    base::put_text(object, "title", head.title);
    put(object, "archives", head.archives);
    put(object, "options", head.options);
    put(object, "notes", head.notes);
    return object;
}

Json to_json(ReplaySummary const& summary) {
    Json object = {{"events", summary.events},         {"requests", summary.requests}, {"writes", summary.writes},
                   {"unreadable", summary.unreadable}, {"complete", summary.complete}, {"outcomes", Json::object()}};
    for (auto const& [kind, count] : summary.outcomes) object["outcomes"][std::string{name_of(kind)}] = count;
    for (auto const& tenant : summary.tenants) object["tenants"].push_back(to_json(tenant));
    put(object, "notes", summary.notes);
    for (auto const& entry : summary.unreadable_entries) object["unreadableEntries"].push_back(to_json(entry));
    return object;
}

}  // namespace kro
