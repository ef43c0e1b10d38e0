#pragma once

#include "base/json.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/http_api.hpp"

#include <gtest/gtest.h>

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace journeys {

using base::Json;
using base::member;
using base::text_of;

inline constexpr k8s::Resource kDeployments{"apps", "v1", "deployments", "Deployment"};
inline constexpr k8s::Resource kPingSources{"sources.knative.dev", "v1", "pingsources", "PingSource"};
inline constexpr k8s::Resource kApiServerSources{"sources.knative.dev", "v1", "apiserversources", "ApiServerSource"};
inline constexpr k8s::Resource kContainerSources{"sources.knative.dev", "v1", "containersources", "ContainerSource"};
inline constexpr k8s::Resource kBrokers{"eventing.knative.dev", "v1", "brokers", "Broker"};
inline constexpr k8s::Resource kTriggers{"eventing.knative.dev", "v1", "triggers", "Trigger"};
inline constexpr std::string_view kNamespace = "openmcp-system";

/// One API server of the stack, as an administrator. Each call waits for its answer and fails the test where there is none.
class Cluster {
  public:
    explicit Cluster(std::string kubeconfig);

    /// The object, null where there is none.
    Json read(k8s::Resource const& resource, k8s::ObjectKey const& key) const;
    std::vector<Json> list(k8s::Resource const& resource, std::string const& namespace_ = {},
                           std::string const& selector = {}) const;
    Json apply(k8s::Resource const& resource, Json object) const;
    Json patch(k8s::Resource const& resource, k8s::ObjectKey const& key, Json patch, std::string const& subresource = {}) const;
    /// The same patch of many objects at once; how many took it.
    std::size_t patch_all(k8s::Resource const& resource, std::vector<k8s::ObjectKey> const& keys, Json const& patch) const;
    /// Nothing there is fine.
    void remove(k8s::Resource const& resource, k8s::ObjectKey const& key) const;
    /// All at once; how many were made.
    std::size_t create_all(k8s::Resource const& resource, std::vector<Json> objects) const;

    std::string const& kubeconfig() const { return kubeconfig_; }

  private:
    std::string kubeconfig_;
    std::unique_ptr<k8s::Api> api_;
};

/// A stack of real programs with one overlay of knative/ applied to it, named by the environment variable KRO_TEST_STACK
/// (tests/stack/README.md). Each test has tenants of its own, which it takes away at its end; the overlay stays for the next test
/// that wants the same.
class Installation : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    /// Which overlay; decided by the suites below.
    virtual std::string overlay() const = 0;

    // --- people ---

    /// Makes the ProviderConfig have this spec; the chart and its login are filled in, and an interval with which no tick comes of it.
    void configure(Json spec = Json::object());
    /// A tenant with a namespace of its own. The platform gives it the control plane that its name starts with, else mcp-01.
    kro::Tenant new_tenant(std::string const& name = "acme");
    void order(kro::Tenant const& tenant, std::string const& version);
    /// Orders it and waits until it is Ready. With ApiServerSources over all namespaces that takes ticks: the function makes a namespace
    /// for the tenant, which restarts their adapters, and what happens meanwhile is told by nobody.
    void install(kro::Tenant const& tenant, std::string const& version = "0.9.1");
    void remove_kro(kro::Tenant const& tenant);
    /// The login of the chart's registry, as the source secret of the ProviderConfig has it.
    void put_login(std::string const& password);
    std::string const& right_password() const { return password_; }
    /// Makes the registry take another password from now on.
    void change_password(std::string const& password);
    std::vector<kro::Tenant> many_tenants(std::size_t count);
    /// The tenants of this test outlive it: too many to take them away, and Flux, which is held, must not see them. For the last tests
    /// of a stack.
    void leave_tenants() { tenants_stay_ = true; }
    /// All Kros at once.
    void order_all(std::vector<kro::Tenant> const& tenants, std::string const& version);

    // --- Knative ---

    /// Has the real PingSource adapter send one tick, and waits until the function has answered it.
    void tick();
    std::size_t answered_ticks();
    std::string schedule();
    /// Stops and continues the adapter of all PingSources.
    void signal_ping_adapter(int signal);
    /// Stops and starts what an ApiServerSource or a ContainerSource runs.
    void scale_adapters(int replicas);

    // --- the machines ---

    /// Flux does nothing until this test has ended.
    void hold_flux();
    /// The function's link to the platform's API server, which refuses every connection until it is restored.
    void cut_link();
    void restore_link();
    /// Ends the platform's API server at once, and starts it again.
    void restart_api_server();

    // --- what can be seen ---

    Cluster& onboarding() { return overlay() == "split" ? *clusters_.at("onboarding") : platform(); }
    Cluster& platform() { return *clusters_.at("platform"); }
    Cluster& control_plane(std::string const& name = "mcp-01") { return *clusters_.at(name); }

    Json kro(kro::Tenant const& tenant) { return onboarding().read(kro::kKros, {tenant.namespace_, tenant.name}); }
    std::string phase(kro::Tenant const& tenant) { return text_of(member(kro(tenant), "status", "phase")); }
    /// The condition Ready: its message.
    std::string message(kro::Tenant const& tenant);
    /// Ready, and of what the Kro says now.
    bool is_ready(kro::Tenant const& tenant);
    Json helm_release(kro::Tenant const& tenant);
    Json oci_repository(kro::Tenant const& tenant);
    /// Of the chart, as the OCIRepository asks for it.
    std::string chart_tag(kro::Tenant const& tenant);
    k8s::ObjectKey in_tenant(kro::Tenant const& tenant, std::string const& name) const {
        return {kro::tenant_namespace(tenant), name};
    }
    /// How many of them have a HelmRelease: what the function makes last.
    std::size_t count_with_helm_release(std::vector<kro::Tenant> const& tenants);
    /// The version of the chart that is installed on a control plane, "" where none is; by what Helm has stored there.
    std::string installed(std::string const& control_plane);

    /// What kubectl prints; it must not fail.
    std::string kubectl(Cluster const& cluster, std::string const& arguments);
    /// What a shell command prints; it must not fail.
    static std::string run(std::string const& command);

    /// Processes of Deployments and Knative Services, as the stack's node tells.
    Json pods();
    /// The function's processes that run now.
    std::vector<pid_t> functions();
    /// How many times the function was started so far.
    int function_starts();
    /// Lines of a process's log that contain these words.
    std::size_t count_in_log(std::string const& name, std::string const& words);
    std::string log_of(std::string const& name);

    /// Waits until it is so; fails the test after two minutes, with the reason `what`.
    void eventually(std::string const& what, std::function<bool()> const& it_is_so);
    /// Whether nothing changes any more: no object, no request on its way to the function.
    void settle();

    Json stack_;

  private:
    void install_overlay();
    void remove_overlay();
    bool sources_are_ready();
    /// Whether every adapter runs as its Deployment says, and knows of this namespace where it names those that it watches.
    bool adapters_are_settled(std::string const& namespace_);
    void set_schedule(std::string const& cron);
    /// Kros of this test.
    std::size_t count_left();
    void process(std::string const& action, std::string const& name);
    void signal_process(std::string const& name, int signal);
    void signal_flux(int signal);
    std::string story();

    std::string password_;
    bool tenants_stay_ = false;
    bool flux_is_held_ = false;
    bool link_is_cut_ = false;
    std::map<std::string, std::unique_ptr<Cluster>> clusters_;
    std::vector<kro::Tenant> tenants_;
};

class Direct : public Installation {
  protected:
    std::string overlay() const override { return "direct"; }
};
class Broker : public Installation {
  protected:
    std::string overlay() const override { return "broker"; }
};
class FixedAdapter : public Installation {
  protected:
    std::string overlay() const override { return "fixed-adapter"; }
};
class Split : public Installation {
  protected:
    std::string overlay() const override { return "split"; }
};

}  // namespace journeys
