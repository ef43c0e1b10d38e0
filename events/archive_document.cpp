#include "events/archive_document.hpp"

#include "events/json_format.hpp"
#include "events/media_type.hpp"

#include <algorithm>
#include <charconv>

namespace events {
namespace {

using base::member;
using base::text_of;

constexpr std::string_view kKubectlSource = "/kubectl/watch";
constexpr std::string_view kList = "List";

void add_unreadable(std::string reason, Place const& place, std::deque<ArchiveEntry>& entries) {
    entries.emplace_back(Unreadable{place, std::move(reason)});
}

void add_event(base::Result<CloudEvent, Malformed> event, Place const& place, std::deque<ArchiveEntry>& entries) {
    if (event) {
        entries.emplace_back(stored(std::move(event).value(), place));
    } else {
        add_unreadable(to_string(event.error()), place, entries);
    }
}

bool is_object(Json const& json) {
    return member(json, "apiVersion").is_string() && member(json, "kind").is_string() && member(json, "metadata").is_object();
}

bool is_list(Json const& json) {
    return member(json, "apiVersion").is_string() && text_of(member(json, "kind")).ends_with(kList) &&
           member(json, "items").is_array();
}

/// Source: meta/v1 WatchEvent.
bool is_watch_event(Json const& json) { return member(json, "type").is_string() && member(json, "object").is_object(); }

/// As Knative guesses it: meta.UnsafeGuessKindToResource.
std::string guessed_plural(std::string kind) {
    kind = lower_case(kind);
    if (kind.ends_with('s')) return kind + "es";
    if (kind.ends_with('y')) return kind.substr(0, kind.size() - 1) + "ies";
    return kind + "s";
}

/// What an ApiServerSource would have sent about the object; `change` is "add", "update" or "delete".
base::Result<CloudEvent, Malformed> object_event(Json object, std::string const& change) {
    std::string const api_version = text_of(member(object, "apiVersion"));
    std::string const kind = text_of(member(object, "kind"));
    std::string const name = text_of(member(object, "metadata", "name"));
    std::string const namespace_ = text_of(member(object, "metadata", "namespace"));
    if (name.empty()) return refused("metadata.name", "of the object is missing");
    std::string const state = text_of(member(object, "metadata", "resourceVersion"));
    Attributes attributes{
        {"specversion", "1.0"},
        {"id", lower_case(kind) + "/" + (namespace_.empty() ? "" : namespace_ + "/") + name + "@" + state + "/" + change},
        {"source", std::string{kKubectlSource}},
        {"type", "dev.knative.apiserver.resource." + change},
        {"subject", "/apis/" + api_version + "/namespaces/" + namespace_ + "/" + guessed_plural(kind) + "/" + name},
        {"datacontenttype", "application/json"},
        {"apiversion", api_version},
        {"kind", kind},
        {"name", name},
        {"namespace", namespace_},
    };
    CloudEvent event = TRY(event_of(std::move(attributes)));
    event.data = std::move(object);
    return event;
}

void add_list(Json list, Place const& place, std::deque<ArchiveEntry>& entries) {
    std::string kind = text_of(member(list, "kind"));
    kind.resize(kind.size() - kList.size());
    for (auto& item : list["items"]) {
        // The items of a typed list do not say what they are.
        if (item.is_object() && !kind.empty()) {
            if (!item.contains("kind")) item["kind"] = kind;
            if (!item.contains("apiVersion")) item["apiVersion"] = member(list, "apiVersion");
        }
        if (is_object(item)) {
            add_event(object_event(std::move(item), "add"), place, entries);
        } else {
            add_unreadable("an item of the list is no Kubernetes object", place, entries);
        }
    }
}

void add_watch_event(Json event, Place const& place, std::deque<ArchiveEntry>& entries) {
    std::string const type = text_of(member(event, "type"));
    std::string const change = type == "ADDED" ? "add" : type == "MODIFIED" ? "update" : type == "DELETED" ? "delete" : "";
    if (type == "BOOKMARK") return;  // says how far the watch has come, and of no object
    if (type == "ERROR") return add_unreadable("the watch ended with an error of the API server", place, entries);
    if (change.empty()) return add_unreadable("a watch event of another type than ADDED, MODIFIED and DELETED", place, entries);
    if (!is_object(event["object"])) return add_unreadable("the object of a watch event is none of Kubernetes'", place, entries);
    add_event(object_event(std::move(event["object"]), change), place, entries);
}

bool looks_like_event(Json const& json) {
    Json const& one = json.is_array() && !json.empty() ? json.front() : json;
    return one.is_object() && one.contains("specversion");
}

/// A member's name as it may stand in a message.
bool is_plain(std::string_view name) {
    return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// What is wrong with a document that has an event somewhere inside; "" where it has none.
std::string wrapper_fault(Json const& json) {
    for (auto const& [name, value] : json.items()) {
        bool const text = value.is_string() && value.get_ref<std::string const&>().find("\"specversion\"") != std::string::npos;
        if (!text && !looks_like_event(value)) continue;
        std::string const path = is_plain(name) ? "." + name : ".[\"...\"]";
        return "is a wrapper: the CloudEvent is " + std::string{text ? "a text " : ""} + "inside of " +
               (is_plain(name) ? "\"" + name + "\"" : "one of its members") + "; take it out first, as jq -c '" + path +
               (text ? " | fromjson" : "") + "' does";
    }
    return "";
}

std::optional<std::string> taken(CloudEvent& event, std::string_view name) {
    auto const found = event.extensions.find(name);
    if (found == event.extensions.end()) return std::nullopt;
    return std::move(event.extensions.extract(found).mapped());
}

}  // namespace

StoredEvent stored(CloudEvent event, Place place) {
    StoredEvent one;
    if (!event.extensions.empty()) {
        if (auto const time = taken(event, kRecordedTime)) one.received = base::parse_rfc3339(*time);
        if (auto const status = taken(event, kRecordedStatus)) {
            std::from_chars(status->data(), status->data() + status->size(), one.status);
        }
        one.outcome = taken(event, kRecordedOutcome).value_or("");
        one.why = taken(event, kRecordedWhy).value_or("");
    }
    one.event = std::move(event);
    one.place = std::move(place);
    return one;
}

void add_document(Json document, Place const& place, std::deque<ArchiveEntry>& entries) {
    if (document.contains("specversion")) return add_event(from_json(std::move(document)), place, entries);
    if (is_watch_event(document)) return add_watch_event(std::move(document), place, entries);
    if (is_list(document)) return add_list(std::move(document), place, entries);
    if (is_object(document)) return add_event(object_event(std::move(document), "update"), place, entries);
    if (std::string fault = wrapper_fault(document); !fault.empty()) return add_unreadable(std::move(fault), place, entries);
    add_unreadable("is no CloudEvent: specversion is missing", place, entries);
}

}  // namespace events
