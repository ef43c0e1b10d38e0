#include "function/replay/replay_world.hpp"

#include "base/base64.hpp"
#include "function/embedded/stand_in.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/provider_config.hpp"

#include <functional>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;
using Verb = k8s::Request::Verb;

/// The versions of what is written here lie far from those of any API server, so that none is taken for another.
constexpr k8s::MemoryOptions kOptions{
    .kept_requests = 0, .keep_changes = false, .show_managed_fields = false, .last_version = 1'000'000'000'000'000};

Json namespace_named(std::string const& name) {
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

Json assumed_secret(k8s::ObjectKey const& key, std::string_view type, std::string const& data_key, std::string const& text) {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata",
             {{"name", key.name}, {"namespace", key.namespace_}, {"annotations", {{std::string{kAssumedAnnotation}, "true"}}}}},
            {"type", type},
            {"data", {{data_key, base::encode_base64(text)}}}};
}

Json assumed_bundle(k8s::ObjectKey const& key, std::string const& data_key) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata",
             {{"name", key.name}, {"namespace", key.namespace_}, {"annotations", {{std::string{kAssumedAnnotation}, "true"}}}}},
            {"data", {{data_key, "-----BEGIN CERTIFICATE-----\nassumed\n-----END CERTIFICATE-----\n"}}}};
}

std::string name_of(k8s::Resource const& resource, k8s::ObjectKey const& key) {
    return std::string{resource.kind} + " " + k8s::to_string(key);
}

bool is_absence(RecordedExchange const& exchange) { return exchange.error && exchange.error->is_absence(); }

}  // namespace

ReplayWorld::ReplayWorld(base::Clock clock, Provider provider)
    : clock_(std::move(clock)),
      provider_(std::move(provider)),
      onboarding_(open()),
      platform_(open()),
      clusters_(
          platform_, [this](base::Deadline) { return k8s::Result<SharedApi>{onboarding_}; },
          [this](std::string const& kubeconfig) { return connect(kubeconfig); }, Clusters::Sending::InTurn) {
    serve_onboarding_kinds(onboarding());
    serve_platform_kinds(platform());
    platform().put(k8s::kNamespaces, namespace_named(provider_.namespace_));
}

ReplayWorld::SharedReplayed ReplayWorld::open() {
    return std::make_shared<ReplayedApi>(std::make_shared<k8s::MemoryApi>(clock_, kOptions), run_);
}

ReplayWorld::SharedReplayed ReplayWorld::control_plane_in(std::string const& tenant_namespace) {
    std::lock_guard const lock{mutex_};
    auto& api = control_planes_[tenant_namespace];
    if (!api) {
        api = open();
        api->memory().serve(kResourceGraphDefinitions);
    }
    return api;
}

k8s::Result<SharedApi> ReplayWorld::connect(std::string const& kubeconfig) {
    std::string tenant_namespace;
    {
        std::lock_guard const lock{mutex_};
        tenant_namespace = kubeconfigs_[std::hash<std::string>{}(kubeconfig)];
    }
    return SharedApi{control_plane_in(tenant_namespace)};
}

std::optional<std::string> ReplayWorld::put(Placed const& place, Json object, Word word) {
    note(place, object);
    auto const& api = place.cluster == Cluster::Onboarding ? onboarding_ : platform_;
    if (word == Word::Latest) return api->take(place.resource, std::move(object));
    api->show(place.resource, std::move(object));
    return std::nullopt;
}

void ReplayWorld::lose(Placed const& place, k8s::ObjectKey const& key, std::string const& resource_version, Word word) {
    if (place.resource == kKros) told_.insert({key.namespace_, key.name});
    if (place.cluster == Cluster::Platform) gone_.insert(k8s::path_of(place.resource, key));
    auto const& api = place.cluster == Cluster::Onboarding ? onboarding_ : platform_;
    if (word == Word::Latest) return api->lose(place.resource, key, resource_version);
    api->hide(place.resource, key);
}

/// What else follows from an object that is there.
void ReplayWorld::note(Placed const& place, Json const& object) {
    if (place.resource == kKros) told_.insert({k8s::namespace_of(object), k8s::name_of(object)});
    if (place.resource == kAccessRequests) assume_kubeconfig(object);
    if (place.resource == kProviderConfigs) assume_sources(object);
    if (place.resource != k8s::kSecrets && place.resource != k8s::kConfigMaps) return;
    if (!assumed_.empty() && k8s::annotation_of(object, kAssumedAnnotation).empty())
        assumed_.erase(name_of(place.resource, k8s::key_of(object)));
    if (place.resource != k8s::kSecrets) return;
    if (auto const text = kubeconfig_text(object)) {
        std::lock_guard const lock{mutex_};
        kubeconfigs_[std::hash<std::string>{}(*text)] = k8s::namespace_of(object);
    }
}

bool ReplayWorld::take(Json object) {
    auto const place = placed(text_of(member(object, "apiVersion")), text_of(member(object, "kind")));
    if (!place || place->cluster == Cluster::ControlPlane || k8s::name_of(object).empty()) return false;
    put(*place, std::move(object));
    return true;
}

std::optional<std::string> ReplayWorld::take(events::ObjectEvent event) {
    auto const place = placed(event.api_version, event.kind);
    if (!place || place->cluster == Cluster::ControlPlane) return std::nullopt;
    if (event.change == events::ObjectEvent::Change::Deleted) {
        lose(*place, {event.namespace_, event.name}, k8s::resource_version_of(event.object));
        return std::nullopt;
    }
    return event.object.is_null() ? std::nullopt : put(*place, std::move(event.object));
}

ReplayWorld::SharedReplayed ReplayWorld::api_of(RecordedPart const& part, Cluster cluster) {
    switch (cluster) {
        case Cluster::Onboarding: return onboarding_;
        case Cluster::Platform: return platform_;
        case Cluster::ControlPlane: return part.tenant ? control_plane_in(tenant_namespace(*part.tenant)) : nullptr;
    }
    std::abort();
}

void ReplayWorld::take(std::vector<RecordedPart> const& parts) {
    for (auto const& part : parts) {
        for (auto const& entry : part.entries) take(part, entry, Word::Latest);
    }
}

void ReplayWorld::take(RecordedPart const& part, RecordedPart::Entry const& entry, Word word) {
    RecordedExchange const& exchange = entry.exchange;
    auto const api = api_of(part, entry.cluster);
    if (!api || exchange.verb == Verb::Discover || (exchange.error && !is_absence(exchange))) return;
    if (exchange.verb == Verb::List) return take_list(part, entry, word);
    bool const removed = is_absence(exchange) || text_of(member(exchange.object, "kind")) == "Status";
    // Metadata alone says that it is there.
    if (exchange.partial && api->memory().has(exchange.resource, exchange.key)) return;
    Placed const place{entry.cluster, exchange.resource};
    if (entry.cluster != Cluster::ControlPlane) {
        removed ? lose(place, exchange.key, {}, word) : static_cast<void>(put(place, exchange.object, word));
    } else {
        removed ? api->hide(exchange.resource, exchange.key) : api->show(exchange.resource, exchange.object);
    }
}

/// A list in one namespace, or of a control plane, says what there is; one of a whole cluster has its items taken out.
void ReplayWorld::take_list(RecordedPart const& part, RecordedPart::Entry const& entry, Word word) {
    RecordedExchange const& exchange = entry.exchange;
    std::set<k8s::ObjectKey> listed;
    RecordedPart::Entry one{entry.cluster, true, exchange};
    one.exchange.verb = Verb::Get;
    for (auto const& item : k8s::items_of(exchange.object)) {
        listed.insert(k8s::key_of(item));
        one.exchange.key = k8s::key_of(item);
        one.exchange.object = item;
        take(part, one, word);
    }
    if (exchange.resource != k8s::kSecrets || exchange.key.namespace_.empty()) return;
    auto const api = api_of(part, entry.cluster);
    auto const here = k8s::send_one(api->memory(), read_of({entry.cluster, exchange.resource, exchange.key}), {});
    if (!here) return;
    for (auto const& item : k8s::items_of(*here)) {
        if (!listed.contains(k8s::key_of(item))) api->hide(exchange.resource, k8s::key_of(item));
    }
}

void ReplayWorld::expect(std::vector<RecordedPart> const& parts) {
    std::set<std::string> touched;
    for (auto const& part : parts) {
        for (auto const& entry : part.entries) {
            RecordedExchange const& exchange = entry.exchange;
            auto const api = api_of(part, entry.cluster);
            if (!api) continue;
            std::string const owner = entry.cluster == Cluster::ControlPlane ? to_string(*part.tenant) : "";
            bool const first = touched.insert(owner + k8s::path_of(exchange.resource, exchange.key)).second;
            if (first && k8s::is_read(exchange.verb)) take(part, entry, Word::This);
            if (!entry.listed) api->expect(exchange);
        }
    }
}

ReplayedApi::Strayed ReplayWorld::conclude() {
    ReplayedApi::Strayed all;
    if (!run_->is_recorded) return all;
    std::vector<SharedReplayed> apis{onboarding_, platform_};
    for (auto const& [tenant_namespace, api] : control_planes_) apis.push_back(api);
    for (auto const& api : apis) {
        auto const strayed = api->conclude();
        all.missing.insert(all.missing.end(), strayed.missing.begin(), strayed.missing.end());
        all.added.insert(all.added.end(), strayed.added.begin(), strayed.added.end());
    }
    run_->is_recorded = false;
    run_->has_strayed = false;
    return all;
}

std::optional<Json> ReplayWorld::find(Cluster cluster, k8s::Resource const& resource, k8s::ObjectKey const& key) {
    return (cluster == Cluster::Onboarding ? onboarding() : platform()).find(resource, key);
}

void ReplayWorld::assume_kubeconfig(Json const& access_request) {
    std::string const name = text_of(member(access_request, "status", "secretRef", "name"));
    if (name.empty()) return;
    k8s::ObjectKey const key{k8s::namespace_of(access_request), name};
    // The server's name tells tenants apart.
    std::string const text =
        "apiVersion: v1\nkind: Config\ncurrent-context: mcp\n"
        "clusters:\n- name: mcp\n  cluster: {server: \"https://" +
        key.namespace_ +
        ".invalid\"}\n"
        "contexts:\n- name: mcp\n  context: {cluster: mcp, user: kro}\n"
        "users:\n- name: kro\n  user: {token: assumed}\n";
    assume(k8s::kSecrets, assumed_secret(key, "Opaque", "kubeconfig", text));
}

void ReplayWorld::assume_sources(Json const& provider_config) {
    if (k8s::name_of(provider_config) != provider_.name) return;
    auto const config = read_provider_config(provider_config);
    if (!config) return;
    for (auto const& name : pull_secrets_of(*config)) {
        assume(k8s::kSecrets, assumed_secret({provider_.namespace_, name}, "kubernetes.io/dockerconfigjson", ".dockerconfigjson",
                                             R"({"auths":{}})"));
    }
    if (config->ca_bundle)
        assume(k8s::kConfigMaps, assumed_bundle({provider_.namespace_, config->ca_bundle->name}, config->ca_bundle->key));
}

void ReplayWorld::assume(k8s::Resource const& resource, Json object) {
    k8s::ObjectKey const key = k8s::key_of(object);
    std::string const path = k8s::path_of(resource, key);
    if (gone_.contains(path) || platform().has(resource, key)) return;
    assumed_.insert(name_of(resource, key));
    put({Cluster::Platform, resource}, std::move(object));
}

}  // namespace kro
