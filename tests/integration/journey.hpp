#pragma once

#include "event_source.hpp"
#include "function/embedded/stand_in.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/http_api.hpp"
#include "program.hpp"
#include "watcher.hpp"
#include "worker.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace integration {

using base::Json;
using base::member;
using base::text_of;

/// A test on real API servers, named by the environment variable KRO_TEST_STACK (tests/stack/README.md): the program itself is
/// started, an event source watches the clusters for it, and a stand-in plays the openMCP platform and Flux. Each test has a
/// provider, a namespace of the provider and a tenant of its own, and takes away what it made.
class Journey : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    /// How the world is set up, before start().
    std::string onboarding_cluster_ = "onboarding";
    k8s::Resource kros_ = kro::kKros;
    bool onboarding_is_requested_ = false;

    /// Watches the clusters and starts the program, or several of them, each with an event source of its own.
    void start(int programs = 1);
    /// The definition of the kind Kro, as the cluster `onboarding` has it.
    Json definition_of_kros();
    /// Makes a definition on `onboarding_cluster_` and waits until it is served.
    void install_definition(Json definition);
    /// The YAML file of a definition of the stack.
    std::string definition_file(std::string const& name) const { return text_of(member(stack_, "crds", name)); }

    // --- what people do ---

    /// Makes the ProviderConfig have just this spec.
    void configure(Json spec);
    /// Makes the Kro have this version.
    void order(std::string const& version);
    void annotate_kro(std::string const& annotation, Json value);
    void delete_kro();
    /// A Secret with a registry's login in the provider's namespace.
    void put_pull_secret(std::string const& name, std::string const& password);
    /// An object that somebody writes by create (POST), as other programs do.
    Json create(k8s::Api& api, k8s::Resource const& resource, Json object, std::string_view manager = "somebody");
    Json change(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key, Json patch,
                std::string_view manager = "somebody");
    void destroy(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key);
    /// kubectl with these arguments on a cluster of the stack; what it must not do is fail.
    void kubectl(std::string const& cluster, std::string const& arguments);

    // --- the platform and Flux ---

    /// They do nothing about this kind of object until they are released.
    void hold(k8s::Resource const& resource);
    void release(k8s::Resource const& resource);
    /// The platform refuses our AccessRequest.
    void deny_access(std::string const& message);

    // --- the function ---

    /// A PingSource's event, answered. Its status.
    int tick();
    std::uint16_t port() { return programs_.at(0)->port().value_or(0); }
    Program& program() { return *programs_.at(0); }

    // --- what can be seen ---

    /// The object, null where there is none.
    Json read(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key);
    Json kro() { return read(*onboarding_, kros_, kro_key()); }
    Json helm_release() { return read(*platform_, kro::kHelmReleases, in_tenant(std::string{kro::kHelmReleaseName})); }
    Json oci_repository() { return read(*platform_, kro::kOciRepositories, in_tenant(std::string{kro::kOciRepositoryName})); }
    Json access_request() { return read(*platform_, kro::kAccessRequests, in_tenant(kro::request_name(tenant_))); }
    Json copy(std::string const& name) { return read(*platform_, k8s::kSecrets, in_tenant(name)); }
    Json remote_copy(std::string const& name) { return read(*control_plane_, k8s::kSecrets, in_kro_system(name)); }

    k8s::ObjectKey kro_key() const { return {tenant_.namespace_, tenant_.name}; }
    k8s::ObjectKey in_tenant(std::string name) const { return {kro::tenant_namespace(tenant_), std::move(name)}; }
    k8s::ObjectKey in_kro_system(std::string name) const { return {std::string{kro::kControlPlaneNamespace}, std::move(name)}; }
    k8s::ObjectKey in_provider(std::string name) const { return {provider_namespace_, std::move(name)}; }

    std::string phase() { return text_of(member(kro(), "status", "phase")); }
    std::string reason() { return ready_condition().reason; }
    std::string message() { return ready_condition().message; }
    bool is_ready();
    bool is_gone() { return kro().is_null(); }

    /// Every state of an object that the watch has told, from the first on.
    std::vector<k8s::Change> history_of(k8s::Resource const& resource, k8s::ObjectKey const& key) const;
    /// The revision at which an object went. All clusters of a stack share one etcd, so that revisions can be compared across
    /// them.
    std::int64_t revision_of_deletion(k8s::Resource const& resource, k8s::ObjectKey const& key) const;
    /// The reasons that the Kro's condition Ready has ever had.
    std::set<std::string> reasons_so_far() const;

    /// What of the tenant exists anywhere, each with its resourceVersion: two that are the same mean that nothing was written. Every
    /// tick leaves its time in the ProviderConfig, which is not the tenant's.
    std::map<std::string, std::string> versions();

    // --- waiting ---

    /// Waits until it is so; a test fails where that takes long.
    [[nodiscard]] bool eventually(std::function<bool()> const& it_is_so);
    /// Waits until every event has been answered, the platform and Flux have done their part, and nothing changes any more.
    [[nodiscard]] bool settled();
    /// Everything the tenant and its programs say, for messages of failed tests.
    std::string story();

    kro::Tenant tenant_;
    std::string provider_;
    std::string provider_namespace_;
    std::shared_ptr<k8s::Api> onboarding_;
    std::shared_ptr<k8s::Api> platform_;
    std::shared_ptr<k8s::Api> control_plane_;

  private:
    struct Condition {
        std::string reason;
        std::string message;
    };
    Condition ready_condition();
    k8s::ClusterAccess access_to(std::string const& cluster) const;
    std::string kubeconfig_of(std::string const& cluster) const;
    std::map<std::string, std::string> all_versions();
    Watched watched(k8s::Api& api, std::string const& cluster, k8s::Resource const& resource, std::string const& namespace_ = {});
    void take(k8s::Change change);
    /// Whether the watches have told everything that was written to what they have told of.
    bool watches_are_current();
    void remove_left(k8s::Api& api, k8s::Resource const& resource, std::string const& namespace_,
                     std::string const& selector = {});
    void make_namespace(k8s::Api& api, std::string const& name);

    Json stack_;
    std::unique_ptr<kro::StandIn> stand_in_;
    std::unique_ptr<Worker<k8s::Change>> stand_in_worker_;
    std::vector<std::unique_ptr<Program>> programs_;
    std::vector<std::unique_ptr<EventSource>> sources_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<k8s::Change> changes_;
    std::vector<k8s::Change> held_;
    std::set<std::string_view> held_plurals_;

    std::unique_ptr<Watcher> watcher_;
};

}  // namespace integration
