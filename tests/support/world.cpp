#include "tests/support/world.hpp"

#include "function/handle/route.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace support {
namespace {

using kro::Cluster;

constexpr int kTurns = 500;

events::ObjectEvent event_about(k8s::Change const& change) {
    using Kind = k8s::Change::Kind;
    using events::ObjectEvent;
    ObjectEvent event;
    event.change = change.kind == Kind::Added     ? ObjectEvent::Change::Added
                   : change.kind == Kind::Updated ? ObjectEvent::Change::Updated
                                                  : ObjectEvent::Change::Deleted;
    event.api_version = k8s::api_version(change.resource);
    event.kind = change.resource.kind;
    event.namespace_ = k8s::namespace_of(change.object);
    event.name = k8s::name_of(change.object);
    event.object = change.object;
    return event;
}

bool is_watched(k8s::Change const& change) {
    constexpr std::array kWatched{kro::kKros, kro::kProviderConfigs, kro::kAccessRequests, kro::kOciRepositories,
                                  kro::kHelmReleases};
    bool const source = change.resource == k8s::kSecrets || change.resource == k8s::kConfigMaps;
    if (source) return k8s::namespace_of(change.object) == kProviderNamespace;
    return std::find(kWatched.begin(), kWatched.end(), change.resource) != kWatched.end();
}

/// Runs what a World's changes lead to.
class Pump {
  public:
    explicit Pump(World& world) : world_(world) {}

    World::Settled run(World::Pace pace) {
        for (int turn = 0; turn < kTurns; ++turn) {
            auto const changes = take(pace);
            if (changes.empty()) return std::move(settled_);
            for (auto const& change : changes) note(change);
            if (pace == World::Pace::Latest) visit();
        }
        throw std::logic_error("the world does not settle");
    }

  private:
    std::vector<k8s::Change> take(World::Pace pace) {
        std::vector<k8s::Change> all;
        while (true) {
            auto changes = world_.platform->take_changes();
            if (changes.empty()) break;
            for (auto const& change : changes) {
                if (world_.stand_in) world_.stand_in->react(change);
                all.push_back(change);
            }
            if (pace == World::Pace::Each) break;
        }
        for (auto& change : world_.onboarding->take_changes()) all.push_back(std::move(change));
        pace_ = pace;
        return all;
    }

    void note(k8s::Change const& change) {
        if (!is_watched(change)) return;
        auto const route = kro::route(event_about(change), world_.provider);
        if (auto const* one = std::get_if<kro::ForTenant>(&route)) {
            if (!world_.echo.knows(one->object, one->resource_version)) wake(one->tenant, one->flux_object);
        } else if (auto const* in = std::get_if<kro::ForNamespace>(&route)) {
            for (auto const& tenant : tenants()) {
                if (kro::tenant_namespace(tenant) == in->namespace_) wake(tenant, true);
            }
        } else if (!std::holds_alternative<kro::ForNobody>(route)) {
            for (auto const& tenant : tenants()) wake(tenant, false);
        }
    }

    std::vector<kro::Tenant> tenants() const {
        std::vector<kro::Tenant> all;
        for (auto const& kro : world_.onboarding->all(kro::kKros)) all.push_back({k8s::namespace_of(kro), k8s::name_of(kro)});
        return all;
    }

    void wake(kro::Tenant const& tenant, bool flux_object) {
        ++settled_.events;
        if (pace_ == World::Pace::Each) return run_one(tenant, flux_object);
        auto const [at, first] = waiting_.emplace(tenant, flux_object);
        if (!first) at->second = at->second && flux_object;
    }

    void visit() {
        auto const waiting = std::exchange(waiting_, {});
        for (auto const& [tenant, flux_object] : waiting) run_one(tenant, flux_object);
    }

    void run_one(kro::Tenant const& tenant, bool flux_object) {
        auto report = world_.reconcile(tenant, flux_object ? kro::About::FluxObject : kro::About::Anything);
        if (report.outcome.kind != kro::Outcome::Kind::Retry) world_.echo.remember(report.written);
        settled_.requests += report.requests;
        settled_.writes += report.writes;
        settled_.reports.push_back(std::move(report));
    }

    World& world_;
    World::Pace pace_ = World::Pace::Latest;
    World::Settled settled_;
    std::map<kro::Tenant, bool> waiting_;
};

}  // namespace

World::World(k8s::MemoryOptions const& options)
    : onboarding(std::make_shared<k8s::MemoryApi>(clock(), options)),
      platform(std::make_shared<k8s::MemoryApi>(clock(), options)),
      control_plane(std::make_shared<k8s::MemoryApi>(clock(), options)),
      connected(std::make_shared<std::vector<std::string>>()),
      clusters(
          platform, [api = onboarding](base::Deadline) { return k8s::Result<kro::SharedApi>{api}; },
          [api = control_plane, texts = connected](std::string const& kubeconfig) {
              texts->push_back(kubeconfig);
              return k8s::Result<kro::SharedApi>{api};
          }) {
    kro::serve_onboarding_kinds(*onboarding);
    kro::serve_platform_kinds(*platform);
    control_plane->serve(kro::kResourceGraphDefinitions);
    stand_in.emplace(*platform, clock());
    Json namespace_ = {{"apiVersion", "v1"}, {"kind", "Namespace"}};
    namespace_["metadata"]["name"] = kProviderNamespace;
    platform->put(k8s::kNamespaces, namespace_);
    platform->take_changes();
}

k8s::MemoryApi& World::api_of(Cluster cluster) const {
    switch (cluster) {
        case Cluster::Onboarding: return *onboarding;
        case Cluster::Platform: return *platform;
        case Cluster::ControlPlane: return *control_plane;
    }
    std::abort();
}

kro::Report World::reconcile(kro::Tenant const& tenant, kro::About about) {
    return kro::reconcile({clusters, provider}, tenant, about, now, kNever);
}

World::Settled World::settle(Pace pace) { return Pump{*this}.run(pace); }

Json World::put(Json object, Cluster cluster) const {
    k8s::Resource const resource = resource_of(object);
    object["metadata"].erase("resourceVersion");
    return api_of(cluster).put(resource, std::move(object));
}

void World::put_kro(Json kro) const {
    if (!exists(kro::kProviderConfigs, {{}, provider.name})) put(provider_config());
    put(std::move(kro), Cluster::Onboarding);
}

void World::install(Json kro) {
    kro::Tenant const tenant{k8s::namespace_of(kro), k8s::name_of(kro)};
    put_kro(std::move(kro));
    settle();
    if (phase_of(tenant) != "Ready") throw std::logic_error("not Ready: " + ready_of(tenant).message);
    forget_requests();
}

bool World::exists(k8s::Resource const& resource, k8s::ObjectKey const& key, Cluster cluster) const {
    return api_of(cluster).find(resource, key).has_value();
}

Json World::object(k8s::Resource const& resource, k8s::ObjectKey const& key, Cluster cluster) const {
    return api_of(cluster).find(resource, key).value_or(Json{});
}

Json World::kro(kro::Tenant const& tenant) const {
    return object(kro::kKros, {tenant.namespace_, tenant.name}, Cluster::Onboarding);
}

Json World::status_of(kro::Tenant const& tenant) const { return base::member(kro(tenant), "status"); }

std::string World::phase_of(kro::Tenant const& tenant) const { return base::text_of(base::member(status_of(tenant), "phase")); }

k8s::Condition World::ready_of(kro::Tenant const& tenant) const {
    return k8s::find_condition(kro(tenant), "Ready").value_or(k8s::Condition{});
}

Json World::access_request_of(kro::Tenant const& tenant) const {
    return object(kro::kAccessRequests, access_request_key(tenant));
}
Json World::oci_repository_of(kro::Tenant const& tenant) const {
    return object(kro::kOciRepositories, oci_repository_key(tenant));
}
Json World::helm_release_of(kro::Tenant const& tenant) const { return object(kro::kHelmReleases, helm_release_key(tenant)); }

std::vector<std::string> World::event_messages() const {
    std::vector<std::string> messages;
    for (auto const& event : onboarding->all(k8s::kEvents)) messages.push_back(base::text_of(base::member(event, "message")));
    return messages;
}

void World::forget_requests() const {
    for (auto const& api : {onboarding, platform, control_plane}) api->forget_requests();
}

std::vector<std::string> World::writes() const {
    std::vector<std::string> texts;
    for (auto const cluster : {Cluster::Onboarding, Cluster::Platform, Cluster::ControlPlane}) {
        for (auto const& request : requests(cluster)) {
            if (k8s::is_write(request)) texts.push_back(k8s::describe(request));
        }
    }
    return texts;
}

std::vector<k8s::Request> World::requests(Cluster cluster) const {
    std::vector<k8s::Request> all;
    for (auto const& seen : api_of(cluster).requests()) {
        std::string const& manager = seen.request.field_manager;
        if (manager.empty() || manager == kro::kFieldManager) all.push_back(seen.request);
    }
    return all;
}

k8s::Resource resource_of(Json const& object) {
    constexpr std::array kAll{kro::kKros,
                              kro::kProviderConfigs,
                              kro::kAccessRequests,
                              kro::kClusterRequests,
                              kro::kOciRepositories,
                              kro::kHelmReleases,
                              kro::kResourceGraphDefinitions,
                              k8s::kNamespaces,
                              k8s::kSecrets,
                              k8s::kConfigMaps,
                              k8s::kEvents,
                              kro::kPingSources};
    auto const found = std::find_if(kAll.begin(), kAll.end(), [&](auto const& one) { return object["kind"] == one.kind; });
    if (found == kAll.end()) throw std::logic_error("no such kind in this world");
    return *found;
}

k8s::ObjectKey oci_repository_key(kro::Tenant const& tenant) { return copy_key(tenant, std::string{kro::kOciRepositoryName}); }
k8s::ObjectKey helm_release_key(kro::Tenant const& tenant) { return copy_key(tenant, std::string{kro::kHelmReleaseName}); }
k8s::ObjectKey access_request_key(kro::Tenant const& tenant) { return copy_key(tenant, kro::request_name(tenant)); }
k8s::ObjectKey kubeconfig_key(kro::Tenant const& tenant) { return copy_key(tenant, kro::request_name(tenant) + ".kubeconfig"); }
k8s::ObjectKey copy_key(kro::Tenant const& tenant, std::string const& name) { return {kro::tenant_namespace(tenant), name}; }
k8s::ObjectKey remote_key(std::string const& name) { return {std::string{kro::kControlPlaneNamespace}, name}; }

}  // namespace support
