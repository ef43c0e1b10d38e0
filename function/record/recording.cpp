#include "function/record/recording.hpp"

#include "function/reconcile/outcome.hpp"
#include "function/record/recording_words.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>

namespace kro {
namespace {

using base::member;
using k8s::Error;
using Verb = k8s::Request::Verb;

/// Of a target; `verb` is what asks for it.
Json exchange_with(Cluster cluster, Verb verb, k8s::Resource const& resource, k8s::ObjectKey const& key) {
    Json exchange = {{"cluster", word_for(cluster, kClusterWords)}, {"verb", word_for(verb, kVerbWords)}};
    Json& type = exchange["resource"] = Json::object();
    base::put_text(type, "group", resource.group);
    base::put_text(type, "version", resource.version);
    base::put_text(type, "plural", resource.plural);
    base::put_text(type, "kind", resource.kind);
    base::put_text(exchange, "namespace", key.namespace_);
    base::put_text(exchange, "name", key.name);
    return exchange;
}

Json error_of(Error const& error) {
    Json json = {{"reason", word_for(error.kind, kErrorWords)}, {"message", error.message}};
    if (error.http_status != 0) json["status"] = error.http_status;
    if (error.type_not_served) json["typeNotServed"] = true;
    return json;
}

/// A list of metadata alone; the items of such a one say no `type`, which every Secret has.
bool is_partial(k8s::Resource const& resource, Json const& list) {
    Json const& items = k8s::items_of(list);
    return resource == k8s::kSecrets &&
           std::any_of(items.begin(), items.end(), [](Json const& item) { return !item.contains("type"); });
}

/// Items come as the server sends them, which does not say in each what it is.
Json whole_list(Json list, k8s::Resource const& resource) {
    auto const items = list.find("items");
    if (items == list.end() || resource.kind.empty()) return list;
    for (auto& item : *items) {
        if (!item.is_object()) continue;
        item["apiVersion"] = k8s::api_version(resource);
        item["kind"] = resource.kind;
    }
    return list;
}

void add_object(Json& exchange, k8s::Resource const& resource, Json const& object) {
    if (is_partial(resource, object)) exchange["partial"] = true;
    exchange["object"] = whole_list(object, resource);
}

Json to_json(Exchange const& one) {
    k8s::Request const& request = one.contents->request;
    Json exchange = exchange_with(one.cluster, request.verb, request.resource, request.key);
    base::put_text(exchange, "subresource", request.subresource);
    base::put_text(exchange, "labelSelector", request.label_selector);
    base::put_text(exchange, "why", one.why);
    if (!request.body.is_null()) exchange["body"] = request.body;
    if (request.contents == k8s::Request::Contents::Metadata) exchange["partial"] = true;
    if (one.error) {
        exchange["error"] = error_of(*one.error);
    } else {
        add_object(exchange, request.resource, one.contents->answer);
    }
    return exchange;
}

Json to_json(Target const& target, Seen const& seen) {
    Json exchange = exchange_with(target.cluster, target.key.name.empty() ? Verb::List : Verb::Get, target.resource, target.key);
    exchange["listed"] = true;
    if (seen.present()) add_object(exchange, target.resource, seen.object);
    if (seen.failed()) exchange["error"] = error_of(*seen.error);
    if (seen.absent()) exchange["error"] = {{"status", 404}, {"reason", word_for(Error::Kind::NotFound, kErrorWords)}};
    return exchange;
}

Json rounds_of(Report const& report) {
    Json rounds = Json::array();
    Json given = Json::array();
    for (auto const& [target, seen] : report.given) given.push_back(to_json(target, seen));
    if (!given.empty()) rounds.push_back(std::move(given));
    for (auto const& round : report.rounds) {
        Json exchanges = Json::array();
        for (auto const& one : round) {
            if (one.contents) exchanges.push_back(to_json(one));
        }
        if (!exchanges.empty()) rounds.push_back(std::move(exchanges));
    }
    return rounds;
}

void add_part(Json& parts, std::string tenant, Report const& report) {
    if (report.shared) {
        parts.push_back({{"tenant", std::move(tenant)}, {"shared", true}});
        return;
    }
    Json rounds = rounds_of(report);
    if (!rounds.empty()) parts.push_back({{"tenant", std::move(tenant)}, {"rounds", std::move(rounds)}});
}

}  // namespace

Json observed_data(Handled const& handled) {
    Json parts = Json::array();
    add_part(parts, handled.report.tenant ? to_string(*handled.report.tenant) : std::string{}, handled.report);
    for (auto const& finding : handled.findings) {
        if (finding.done == Finding::Done::Reconciled) add_part(parts, to_string(finding.tenant), finding.report);
    }
    if (parts.empty()) return nullptr;
    return {{"event", {{"id", handled.event.id}, {"source", handled.event.source}}}, {"parts", std::move(parts)}};
}

}  // namespace kro
