// Plays an hour and a half of an installation with 13 tenants, on API servers in memory and with the real event handler, and writes the
// events that its sources send: a CloudEvent per line, as they are recorded. Four tenants are in trouble at the end. The same bytes every
// time.

#include "events/json_format.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/component/pod.hpp"
#include "tests/component/source.hpp"
#include "tests/support/world.hpp"

#include <functional>
#include <iostream>
#include <map>
#include <set>

namespace {

using namespace std::chrono_literals;
using base::member;
using k8s::Json;
using kro::Cluster;
using kro::Tenant;
using std::chrono::milliseconds;

constexpr base::Time kStart{1'796'029'800s};  // 2026-11-30T09:10:00Z
constexpr auto kEnd = 90min;
/// How long it takes until an event arrives, and until others react to a change.
constexpr auto kDelivery = 120ms;
constexpr auto kGrant = 9s;
constexpr auto kFetch = 3s;
constexpr auto kInstall = 48s;
constexpr auto kUninstall = 25s;

bool is_flux(k8s::Resource const& resource) { return resource == kro::kOciRepositories || resource == kro::kHelmReleases; }

class Installation {
  public:
    Installation()
        : pod_(
              world_.platform, world_.onboarding,
              [this](std::string const&) { return k8s::Result<kro::SharedApi>{world_.control_plane}; }, world_.clock()) {}

    void at(milliseconds when, std::function<void()> action) { actions_.emplace(kStart + when, std::move(action)); }

    void run() {
        while (!actions_.empty() && actions_.begin()->first <= kStart + kEnd) {
            auto const next = actions_.extract(actions_.begin());
            world_.now = next.key();
            next.mapped()();
            notice();
        }
    }

    // --- What people do

    void configure(Json spec) { world_.put(support::provider_config(std::move(spec))); }
    void order(Tenant const& tenant) {
        world_.put(support::in_namespace(support::kro_named(tenant.name), tenant.namespace_), Cluster::Onboarding);
    }
    void upgrade(Tenant const& tenant, std::string const& version) {
        Json kro = world_.kro(tenant);
        kro["spec"]["version"] = version;
        world_.put(std::move(kro), Cluster::Onboarding);
    }
    void remove(Tenant const& tenant) {
        static_cast<void>(
            k8s::send_one(*world_.onboarding, k8s::remove(kro::kKros, {tenant.namespace_, tenant.name}, {}), support::kNever));
    }
    /// By hand, past the provider.
    void edit_release(Tenant const& tenant, Json const& spec) {
        Json release = world_.helm_release_of(tenant);
        release["spec"].update(spec, true);
        world_.put(std::move(release));
    }
    void tick() {
        events::HttpMessage message = component::ping_event();
        send(events::parse_http(message).value().front(), "tick-" + std::to_string(++ticks_));
    }

    // --- What goes wrong

    void deny(Tenant const& tenant, std::string why) { denied_[tenant] = std::move(why); }
    void never_grant(Tenant const& tenant) { ignored_.insert(tenant); }
    void break_releases(Tenant const& tenant, std::string why) { broken_[tenant] = std::move(why); }

  private:
    /// Whoever watches has an event of every change, and the platform and Flux get to work.
    void notice() {
        for (auto const& api : {world_.onboarding, world_.platform}) {
            for (auto const& change : api->take_changes()) {
                if (is_watched(change)) tell(change);
                react(change);
            }
        }
    }

    static bool is_watched(k8s::Change const& change) {
        return change.resource == kro::kKros || change.resource == kro::kProviderConfigs ||
               change.resource == kro::kAccessRequests || is_flux(change.resource);
    }

    void tell(k8s::Change const& change) {
        auto event = events::parse_http(component::resource_event(change)).value().front();
        std::string id = event.id;
        after(kDelivery, [this, event = std::move(event), id = std::move(id)] { send(event, id); });
    }

    void send(events::CloudEvent event, std::string id) {
        event.id = std::move(id);
        event.time = base::rfc3339_nano(world_.now);
        std::cout << base::dump_json(events::to_json(event)) << "\n";
        pod_.handle(events::to_binary(event));
    }

    void after(milliseconds delay, std::function<void()> action) { actions_.emplace(world_.now + delay, std::move(action)); }

    void react(k8s::Change const& change) {
        if (change.kind == k8s::Change::Kind::Deleted) return;
        auto const tenant = kro::tenant_of(change.object);
        if (!tenant) return;
        bool const going = k8s::is_being_deleted(change.object);
        if (change.resource == kro::kAccessRequests && !going) after(kGrant, [this, tenant = *tenant] { grant(tenant); });
        if (change.resource == kro::kOciRepositories && !going) after(kFetch, [this, tenant = *tenant] { fetch(tenant); });
        if (change.resource == kro::kHelmReleases) {
            after(going ? kUninstall : kInstall,
                  [this, change, going, tenant = *tenant] { going ? world_.stand_in->react(change) : install(tenant); });
        }
    }

    void grant(Tenant const& tenant) {
        Json request = world_.access_request_of(tenant);
        if (request.is_null() || ignored_.contains(tenant) || request.contains("status")) return;
        if (auto const denied = denied_.find(tenant); denied != denied_.end()) {
            request["status"] = {
                {"phase", "Denied"},
                {"observedGeneration", k8s::generation_of(request)},
                {"conditions", {{{"type", "Granted"}, {"status", "False"}, {"reason", "NoQuota"}, {"message", denied->second}}}}};
            world_.put(std::move(request));
            return;
        }
        world_.put(support::kubeconfig_secret(tenant));
        world_.put(support::granted(std::move(request)));
    }

    void fetch(Tenant const& tenant) {
        Json repository = world_.oci_repository_of(tenant);
        if (repository.is_null() || is_up_to_date(repository)) return;
        std::string const tag = base::text_of(member(repository, "spec", "ref", "tag"));
        world_.put(support::ready(std::move(repository), tag));
        after(kInstall, [this, tenant] { install(tenant); });
    }

    void install(Tenant const& tenant) {
        Json release = world_.helm_release_of(tenant);
        Json const repository = world_.oci_repository_of(tenant);
        if (release.is_null() || repository.is_null() || !is_up_to_date(repository) || member(release, "spec", "suspend") == true)
            return;
        std::string const tag = base::text_of(member(repository, "spec", "ref", "tag"));
        bool const same_chart = member(release, "status", "lastAttemptedRevisionDigest") == support::digest_of(tag);
        if (is_up_to_date(release) && same_chart) return;
        if (!k8s::has_finalizer(release, "finalizers.fluxcd.io"))
            release = support::with_finalizer(std::move(release), "finalizers.fluxcd.io");
        if (auto const broken = broken_.find(tenant); broken != broken_.end()) {
            release["status"]["lastAttemptedRevisionDigest"] = support::digest_of(tag);
            world_.put(support::not_ready(std::move(release), "UpgradeFailed", broken->second));
            return;
        }
        world_.put(support::ready(std::move(release), tag));
    }

    static bool is_up_to_date(Json const& object) {
        return base::integer_of(member(object, "status", "observedGeneration"), -1) == k8s::generation_of(object);
    }

    support::World world_;
    component::Pod pod_;
    std::multimap<base::Time, std::function<void()>> actions_;
    std::map<Tenant, std::string> denied_;
    std::map<Tenant, std::string> broken_;
    std::set<Tenant> ignored_;
    int ticks_ = 0;
};

}  // namespace

int main() {
    auto const named = [](std::string const& name) { return Tenant{"project-" + name + "--ws-prod", name}; };
    Installation installation;
    auto& it = installation;
    it.at(0s, [&] { it.configure({{"pollInterval", "15m"}, {"values", {{"replicas", 1}}}}); });
    auto when = 20s;
    for (auto const* name : {"acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "cyberdyne", "tyrell",
                             "aperture", "wonka", "vandelay"}) {
        it.at(when, [&, name] { it.order(named(name)); });
        when += 41s;
    }
    it.deny(named("initech"), "no quota left in workspace prod");
    it.at(22min, [&] {
        it.break_releases(named("acme"),
                          "Helm upgrade failed: timed out waiting for Deployment kro-system/kro: ImagePullBackOff");
        it.upgrade(named("acme"), "0.9.2");
    });
    it.at(31min, [&] { it.upgrade(named("hooli"), "0.9.2"); });
    it.at(38min, [&] { it.edit_release(named("tyrell"), {{"values", {{"replicas", 5}}}}); });
    it.at(47min, [&] { it.configure({{"pollInterval", "15m"}, {"values", {{"replicas", 2}}}}); });
    it.at(55min, [&] { it.edit_release(named("stark"), {{"suspend", true}}); });
    it.at(56min, [&] { it.remove(named("stark")); });
    it.at(62min, [&] { it.remove(named("wonka")); });
    it.at(84min, [&] {
        it.never_grant(named("soylent"));
        it.order(named("soylent"));
    });
    for (auto tick = 15min; tick <= kEnd; tick += 15min) it.at(tick, [&] { it.tick(); });
    it.run();
    return std::cout ? EXIT_SUCCESS : EXIT_FAILURE;
}
