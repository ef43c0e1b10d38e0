#include "function/embedded/embedded.hpp"

#include "function/tenant/kinds.hpp"
#include "k8s/condition.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::string_view kUser = "user";
constexpr std::chrono::milliseconds kPumpPause{20};

/// What a user writes: everything but what the API server and the controllers add.
Json as_written_by_user(events::ObjectEvent const& event) {
    Json object = {{"apiVersion", event.api_version}, {"kind", event.kind}, {"metadata", {{"name", event.name}}}};
    if (!event.namespace_.empty()) object["metadata"]["namespace"] = event.namespace_;
    for (char const* field : {"labels", "annotations"}) {
        Json const& value = member(event.object, "metadata", field);
        if (!value.is_null()) object["metadata"][field] = value;
    }
    for (char const* field : {"spec", "data", "type"}) {
        Json const& value = member(event.object, field);
        if (!value.is_null()) object[field] = value;
    }
    return object;
}

std::string_view type_of(k8s::Change::Kind kind) {
    switch (kind) {
        case k8s::Change::Kind::Added: return "dev.knative.apiserver.resource.add";
        case k8s::Change::Kind::Updated: return "dev.knative.apiserver.resource.update";
        case k8s::Change::Kind::Deleted: return "dev.knative.apiserver.resource.delete";
    }
    std::abort();
}

/// The event that an ApiServerSource in mode Resource sends.
events::CloudEvent event_about(k8s::Change const& change, base::Time now) {
    events::CloudEvent event;
    event.id = "embedded-" + k8s::resource_version_of(change.object) + "-" + std::string{change.resource.plural};
    event.source = "https://embedded.invalid";
    event.type = type_of(change.kind);
    event.subject = k8s::path_of(change.resource, k8s::key_of(change.object));
    event.time = base::rfc3339_nano(now);
    event.datacontenttype = "application/json";
    event.extensions = {{"apiversion", k8s::api_version(change.resource)},
                        {"kind", std::string{change.resource.kind}},
                        {"name", k8s::name_of(change.object)},
                        {"namespace", k8s::namespace_of(change.object)}};
    event.data = change.object;
    return event;
}

bool is_watched(k8s::Change const& change) {
    constexpr std::array kWatched{kKros, kAccessRequests, kOciRepositories, kHelmReleases};
    return std::find(kWatched.begin(), kWatched.end(), change.resource) != kWatched.end();
}

std::string told_key(k8s::Resource const& resource, Json const& object) {
    return std::string{resource.plural} + "@" + k8s::resource_version_of(object);
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size() + 1), ' ');
    return text;
}

}  // namespace

Embedded::Embedded(base::Clock clock, std::string provider_namespace)
    : clock_(clock),
      onboarding_(std::make_shared<k8s::MemoryApi>(clock)),
      platform_(std::make_shared<k8s::MemoryApi>(clock)),
      control_plane_(std::make_shared<k8s::MemoryApi>(clock, k8s::MemoryOptions{.keep_changes = false})),
      stand_in_(*platform_, clock) {
    serve_onboarding_kinds(*onboarding_);
    serve_platform_kinds(*platform_);
    control_plane_->serve(kResourceGraphDefinitions);
    platform_->put(k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", provider_namespace}}}});
}

Embedded::~Embedded() { stop(); }

void Embedded::take(events::HttpMessage const& message) {
    auto const parsed = events::parse_http(message);
    if (!parsed) return;
    for (auto const& event : *parsed) {
        auto const meaning = events::meaning_of(event);
        if (!meaning) continue;
        if (auto const* about = std::get_if<events::ObjectEvent>(&*meaning)) carry_out(*about);
    }
}

void Embedded::carry_out(events::ObjectEvent const& event) {
    struct Place {
        k8s::Resource resource;
        k8s::MemoryApi* api;
    };
    std::array const places{Place{kKros, onboarding_.get()}, Place{kProviderConfigs, platform_.get()},
                            Place{k8s::kSecrets, platform_.get()}, Place{k8s::kConfigMaps, platform_.get()}};
    auto const place = std::find_if(places.begin(), places.end(), [&](Place const& one) {
        return one.resource.kind == event.kind && k8s::api_version(one.resource) == event.api_version;
    });
    if (place == places.end()) return;
    bool const deleted = event.change == events::ObjectEvent::Change::Deleted || k8s::is_being_deleted(event.object);
    if (deleted) {
        static_cast<void>(k8s::send_one(*place->api, k8s::remove(place->resource, {event.namespace_, event.name}, {}), {}));
        return;
    }
    if (event.object.is_null()) return;
    std::lock_guard const lock{told_mutex_};
    if (!event.namespace_.empty()) {
        Json const object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", event.namespace_}}}};
        static_cast<void>(k8s::send_one(*place->api, k8s::create(k8s::kNamespaces, object, kUser), {}));
    }
    auto const applied = k8s::send_one(*place->api, k8s::apply(place->resource, as_written_by_user(event), kUser), {});
    if (applied) told_.insert(told_key(place->resource, *applied));
}

bool Embedded::is_told(k8s::Change const& change) {
    std::lock_guard const lock{told_mutex_};
    return told_.erase(told_key(change.resource, change.object)) > 0;
}

void Embedded::start(Deliver deliver) {
    deliver_ = std::move(deliver);
    pump_ = std::thread{[this] { pump(); }};
}

void Embedded::stop() {
    stopping_ = true;
    if (pump_.joinable()) pump_.join();
}

void Embedded::pump() {
    while (!stopping_) {
        platform_->wait_for_changes(std::chrono::steady_clock::now() + kPumpPause);
        std::vector<k8s::Change> changes = platform_->take_changes();
        for (auto const& change : changes) stand_in_.react(change);
        for (auto& change : onboarding_->take_changes()) changes.push_back(std::move(change));
        for (auto const& change : changes) {
            if (is_watched(change) && !is_told(change)) deliver_(event_about(change, clock_()));
        }
    }
}

std::string Embedded::table() const {
    std::ostringstream out;
    auto const row = [&](std::array<std::string, 6> const& cells) {
        constexpr std::array<std::size_t, 5> kWidths{20, 12, 10, 14, 8};
        std::string line;
        for (std::size_t i = 0; i < kWidths.size(); ++i) line += padded(cells[i], kWidths[i]);
        out << line << cells[5] << "\n";
    };
    row({"NAMESPACE", "NAME", "VERSION", "PHASE", "READY", "MESSAGE"});
    auto const kros = onboarding_->all(kKros);
    for (auto const& kro : kros) {
        auto const ready = k8s::find_condition(kro, "Ready");
        row({k8s::namespace_of(kro), k8s::name_of(kro), text_of(member(kro, "spec", "version")),
             text_of(member(kro, "status", "phase")), ready ? ready->status : "", ready ? ready->message : ""});
    }
    out << kros.size() << " Kros\n";
    return out.str();
}

}  // namespace kro
