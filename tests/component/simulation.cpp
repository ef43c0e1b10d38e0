#include "tests/component/simulation.hpp"

#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace component {
namespace {

using base::member;
using base::text_of;
using k8s::Request;
using kro::Cluster;

constexpr std::string_view kUser = "user";
constexpr int kTurns = 100;

bool is_ours(Json const& object) { return k8s::label_of(object, kro::kManagedByLabel) == kro::kGroup; }

bool is_watched(k8s::Change const& change) {
    constexpr std::array kWatched{kro::kKros, kro::kProviderConfigs, kro::kAccessRequests, kro::kOciRepositories,
                                  kro::kHelmReleases};
    return std::find(kWatched.begin(), kWatched.end(), change.resource) != kWatched.end();
}

bool is_source(k8s::Change const& change) {
    bool const kind = change.resource == k8s::kSecrets || change.resource == k8s::kConfigMaps;
    return kind && k8s::namespace_of(change.object) == support::kProviderNamespace;
}

/// Whether the request is about our finalizer on an object and leaves it off.
bool takes_finalizer_off(Request const& request, std::string_view finalizer) {
    Json const& finalizers = member(request.body, "metadata", "finalizers");
    return request.verb == Request::Verb::MergePatch && finalizers.is_array() &&
           std::find(finalizers.begin(), finalizers.end(), Json(finalizer)) == finalizers.end();
}

bool has_precondition(Request const& request) {
    switch (request.verb) {
        case Request::Verb::MergePatch: return !text_of(member(request.body, "metadata", "resourceVersion")).empty();
        case Request::Verb::JsonPatch: return request.body.is_array() && member(request.body[0], "op") == "test";
        case Request::Verb::Delete: return !request.preconditions.uid.empty();
        default: return true;
    }
}

void forget_what_varies(Json& value) {
    if (value.is_array()) {
        for (auto& item : value) forget_what_varies(item);
    }
    if (!value.is_object()) return;
    for (auto const* name :
         {"lastTransitionTime", "creationTimestamp", "resourceVersion", "uid", "time", "lastUpdateTime", "lastResyncTime"})
        value.erase(name);
    for (auto const* name : {"reconcile.fluxcd.io/requestedAt", "reconcile.fluxcd.io/resetAt"}) {
        if (value.contains(name) && value[name].is_string()) value[name] = "asked";
    }
    for (auto& [name, item] : value.items()) forget_what_varies(item);
    // In the order of their times.
    if (value.contains("managedFields")) std::sort(value["managedFields"].begin(), value["managedFields"].end());
}

/// Which generation an object has reached depends on how many steps led to what it says now.
void forget_generations(Json& value) {
    if (value.is_array()) {
        for (auto& item : value) forget_generations(item);
    }
    if (!value.is_object()) return;
    for (auto const* name : {"generation", "observedGeneration"}) value.erase(name);
    for (auto& [name, item] : value.items()) forget_generations(item);
}

using Resources = std::vector<k8s::Resource>;

Resources const kOnPlatform{k8s::kNamespaces,   kro::kProviderConfigs, kro::kAccessRequests, kro::kOciRepositories,
                            kro::kHelmReleases, k8s::kSecrets,         k8s::kConfigMaps};
Resources const kOnControlPlanes{k8s::kNamespaces, k8s::kSecrets, k8s::kConfigMaps, kro::kResourceGraphDefinitions};

void copy_all(k8s::MemoryApi const& from, k8s::MemoryApi& to, Resources const& resources) {
    for (auto const& resource : resources) {
        for (auto& object : from.all(resource)) to.put(resource, std::move(object));
    }
    to.take_changes();
}

void add_state(Json& state, std::string const& cluster, k8s::MemoryApi const& api, Resources const& resources) {
    for (auto const& resource : resources) {
        for (auto& object : api.all(resource)) {
            std::string const key = cluster + " " + k8s::path_of(resource, k8s::key_of(object));
            if (key.ends_with(".kubeconfig")) object.erase("data");
            // It tells what the last tick met, on the way or at the end.
            if (resource == kro::kProviderConfigs) object.erase("status");
            forget_what_varies(object);
            if (resource != kro::kKros) forget_generations(object);
            state[key] = std::move(object);
        }
    }
}

}  // namespace

Json state_of(k8s::MemoryApi const& onboarding, k8s::MemoryApi const& platform,
              std::map<std::string, std::shared_ptr<k8s::MemoryApi>> const& control_planes) {
    Json state = Json::object();
    add_state(state, "onboarding", onboarding, {kro::kKros});
    add_state(state, "platform", platform, kOnPlatform);
    for (auto const& [name, api] : control_planes) add_state(state, name, *api, kOnControlPlanes);
    return state;
}

Simulation::Simulation(spdlog::level::level_enum log_level) : log_level_(log_level) {
    world.put(support::provider_config());
    world.platform->take_changes();
    replace_pod();
}

std::unique_ptr<Simulation> Simulation::copy() const {
    auto twin = std::make_unique<Simulation>(log_level_);
    twin->world.now = world.now;
    copy_all(*world.onboarding, *twin->world.onboarding, {k8s::kNamespaces, kro::kKros});
    copy_all(*world.platform, *twin->world.platform, kOnPlatform);
    for (auto const& [name, api] : control_planes_) copy_all(*api, *twin->control_plane_in(name), kOnControlPlanes);
    return twin;
}

std::shared_ptr<WatchedApi> Simulation::watched(Cluster cluster, std::shared_ptr<k8s::MemoryApi> server) {
    k8s::MemoryApi& reference = *server;
    return std::make_shared<WatchedApi>(std::move(server), traffic(cluster), [this, cluster, &reference](Request const& request) {
        inspect(cluster, reference, request);
    });
}

std::unique_ptr<Pod> Simulation::make_pod() {
    return std::make_unique<Pod>(
        watched(Cluster::Platform, world.platform), watched(Cluster::Onboarding, world.onboarding),
        [this](std::string const& kubeconfig) { return connect(kubeconfig); }, world.clock(),
        kro::EventHandler::Options{.budget = std::chrono::minutes{10}, .resync = {.parallel = 1}}, log_level_);
}

/// The stand-in's kubeconfigs end in the AccessRequest's uid.
k8s::Result<kro::SharedApi> Simulation::connect(std::string const& kubeconfig) {
    for (auto const& request : world.platform->all(kro::kAccessRequests)) {
        if (kubeconfig.find("-" + k8s::uid_of(request) + "}") == std::string::npos) continue;
        return kro::SharedApi{watched(Cluster::ControlPlane, control_plane_in(k8s::namespace_of(request)))};
    }
    wrong("a connection by a kubeconfig of no AccessRequest");
    k8s::Error unknown;
    unknown.kind = k8s::Error::Kind::Unusable;
    return base::Failure{std::move(unknown)};
}

std::shared_ptr<k8s::MemoryApi> Simulation::control_plane_in(std::string const& tenant_namespace) {
    std::lock_guard const lock{mutex_};
    bool const first = control_planes_.empty();
    auto& api = control_planes_[tenant_namespace];
    if (!api) {
        api = first ? world.control_plane : std::make_shared<k8s::MemoryApi>(world.clock());
        api->serve(kro::kResourceGraphDefinitions);
    }
    return api;
}

std::shared_ptr<k8s::MemoryApi> Simulation::control_plane_of(std::string const& kro) {
    return control_plane_in(kro::tenant_namespace(support::tenant_named(kro)));
}

// --- What people do

void Simulation::create(Json object) {
    bool const on_onboarding = object["kind"] == "Kro";
    k8s::MemoryApi& api = on_onboarding ? *world.onboarding : *world.platform;
    k8s::Resource const resource = support::resource_of(object);
    std::string const namespace_ = k8s::namespace_of(object);
    if (!namespace_.empty() && !api.find(k8s::kNamespaces, {{}, namespace_})) {
        api.put(k8s::kNamespaces, {{"metadata", {{"name", namespace_}}}});
    }
    auto const made = k8s::send_one(api, k8s::create(resource, std::move(object), kUser), support::kNever);
    if (!made) throw std::logic_error(made.error().message);
}

void Simulation::change(k8s::Resource const& resource, k8s::ObjectKey const& key, Json const& patch) {
    k8s::MemoryApi& api = resource == kro::kKros ? *world.onboarding : *world.platform;
    auto const changed = k8s::send_one(api, k8s::merge_patch(resource, key, patch, kUser), support::kNever);
    if (!changed && changed.error().kind != k8s::Error::Kind::NotFound) throw std::logic_error(changed.error().message);
}

void Simulation::change_kro(std::string const& name, Json const& patch) {
    change(kro::kKros, {std::string{support::kOnboardingNamespace}, name}, patch);
}

void Simulation::change_provider_config(Json const& patch) { change(kro::kProviderConfigs, {{}, "kro"}, patch); }

void Simulation::remove(k8s::Resource const& resource, k8s::ObjectKey const& key) {
    k8s::MemoryApi& api = resource == kro::kKros ? *world.onboarding : *world.platform;
    static_cast<void>(k8s::send_one(api, k8s::remove(resource, key, {}), support::kNever).has_value());
}

void Simulation::remove_kro(std::string const& name) { remove(kro::kKros, {std::string{support::kOnboardingNamespace}, name}); }

void Simulation::annotate_kro(std::string const& name, std::string_view annotation, Json const& value) {
    change_kro(name, {{"metadata", {{"annotations", {{annotation, value}}}}}});
}

// --- What sources do

void Simulation::deliver(events::HttpMessage const& message) {
    for (std::size_t i = 0; i < most_tries; ++i) {
        world.now += std::chrono::seconds{1};
        auto const answer = pod->handle(message);
        answers.push_back(answer);
        if (answer.status == 204) return;
        if (answer.status != 503) return wrong("an event was answered " + std::to_string(answer.status) + ": " + answer.reason);
    }
    wrong("an event was never answered 2xx: " + answers.back().reason);
}

std::vector<events::HttpMessage> Simulation::take_events() {
    std::vector<k8s::Change> changes = world.platform->take_changes();
    for (auto const& change : changes) {
        world.stand_in->react(change);
        // The platform takes the kubeconfig away together with the access.
        if (change.resource == kro::kAccessRequests && change.kind == k8s::Change::Kind::Deleted) {
            k8s::ObjectKey const key = k8s::key_of(change.object);
            if (!exists(kro::kAccessRequests, key))
                world.platform->erase(k8s::kSecrets, {key.namespace_, key.name + ".kubeconfig"});
        }
    }
    auto more = world.onboarding->take_changes();
    changes.insert(changes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    std::vector<events::HttpMessage> messages;
    for (auto const& change : changes) {
        if (is_watched(change)) messages.push_back(resource_event(change));
        if (is_source(change)) messages.push_back(reference_event(change));
    }
    // Nobody watches a Secret in a tenant's namespace, but what was done about it may have to be reacted to.
    if (messages.empty() && !changes.empty()) return take_events();
    return messages;
}

void Simulation::settle() {
    for (int i = 0; i < kTurns; ++i) {
        auto const messages = take_events();
        if (messages.empty()) return;
        for (auto const& message : messages) deliver(message);
    }
    wrong("it does not settle");
}

void Simulation::ping() {
    deliver(ping_event());
    settle();
}

// --- What there is

Json Simulation::state() const { return state_of(*world.onboarding, *world.platform, control_planes_); }

std::vector<std::string> Simulation::orphans() const {
    std::vector<std::string> found;
    auto const look = [&](std::string const& cluster, k8s::MemoryApi const& api, k8s::Resource const& resource) {
        for (auto const& object : api.all(resource)) {
            if (!is_ours(object)) continue;
            auto const tenant = kro::tenant_of(object);
            bool const alive = tenant && world.onboarding->find(kro::kKros, {tenant->namespace_, tenant->name});
            if (!alive) found.push_back(cluster + " " + k8s::path_of(resource, k8s::key_of(object)));
        }
    };
    for (auto const& resource : {kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases, k8s::kSecrets}) {
        look("platform", *world.platform, resource);
    }
    for (auto const& [name, api] : control_planes_) {
        for (auto const& resource : {k8s::kSecrets, k8s::kConfigMaps}) look(name, *api, resource);
    }
    return found;
}

std::size_t Simulation::writes() const {
    std::size_t sum = 0;
    for (auto const& one : traffic_) sum += one.writes;
    return sum;
}

std::size_t Simulation::requests() const {
    std::size_t sum = 0;
    for (auto const& one : traffic_) sum += one.requests;
    return sum;
}

void Simulation::count_from_here() {
    for (auto& one : traffic_) {
        one.requests = 0;
        one.writes = 0;
    }
}

// --- What may never be asked

std::vector<std::string> Simulation::wrongs() const {
    std::lock_guard const lock{mutex_};
    return wrongs_;
}

void Simulation::wrong(std::string what) {
    std::lock_guard const lock{mutex_};
    wrongs_.push_back(std::move(what));
}

Json Simulation::kro_of(std::string const& tenant_namespace) const {
    for (auto& kro : world.onboarding->all(kro::kKros)) {
        if (kro::tenant_namespace({k8s::namespace_of(kro), k8s::name_of(kro)}) == tenant_namespace) return std::move(kro);
    }
    return {};
}

void Simulation::inspect(Cluster cluster, k8s::MemoryApi& server, Request const& request) {
    bool const about_many = request.verb == Request::Verb::List || request.verb == Request::Verb::Discover;
    if (!about_many && request.key.name.empty() && k8s::name_of(request.body).empty())
        wrong(k8s::describe(request) + ": no name");
    if (k8s::is_write(request)) inspect_write(cluster, server, request);
}

void Simulation::inspect_write(Cluster cluster, k8s::MemoryApi& server, Request const& request) {
    auto const refuse = [&](std::string const& why) { wrong(k8s::describe(request) + ": " + why); };
    if (!has_precondition(request)) refuse("carries no precondition");
    bool const creates = request.verb == Request::Verb::Create;
    if (creates && request.resource != k8s::kNamespaces && request.resource != k8s::kEvents) refuse("a create is no apply");
    if (request.verb == Request::Verb::Delete) inspect_deletion(cluster, server, request);
    if (request.resource == kro::kKros) return inspect_kro(request);
    bool const provider = request.resource == kro::kProviderConfigs || request.resource == kro::kPingSources;
    if (cluster == Cluster::Onboarding || provider) return;
    if (request.verb == Request::Verb::Apply) {
        auto const tenant = kro::tenant_of(request.body);
        Json const kro = tenant ? world.kro(*tenant) : Json{};
        if (!k8s::has_finalizer(kro, kro::kFinalizer)) refuse("its Kro does not have the finalizer");
        if (k8s::is_being_deleted(kro)) refuse("its Kro is being deleted");
    }
    bool const lets_access_go = request.resource == kro::kAccessRequests &&
                                (request.verb == Request::Verb::Delete || takes_finalizer_off(request, kro::kAccessFinalizer));
    if (lets_access_go && exists(kro::kHelmReleases, {request.key.namespace_, std::string{kro::kHelmReleaseName}})) {
        refuse("the HelmRelease is still there");
    }
}

void Simulation::inspect_deletion(Cluster cluster, k8s::MemoryApi& server, Request const& request) {
    auto const refuse = [&](std::string const& why) { wrong(k8s::describe(request) + ": " + why); };
    if (request.resource == k8s::kNamespaces) refuse("namespaces are not ours");
    auto const object = server.find(request.resource, request.key);
    if (object && !is_ours(*object) && request.resource != kro::kHelmReleases && request.resource != kro::kOciRepositories) {
        refuse("is not ours");
    }
    if (cluster != Cluster::Platform || request.resource != kro::kHelmReleases || !object) return;
    Json const kro = kro_of(request.key.namespace_);
    if (!kro.is_null() && !k8s::is_being_deleted(kro)) refuse("its Kro is not being deleted");
    if (k8s::annotation_of(kro, kro::kAbandonAnnotation) == "true") return;
    if (!control_plane_in(request.key.namespace_)->all(kro::kResourceGraphDefinitions).empty())
        refuse("there are ResourceGraphDefinitions");
    std::string const secret = text_of(member(*object, "spec", "kubeConfig", "secretRef", "name"));
    if (!exists(k8s::kSecrets, {request.key.namespace_, secret})) refuse("its kubeconfig is missing");
    if (member(*object, "spec", "suspend") == true) refuse("it is suspended");
}

void Simulation::inspect_kro(Request const& request) {
    auto const refuse = [&](std::string const& why) { wrong(k8s::describe(request) + ": " + why); };
    kro::Tenant const tenant{request.key.namespace_, request.key.name};
    std::string const namespace_ = kro::tenant_namespace(tenant);
    Json const kro = world.kro(tenant);
    if (text_of(member(request.body, "status", "phase")) == "Ready") {
        Json const repository = world.oci_repository_of(tenant);
        Json const release = world.helm_release_of(tenant);
        for (auto const& object : {repository, release}) {
            auto const ready = k8s::find_condition(object, "Ready");
            if (!ready || ready->status != "True" || ready->observed_generation != k8s::generation_of(object))
                refuse("Flux is not ready");
        }
    }
    if (!k8s::has_finalizer(kro, kro::kFinalizer) || !takes_finalizer_off(request, kro::kFinalizer)) return;
    if (is_ours(world.access_request_of(tenant))) refuse("the AccessRequest is still there");
    if (!world.helm_release_of(tenant).is_null() || !world.oci_repository_of(tenant).is_null())
        refuse("a Flux object is still there");
    for (auto const& secret : world.platform->all(k8s::kSecrets)) {
        if (is_ours(secret) && k8s::namespace_of(secret) == namespace_) refuse("a copied secret is still there");
    }
    auto const control_plane = control_plane_in(namespace_);
    if (k8s::annotation_of(kro, kro::kAbandonAnnotation) == "true") return;
    for (auto const& resource : {k8s::kSecrets, k8s::kConfigMaps}) {
        for (auto const& object : control_plane->all(resource)) {
            if (is_ours(object)) refuse(k8s::name_of(object) + " is still on the control plane");
        }
    }
}

}  // namespace component
