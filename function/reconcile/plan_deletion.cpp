#include "function/reconcile/planner.hpp"

#include <algorithm>
#include <utility>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::string_view kCleanup = "Cleanup in progress";

bool is_granted(Json const& access) {
    return text_of(member(access, "status", "phase")) == "Granted" ||
           !text_of(member(access, "status", "secretRef", "name")).empty();
}

/// Contract section 4 as one run down its list; the order is what keeps a user's objects from being orphaned.
class Deletion {
  public:
    explicit Deletion(Planner planner) : p_(std::move(planner)) {}

    Plan plan() {
        if (!p_.kro.has_finalizer) return p_.end({Outcome::Kind::Done, "it is being deleted and our part is done", std::nullopt});
        if (auto ended = look_at_access()) return *std::move(ended);
        if (auto ended = say_terminating()) return *std::move(ended);
        if (auto ended = look_at_flux()) return *std::move(ended);
        if (auto ended = wait_for_user_objects()) return *std::move(ended);
        if (auto ended = remove_flux_objects()) return *std::move(ended);
        if (auto ended = remove_copies()) return *std::move(ended);
        if (auto ended = give_access_back()) return *std::move(ended);
        return clear_finalizer();
    }

  private:
    using Ended = std::optional<Plan>;

    /// What is still there, for the tenant to see.
    Json remaining() const {
        Json resources = Json::array();
        for (auto const& target : {p_.oci_repository(), p_.helm_release()}) {
            if (!p_.seen(target).present()) continue;
            Json const& object = p_.seen(target).object;
            Readiness const readiness = readiness_of(object);
            resources.push_back(resource_entry(target.resource, target.key, "Terminating",
                                               k8s::is_being_deleted(object) ? readiness.message : std::string{}));
        }
        return resources;
    }
    Plan terminating(std::string message) {
        return p_.conclude({Verdict::Phase::Terminating, std::string{kReasonTerminating}, std::move(message)},
                           Outcome::Kind::Waiting, remaining());
    }
    Plan error(std::string message) {
        return p_.conclude({Verdict::Phase::Terminating, std::string{kReasonError}, std::move(message)}, Outcome::Kind::Waiting,
                           remaining());
    }
    /// A 404 for a whole resource type counts as "none are left" only once discovery has confirmed that nobody serves it: a server that
    /// is starting answers 404 as well. Ends the plan while that is open; `served` says how it is.
    Ended confirm_not_served(Target const& target, bool& served) {
        served = true;
        k8s::Resource const group{target.resource.group, "", "", "", k8s::Resource::Scope::Cluster};
        Target const discovery{target.cluster, group, {}};
        if (!p_.know(discovery)) return p_.go_on();
        if (auto ended = p_.failed({discovery})) return ended;
        served = p_.seen(discovery).present() && serves(p_.seen(discovery).object, target.resource);
        return std::nullopt;
    }

    /// Whether any version of the group has this plural. `discovered` is a list of APIResourceLists.
    static bool serves(Json const& discovered, k8s::Resource const& resource) {
        for (auto const& version : member(discovered, "items")) {
            for (auto const& one : member(version, "resources")) {
                if (text_of(member(one, "name")) == resource.plural) return true;
            }
        }
        return false;
    }

    Ended look_at_access() {
        if (auto ended = p_.failed({p_.access_request()})) return ended;
        Seen const& access = p_.seen(p_.access_request());
        ours_ = access.present() && !p_.foreign_access(access_request_labels(p_.kro.tenant));
        return std::nullopt;
    }

    /// Step 1.
    Ended say_terminating() {
        if (text_of(member(p_.status(), "phase")) == name_of(Verdict::Phase::Terminating)) return std::nullopt;
        Json const& known = member(p_.status(), "resources");
        return p_.conclude({Verdict::Phase::Terminating, std::string{kReasonTerminating}, std::string{kCleanup}},
                           Outcome::Kind::Waiting, known);
    }

    /// Where the kubeconfig for looking at the control plane is; none where access was never granted or is gone.
    std::optional<Target> kubeconfig() const {
        Json const& access = p_.seen(p_.access_request()).object;
        std::string const name = text_of(member(access, "status", "secretRef", "name"));
        if (!ours_ || name.empty()) return std::nullopt;
        return p_.copy(name);
    }

    /// Where Flux finds the kubeconfig, as the HelmRelease says.
    std::optional<Target> flux_kubeconfig() const {
        std::string const name = text_of(member(p_.seen(p_.helm_release()).object, "spec", "kubeConfig", "secretRef", "name"));
        if (name.empty()) return std::nullopt;
        return p_.copy(name);
    }

    Ended look_at_flux() {
        std::vector<Target> targets{p_.oci_repository(), p_.helm_release()};
        if (auto const secret = kubeconfig()) targets.push_back(*secret);
        if (!p_.know(targets)) return p_.go_on();
        for (auto const& target : {p_.oci_repository(), p_.helm_release()}) {
            Seen const& seen = p_.seen(target);
            if (!seen.failed()) continue;
            if (!seen.error->type_not_served) return p_.fail(target.cluster, *seen.error);
            bool served = true;
            if (auto ended = confirm_not_served(target, served)) return ended;
            if (served) return p_.fail(target.cluster, *seen.error);
        }
        return std::nullopt;
    }

    bool flux_objects_are_gone() const {
        return !p_.seen(p_.oci_repository()).present() && !p_.seen(p_.helm_release()).present();
    }

    /// Step 2.
    Ended wait_for_user_objects() {
        Json const& access = p_.seen(p_.access_request()).object;
        bool const given_back = k8s::is_being_deleted(access) && flux_objects_are_gone();
        if (p_.kro.abandon || !ours_ || !is_granted(access) || given_back) return std::nullopt;
        auto const secret = kubeconfig();
        if (!secret)
            return error(
                "deletion blocked: the AccessRequest is granted but names no secret, so the control plane can't be checked for "
                "ResourceGraphDefinitions; restore the access, " +
                or_abandon());
        if (auto ended = p_.failed({*secret})) return ended;
        if (p_.seen(*secret).absent()) return error(kubeconfig_is_missing(*secret));

        Target const definitions{Cluster::ControlPlane, kResourceGraphDefinitions, {}};
        if (!p_.know(definitions)) return p_.go_on();
        Seen const& seen = p_.seen(definitions);
        if (seen.failed()) {
            bool served = true;
            if (seen.error->type_not_served) {
                if (auto ended = confirm_not_served(definitions, served)) return ended;
            }
            if (!served) return std::nullopt;
            return error("deletion blocked: the control plane can't be checked for ResourceGraphDefinitions: " +
                         seen.error->message + "; it is tried again at the next resync; restore the access, " + or_abandon());
        }
        if (std::string const count = how_many(seen.object); count != "0") {
            return terminating("deletion blocked: waiting for " + count +
                               " kro ResourceGraphDefinition(s) to be removed from the control plane");
        }
        return std::nullopt;
    }

    /// The whole count, not the page's; "more than N" where the server does not say how many remain.
    static std::string how_many(Json const& list) {
        Json const& items = member(list, "items");
        auto const here = static_cast<std::int64_t>(items.is_array() ? items.size() : 0);
        if (text_of(member(list, "metadata", "continue")).empty()) return std::to_string(here);
        Json const& more = member(list, "metadata", "remainingItemCount");
        return more.is_number_integer() ? std::to_string(here + more.get<std::int64_t>()) : "more than " + std::to_string(here);
    }

    static std::string or_abandon() {
        return "or annotate the Kro with " + std::string{kAbandonAnnotation} + "=true where the control plane is lost for good";
    }
    static std::string kubeconfig_is_missing(Target const& secret) {
        return "deletion blocked: secret " + k8s::to_string(secret.key) +
               " with the kubeconfig of the control plane is missing, and without it Flux would not uninstall kro; restore the "
               "access, " +
               or_abandon();
    }

    /// Step 3. Flux lets a HelmRelease go without uninstalling when it is suspended or its kubeconfig is missing.
    Ended remove_flux_objects() {
        if (flux_objects_are_gone()) return std::nullopt;
        Seen const& release = p_.seen(p_.helm_release());
        bool const may_be_lost = release.present() && !k8s::is_being_deleted(release.object) && !p_.kro.abandon;
        if (may_be_lost) {
            if (member(release.object, "spec", "suspend") == true) {
                return error(
                    "deletion blocked: the HelmRelease is suspended, and Flux would not uninstall kro; run: flux resume "
                    "helmrelease " +
                    std::string{kHelmReleaseName} + " -n " + p_.tenant_namespace);
            }
            if (auto const secret = flux_kubeconfig()) {
                if (!p_.know(*secret)) return p_.go_on();
                if (auto ended = p_.failed({*secret})) return ended;
                if (p_.seen(*secret).absent()) return error(kubeconfig_is_missing(*secret));
            }
        }
        for (auto const& target : {p_.helm_release(), p_.oci_repository()}) {
            Seen const& seen = p_.seen(target);
            if (seen.present() && !k8s::is_being_deleted(seen.object)) remove(target, seen.object, "Flux uninstalls kro");
        }
        return p_.has_steps() ? p_.go_on() : terminating(std::string{kCleanup});
    }

    void remove(Target const& target, Json const& object, std::string why) {
        p_.step(target.cluster, k8s::remove(target.resource, target.key, {k8s::uid_of(object), {}}), "remove: " + std::move(why));
    }

    /// Step 4. The control plane answered in step 2, so it is asked again where it fails to now. It is left as it is where there is no
    /// way to it any more, or where it was given up.
    Ended remove_copies() {
        Target const copies = p_.copy({});
        Target const remote = p_.remote(k8s::kSecrets, {});
        Target const bundle = p_.remote(k8s::kConfigMaps, std::string{kCaBundleName});
        auto const secret = kubeconfig();
        if (secret) {
            if (auto ended = p_.failed({*secret})) return ended;
        }
        bool const reachable = secret && p_.seen(*secret).present();
        std::vector<Target> targets{copies};
        if (reachable) targets.insert(targets.end(), {remote, bundle});
        if (!p_.know(targets)) return p_.go_on();
        if (auto ended = p_.failed({copies})) return ended;
        // Once the access is being given back, the control plane may refuse us for that very reason.
        bool const must_answer = reachable && !p_.kro.abandon && !k8s::is_being_deleted(p_.seen(p_.access_request()).object);
        if (must_answer) {
            if (auto ended = p_.failed({remote, bundle})) return ended;
        }
        for (auto const& list : {copies, remote}) {
            for (auto const& item : k8s::items_of(p_.seen(list).object)) {
                if (is_kubeconfig(k8s::name_of(item)) || k8s::is_being_deleted(item)) continue;
                remove({list.cluster, list.resource, k8s::key_of(item)}, item, "a copied secret");
            }
        }
        Seen const& ca = p_.seen(bundle);
        if (ca.present() && Planner::is_ours(ca.object) && !k8s::is_being_deleted(ca.object))
            remove(bundle, ca.object, "the copied CA bundle");
        return p_.has_steps() ? Ended{p_.go_on()} : std::nullopt;
    }

    bool is_kubeconfig(std::string const& name) const {
        auto const ours = kubeconfig();
        auto const flux = flux_kubeconfig();
        return (ours && ours->key.name == name) || (flux && flux->key.name == name);
    }

    /// Step 5 and contract section 5.
    Ended give_access_back() {
        if (!ours_) return std::nullopt;
        Target const target = p_.access_request();
        Json const& access = p_.seen(target).object;
        if (!k8s::is_being_deleted(access)) {
            remove(target, access, "give the access back");
            return p_.go_on();
        }
        auto const finalizers = k8s::finalizers_of(access);
        if (finalizers.size() == 1 && finalizers.front() == kAccessFinalizer) {
            p_.patch_metadata(target, {{"finalizers", Json::array()}}, "our finalizer is the last one on the AccessRequest");
            return p_.go_on();
        }
        return terminating(std::string{kCleanup});
    }

    /// Step 6.
    Plan clear_finalizer() {
        if (p_.is_orphaned()) return p_.end({Outcome::Kind::Done, "its Kro is gone, and nothing of it is left", std::nullopt});
        Json finalizers = Json::array();
        for (auto const& finalizer : k8s::finalizers_of(p_.seen(p_.kro_target()).object)) {
            if (finalizer != kFinalizer) finalizers.push_back(finalizer);
        }
        p_.patch_metadata(p_.kro_target(), {{"finalizers", std::move(finalizers)}}, "everything is cleaned up: let the Kro go");
        if (p_.kro.abandon) {
            p_.add(
                {Cluster::Onboarding,
                 k8s::create(
                     k8s::kEvents,
                     warning_event(p_.kro, "Abandoned",
                                   "The control plane was given up without a check: kro, its ResourceGraphDefinitions and copied "
                                   "secrets may be left behind on it",
                                   p_.now),
                     kFieldManager),
                 "record what was left behind as an Event", true});
        }
        return p_.go_on();
    }

    Planner p_;
    bool ours_ = false;  ///< the AccessRequest is there and is ours
};

}  // namespace

Plan plan_deletion(Planner planner) { return Deletion{std::move(planner)}.plan(); }

}  // namespace kro
