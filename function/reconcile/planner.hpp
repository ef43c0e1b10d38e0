#pragma once

#include "function/reconcile/plan.hpp"
#include "function/tenant/desired.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/kro.hpp"
#include "function/tenant/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kro {

/// What plan_installation and plan_deletion share while they put one Plan together: looking things up in Observed, asking for what has
/// not been looked at, adding steps, and concluding with a verdict. Used inside plan_*.cpp alone.
class Planner {
  public:
    Planner(Observed const& observed, Provider const& provider, base::Time now);

    /// The Kro, once it is known to be there.
    Kro kro;
    /// Its status; null where there is none.
    k8s::Json const& status() const;
    std::string tenant_namespace;
    Provider const& provider;
    base::Time now;

    /// One that is asked for again and again, with what is known about it.
    struct Subject : Target {
        Seen const* known = nullptr;  ///< none where it was not looked at
    };
    Subject const& kro_target() const { return kro_target_; }
    Subject const& provider_config() const { return provider_config_; }
    Subject const& access_request() const { return access_request_; }
    Subject const& oci_repository() const { return oci_repository_; }
    Subject const& helm_release() const { return helm_release_; }
    Target namespace_target() const;                                              ///< the tenant's namespace
    Target source(k8s::Resource const& resource, std::string const& name) const;  ///< in the provider's own namespace
    Target copy(std::string const& name) const;                                   ///< a Secret in the tenant's namespace
    Target remote(k8s::Resource const& resource, std::string const& name) const;  ///< in kro-system on the control plane

    /// What is known about a target; `absent` for one that was not looked at.
    Seen const& seen(Target const& target) const;
    Seen const& seen(Subject const& subject) const { return subject.known == nullptr ? kNothing : *subject.known; }
    bool looked_at(Target const& target) const;
    bool looked_at(Subject const& subject) const { return subject.known != nullptr; }
    /// Whether all of them have been looked at; asks for those that have not.
    bool know(Target const& target);
    bool know(Subject const& subject);
    bool know(std::vector<Target> const& targets);

    void step(Cluster cluster, k8s::Request request, std::string why);
    /// A merge patch of these fields of the metadata, of just this state of the object.
    Step metadata_patch(Target const& target, k8s::Json fields, std::string why) const;
    void patch_metadata(Target const& target, k8s::Json fields, std::string why);
    void add(Step step);
    bool has_steps() const { return !plan_.steps.empty(); }

    /// Makes the object what `desired` says: creates it, applies what differs, or patches away what an apply could not take.
    void ensure(Target const& target, Desired const& desired, std::string const& why);

    /// The plan as far as it goes: more to read or to write before anything can be said.
    Plan go_on();
    /// Nothing more to do but to say so; with reads or steps pending, those come first.
    Plan conclude(Verdict const& verdict, Outcome::Kind kind, std::optional<k8s::Json> resources = std::nullopt);
    /// Ends without a word to the tenant.
    Plan end(Outcome outcome);
    /// Ends the plan where any of these could not be asked.
    std::optional<Plan> failed(std::vector<Target> const& targets);
    /// Something could not be asked or written: says so and ends as that kind of error should.
    Plan fail(Cluster cluster, k8s::Error const& error);

    /// Whether what led here was about a Flux object: nothing else is likely to have changed.
    bool is_about_flux() const { return observed_.expects_flux; }
    /// Whether the Kro is gone and what it left is cleaned up: nobody is left to be told.
    bool is_orphaned() const { return observed_.orphaned && looked_at(kro_target()) && seen(kro_target()).absent(); }
    /// The phase to show while it is not Ready.
    Verdict::Phase phase_in_progress() const;
    /// Whether the object carries our managed-by label.
    static bool is_ours(k8s::Json const& object);
    /// Why the AccessRequest is somebody else's, that is, lacks one of these labels; none where it is ours.
    std::optional<std::string> foreign_access(k8s::Json const& labels) const;

  private:
    bool forward_reconcile_request();

    static Seen const kNothing;

    Subject subject(Target target) const;
    bool read(Target const& target);

    Observed const& observed_;
    Subject kro_target_;
    Subject provider_config_;
    Subject access_request_;
    Subject oci_repository_;
    Subject helm_release_;
    Plan plan_;
    bool failing_ = false;  ///< something could not be asked or written
};

inline constexpr std::string_view kReasonError = "ReconcileError";
inline constexpr std::string_view kReasonReconciling = "Reconciling";
inline constexpr std::string_view kReasonSuccess = "ReconcileSuccess";
inline constexpr std::string_view kReasonTerminating = "Terminating";

/// Contract section 3: create or update.
Plan plan_installation(Planner planner);
/// Contract section 4: delete.
Plan plan_deletion(Planner planner);

}  // namespace kro
