#include "function/reconcile/planner.hpp"
#include "function/tenant/provider_config.hpp"
#include "function/tenant/pull_secret.hpp"
#include "k8s/condition.hpp"
#include "k8s/kubeconfig.hpp"

#include <algorithm>
#include <utility>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

constexpr std::string_view kWaitingForAccess = "Waiting for access to the control plane";
constexpr std::string_view kWaitingForResources = "Waiting for managed resources to become ready";
constexpr std::string_view kDomainServiceIsReady = "Domain Service is ready";

/// Contract section 3 as one run down its list. Each step either lets the next one go on (none) or ends the plan: with more to read
/// or to write first, or with what is said to the tenant.
class Installation {
  public:
    explicit Installation(Planner planner) : p_(std::move(planner)) {}

    Plan plan() {
        if (auto ended = read_config()) return *std::move(ended);
        if (auto ended = set_finalizer()) return *std::move(ended);
        if (auto ended = ask_for_access()) return *std::move(ended);
        if (auto ended = look_at_the_rest()) return *std::move(ended);
        if (auto ended = check_kubeconfig()) return *std::move(ended);
        if (auto ended = copy_pull_secret()) return *std::move(ended);
        if (auto ended = copy_ca_bundle()) return *std::move(ended);
        if (auto ended = remove_stale_copies()) return *std::move(ended);
        if (auto ended = apply_oci_repository()) return *std::move(ended);
        if (auto ended = fill_control_plane()) return *std::move(ended);
        if (auto ended = apply_helm_release()) return *std::move(ended);
        return say_how_it_is();
    }

  private:
    using Ended = std::optional<Plan>;

    Plan error(std::string message) {
        return p_.conclude({Verdict::Phase::Progressing, std::string{kReasonError}, std::move(message)}, Outcome::Kind::Waiting);
    }
    Plan waiting(std::string message) {
        return p_.conclude({Verdict::Phase::Progressing, std::string{kReasonReconciling}, std::move(message)},
                           Outcome::Kind::Waiting);
    }
    /// Step 2.
    Ended read_config() {
        if (auto ended = p_.failed({p_.provider_config(), p_.access_request()})) return ended;
        Seen const& seen = p_.seen(p_.provider_config());
        if (seen.absent()) {
            return error("No ProviderConfig found: create the ProviderConfig \"" + p_.provider.name +
                         "\" on the platform cluster");
        }
        if (operation_of(seen.object) == Operation::Ignore) {
            return p_.end({Outcome::Kind::Done,
                           "frozen: the ProviderConfig's " + std::string{kOperationAnnotation} + " is ignore", std::nullopt});
        }
        auto config = read_provider_config(seen.object);
        if (!config) return error(config.error());
        auto chart = chart_for(*config, p_.kro.version);
        if (!chart) return error(chart.error());
        config_ = *std::move(config);
        chart_ = *std::move(chart);
        return std::nullopt;
    }

    /// Step 3: before anything is made that would have to be cleaned up. The namespace is not ours to clean up and goes along.
    Ended set_finalizer() {
        if (!p_.kro.has_finalizer) {
            Json finalizers = Json::array();
            for (auto const& finalizer : k8s::finalizers_of(p_.seen(p_.kro_target()).object)) finalizers.push_back(finalizer);
            finalizers.push_back(kFinalizer);
            p_.patch_metadata(p_.kro_target(), {{"finalizers", std::move(finalizers)}},
                              "set the finalizer, so that nothing is left behind");
        }
        if (p_.seen(p_.access_request()).absent() && !p_.seen(p_.namespace_target()).present()) {
            p_.step(Cluster::Platform, k8s::create(k8s::kNamespaces, bare_namespace(p_.tenant_namespace), kFieldManager),
                    "create the tenant's namespace where it is missing");
        }
        return p_.has_steps() ? Ended{p_.go_on()} : std::nullopt;
    }

    /// Step 4 and contract section 5.
    Ended ask_for_access() {
        Seen const& access = p_.seen(p_.access_request());
        Desired const desired = desired_access_request(p_.kro.tenant);
        if (access.present()) {
            if (auto foreign = p_.foreign_access(desired.object["metadata"]["labels"])) return error(*std::move(foreign));
            if (k8s::is_being_deleted(access.object)) {
                return waiting("The access to the control plane is being given back; it is asked for anew when that is done");
            }
            Json const& wanted = desired.object["spec"]["requestRef"];
            Json const& actual = member(access.object, "spec", "requestRef");
            if (!base::contains_json(actual, wanted)) {
                return error("AccessRequest " + k8s::to_string(p_.access_request().key) + " has spec.requestRef " +
                             base::dump_json(actual) + ", which can't be changed to " + base::dump_json(wanted) +
                             "; delete the Kro and create it anew to ask for the right access");
            }
        }
        p_.ensure(p_.access_request(), desired, "ask for access to the control plane");
        if (access.absent()) return p_.go_on();

        std::string const phase = text_of(member(access.object, "status", "phase"));
        bool const current =
            base::integer_of(member(access.object, "status", "observedGeneration"), -1) == k8s::generation_of(access.object);
        if (phase == "Denied") return error("Access to the control plane was denied: " + reasons_of(access.object));
        if (phase != "Granted" || !current) return waiting(std::string{kWaitingForAccess});
        kubeconfig_secret_ = text_of(member(access.object, "status", "secretRef", "name"));
        if (kubeconfig_secret_.empty()) return waiting(std::string{kWaitingForAccess} + ": granted, but it names no secret yet");
        return std::nullopt;
    }

    /// The messages of the request's conditions that are not True.
    static std::string reasons_of(Json const& access) {
        std::string reasons;
        Json const& conditions = member(access, "status", "conditions");
        if (conditions.is_array()) {
            for (auto const& condition : conditions) {
                std::string const message = text_of(member(condition, "message"));
                if (text_of(member(condition, "status")) == "True" || message.empty()) continue;
                reasons += (reasons.empty() ? "" : "; ") + message;
            }
        }
        return reasons.empty() ? "access was denied" : reasons;
    }

    /// Whether the Flux objects may exist: not before the first status that lists them. Saves two reads for every new tenant; were it
    /// wrong, the apply below would meet the object and the plan would go on from there.
    bool flux_objects_may_exist() const { return p_.looked_at(p_.oci_repository()) || !member(p_.status(), "resources").empty(); }

    Target kubeconfig() const { return {Cluster::Platform, k8s::kSecrets, {p_.tenant_namespace, kubeconfig_secret_}}; }
    Target ca_source() const { return p_.source(k8s::kConfigMaps, config_.ca_bundle->name); }
    Target copies() const { return p_.copy({}); }
    Target ca_copy() const { return p_.copy(std::string{kCaBundleName}); }

    /// The second round: everything whose name is known by now.
    Ended look_at_the_rest() {
        std::vector<Target> targets;
        if (flux_objects_may_exist()) {
            targets = {p_.oci_repository(), p_.helm_release()};
            bool const settings_may_have_changed = !p_.is_about_flux() && !p_.seen(p_.oci_repository()).created;
            if (settings_may_have_changed) targets.push_back(copies());
            // The HelmRelease may turn out to name secrets that nobody wants any more: that would be known a round too late.
            if (settings_may_have_changed && !p_.looked_at(p_.helm_release())) targets.push_back(kubeconfig());
        } else {
            targets = {kubeconfig()};
        }
        if (!chart_.pull_secret.empty()) {
            targets.insert(targets.end(), {p_.source(k8s::kSecrets, chart_.pull_secret), p_.copy(chart_.pull_secret)});
        }
        if (config_.ca_bundle) targets.insert(targets.end(), {ca_source(), ca_copy()});
        for (auto const& name : chart_.image_pull_secrets) targets.push_back(p_.source(k8s::kSecrets, name));
        if (wants_control_plane()) targets.push_back(kubeconfig());
        if (!p_.know(targets)) return p_.go_on();
        if (auto ended = p_.failed(targets)) return ended;
        for (auto const& target : {p_.oci_repository(), p_.helm_release()}) {
            if (k8s::is_being_deleted(p_.seen(target).object)) {
                return waiting(std::string{target.resource.kind} + " " + target.key.name +
                               " is being deleted; it is made anew when it is gone");
            }
        }
        return std::nullopt;
    }

    bool wants_control_plane() const { return !chart_.image_pull_secrets.empty() || config_.ca_bundle.has_value(); }

    /// What an earlier configuration has put on the control plane, as the HelmRelease and the OCIRepository still say.
    bool may_have_left_something() const {
        Json const& ca = member(p_.seen(p_.oci_repository()).object, "spec", "certSecretRef");
        return !named_before().empty() || has_leftovers() || !ca.is_null();
    }

    /// The image pull secrets that the HelmRelease names.
    std::set<std::string> named_before() const {
        return pull_secrets_of(member(p_.seen(p_.helm_release()).object, "spec", "values"));
    }
    /// Whether the HelmRelease bears our mark that secrets it no longer names were still to be removed from the control plane.
    bool has_leftovers() const { return !k8s::annotation_of(p_.seen(p_.helm_release()).object, kLeftoversAnnotation).empty(); }

    /// Section 5: the kubeconfig is looked at before it is used, by us or for the first time by Flux.
    Ended check_kubeconfig() {
        Seen const& release = p_.seen(p_.helm_release());
        std::string const used = text_of(member(release.object, "spec", "kubeConfig", "secretRef", "name"));
        bool const needed = used != kubeconfig_secret_ || wants_control_plane() || may_have_left_something();
        if (!needed) return std::nullopt;
        if (!p_.know(kubeconfig())) return p_.go_on();
        if (auto ended = p_.failed({kubeconfig()})) return ended;
        Seen const& secret = p_.seen(kubeconfig());
        if (secret.absent()) {
            return waiting(std::string{kWaitingForAccess} + ": granted, but secret " + k8s::to_string(kubeconfig().key) +
                           " is not there yet");
        }
        auto const text = kubeconfig_text(secret.object);
        if (!text) return waiting(std::string{kWaitingForAccess} + ": " + text.error());
        auto const access = k8s::read_kubeconfig(*text, k8s::KubeconfigTrust::FromSecret);
        if (!access) {
            return error("The kubeconfig in secret " + k8s::to_string(kubeconfig().key) +
                         " can't be used: " + access.error().message);
        }
        return std::nullopt;
    }

    /// Makes `target` a copy of ours, or accepts another's that says the same. Ends the plan with what is in the way.
    Ended ensure_copy(Target const& target, Desired const& desired, std::string const& why) {
        Seen const& actual = p_.seen(target);
        if (actual.present() && !Planner::is_ours(actual.object)) {
            bool const same = base::same_json(member(actual.object, "data"), desired.object["data"]) &&
                              member(actual.object, "type") == member(desired.object, "type");
            if (same) return std::nullopt;
            return error(std::string{target.resource.kind} + " " + k8s::to_string(target.key) + " on the " +
                         std::string{name_of(target.cluster)} + " was made by someone else and differs from its source in " +
                         p_.provider.namespace_ + "; remove it or make it the same");
        }
        if (actual.present() && member(actual.object, "type") != member(desired.object, "type")) {
            remove(target, "its type can't be changed; it is made anew");
            return p_.go_on();
        }
        p_.ensure(target, desired, why);
        return std::nullopt;
    }

    void remove(Target const& target, std::string why) {
        Json const& object = p_.seen(target).object;
        p_.step(target.cluster, k8s::remove(target.resource, target.key, {k8s::uid_of(object), k8s::resource_version_of(object)}),
                "remove: " + std::move(why));
    }

    /// Step 5.
    Ended copy_pull_secret() {
        if (chart_.pull_secret.empty()) return std::nullopt;
        Target const from = p_.source(k8s::kSecrets, chart_.pull_secret);
        if (auto fault = source_fault(from, PullSecretTypes::DockerConfigJson)) return error(*std::move(fault));
        Target const to = p_.copy(chart_.pull_secret);
        return ensure_copy(to, copied_secret(p_.kro.tenant, p_.seen(from).object, to.key), "the chart's pull secret");
    }

    std::optional<std::string> source_fault(Target const& from, PullSecretTypes taken) {
        if (p_.seen(from).absent()) {
            return "pull secret " + from.key.name + " does not exist in namespace " + from.key.namespace_ +
                   " on the platform cluster; create it there (type kubernetes.io/dockerconfigjson)";
        }
        return pull_secret_fault(p_.seen(from).object, taken);
    }

    /// The CA bundle's copy for source-controller.
    Ended copy_ca_bundle() {
        if (!config_.ca_bundle) return std::nullopt;
        std::string const where = "ConfigMap " + k8s::to_string(ca_source().key) + " (ProviderConfig spec.caBundleRef)";
        if (p_.seen(ca_source()).absent()) return error(where + " does not exist on the platform cluster");
        ca_pem_ = text_of(member(p_.seen(ca_source()).object, "data", config_.ca_bundle->key));
        if (ca_pem_.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
            return error(where + " has no PEM certificate under the key " + config_.ca_bundle->key);
        }
        return ensure_copy(ca_copy(), ca_secret(p_.kro.tenant, ca_pem_, ca_copy().key), "the CA bundle for the chart's registry");
    }

    /// Copies that no setting names any more go along with their references: the label on them is what leads back here, in whatever
    /// order the writes arrive. Only the CA bundle on the control plane has no list to be found by; it goes before its reference does.
    Ended remove_stale_copies() {
        Json const& spec = member(p_.seen(p_.oci_repository()).object, "spec");
        std::string const pull_secret = text_of(member(spec, "secretRef", "name"));
        std::string const ca_secret = text_of(member(spec, "certSecretRef", "name"));
        bool const referred_to =
            (!pull_secret.empty() && pull_secret != chart_.pull_secret) || (!ca_secret.empty() && !config_.ca_bundle);
        if (referred_to && !p_.know(copies())) return p_.go_on();
        if (auto ended = p_.failed({copies()})) return ended;
        for (auto const& item : k8s::items_of(p_.seen(copies()).object)) {
            std::string const name = k8s::name_of(item);
            bool const wanted = name == chart_.pull_secret || (config_.ca_bundle && name == kCaBundleName);
            if (wanted || is_kubeconfig(name) || k8s::is_being_deleted(item)) continue;
            p_.step(Cluster::Platform, k8s::remove(k8s::kSecrets, k8s::key_of(item), {k8s::uid_of(item), {}}),
                    "remove: no setting names this copy any more");
        }
        if (ca_secret.empty() || config_.ca_bundle) return std::nullopt;
        if (!p_.know(remote_ca_bundle())) return p_.go_on();
        if (auto ended = p_.failed({remote_ca_bundle()})) return ended;
        if (!p_.seen(remote_ca_bundle()).present() || !Planner::is_ours(p_.seen(remote_ca_bundle()).object)) return std::nullopt;
        remove(remote_ca_bundle(), "no setting names this copy any more");
        return p_.go_on();
    }

    /// Whatever label the platform gives it, it is not a copy of ours.
    bool is_kubeconfig(std::string const& name) const {
        Json const& release = p_.seen(p_.helm_release()).object;
        return name == kubeconfig_secret_ || name == text_of(member(release, "spec", "kubeConfig", "secretRef", "name"));
    }

    /// Step 6.
    Ended apply_oci_repository() {
        std::string const ca = config_.ca_bundle ? std::string{kCaBundleName} : std::string{};
        p_.ensure(p_.oci_repository(), desired_oci_repository(p_.kro.tenant, chart_, ca), "the chart's OCIRepository");
        return std::nullopt;
    }

    Target remote_secrets() const { return p_.remote(k8s::kSecrets, {}); }
    Target remote_ca_bundle() const { return p_.remote(k8s::kConfigMaps, std::string{kCaBundleName}); }
    Target remote_namespace() const {
        return {Cluster::ControlPlane, k8s::kNamespaces, {{}, std::string{kControlPlaneNamespace}}};
    }

    /// Step 7, and the CA bundle's copy for what runs on the control plane.
    Ended fill_control_plane() {
        if (!wants_control_plane() && !may_have_left_something()) return std::nullopt;
        for (auto const& name : chart_.image_pull_secrets) {
            Target const from = p_.source(k8s::kSecrets, name);
            if (auto fault = source_fault(from, PullSecretTypes::DockerConfigJsonOrDockerCfg)) return error(*std::move(fault));
        }
        if (auto ended = look_at_control_plane()) return ended;
        if (!missing_.empty() && p_.seen(remote_namespace()).absent()) {
            p_.step(Cluster::ControlPlane, k8s::create(k8s::kNamespaces, bare_namespace(kControlPlaneNamespace), kFieldManager),
                    "create kro-system where it is missing");
            return p_.go_on();
        }
        for (auto const& name : chart_.image_pull_secrets) {
            Target const to = p_.remote(k8s::kSecrets, name);
            Json const& source = p_.seen(p_.source(k8s::kSecrets, name)).object;
            if (auto ended = ensure_remote_copy(to, copied_secret(p_.kro.tenant, source, to.key), "an image pull secret"))
                return ended;
        }
        if (config_.ca_bundle) {
            Desired const bundle = ca_config_map(p_.kro.tenant, ca_pem_);
            if (auto ended = ensure_copy(remote_ca_bundle(), bundle, "the CA bundle on the control plane")) return ended;
        }
        remove_stale_remote_copies();
        return std::nullopt;
    }

    /// One request says what of ours is there; only what is missing among it is looked at by name, since somebody else may have made it.
    /// What no HelmRelease named before is most likely missing and is looked at along with the rest.
    Ended look_at_control_plane() {
        std::vector<Target> targets{remote_secrets()};
        if (config_.ca_bundle) targets.push_back(remote_ca_bundle());
        auto const before = named_before();
        for (auto const& name : chart_.image_pull_secrets) {
            if (before.contains(name)) continue;
            targets.insert(targets.end(), {p_.remote(k8s::kSecrets, name), remote_namespace()});
        }
        if (!p_.know(targets)) return p_.go_on();
        if (auto ended = p_.failed(targets)) return ended;
        for (auto const& name : chart_.image_pull_secrets) {
            if (find_remote(name) == nullptr) missing_.push_back(p_.remote(k8s::kSecrets, name));
        }
        if (config_.ca_bundle && p_.seen(remote_ca_bundle()).absent()) missing_.push_back(remote_ca_bundle());
        if (missing_.empty()) return std::nullopt;
        std::vector<Target> by_name = missing_;
        by_name.push_back(remote_namespace());
        if (!p_.know(by_name)) return p_.go_on();
        if (auto ended = p_.failed(by_name)) return ended;
        return std::nullopt;
    }

    /// The copy of ours of that name, as the list has it.
    Json const* find_remote(std::string const& name) const {
        Json const& items = k8s::items_of(p_.seen(remote_secrets()).object);
        auto const found = std::find_if(items.begin(), items.end(), [&](Json const& item) { return k8s::name_of(item) == name; });
        return found == items.end() ? nullptr : &*found;
    }

    Ended ensure_remote_copy(Target const& target, Desired const& desired, std::string const& why) {
        if (p_.looked_at(target)) return ensure_copy(target, desired, why);
        Json const& actual = *find_remote(target.key.name);
        if (member(actual, "type") == member(desired.object, "type") && !differs(actual, desired)) return std::nullopt;
        return p_.know(target) ? ensure_copy(target, desired, why) : Ended{p_.go_on()};
    }

    void remove_stale_remote_copies() {
        for (auto const& item : k8s::items_of(p_.seen(remote_secrets()).object)) {
            std::string const name = k8s::name_of(item);
            auto const& wanted = chart_.image_pull_secrets;
            if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) continue;
            leaves_secrets_ = true;
            if (k8s::is_being_deleted(item)) continue;
            p_.step(Cluster::ControlPlane, k8s::remove(k8s::kSecrets, k8s::key_of(item), {k8s::uid_of(item), {}}),
                    "remove: no setting names this secret any more");
        }
    }

    /// Step 8. Secrets that its values name no longer are removed from the control plane at the same time. The HelmRelease says so until
    /// that has been seen done: nothing else would lead back to them.
    Ended apply_helm_release() {
        Desired desired = desired_helm_release(p_.kro.tenant, chart_, kubeconfig_secret_);
        if (leaves_secrets_) desired.object["metadata"]["annotations"][std::string{kLeftoversAnnotation}] = "true";
        p_.ensure(p_.helm_release(), desired, "the HelmRelease");
        return p_.has_steps() ? Ended{p_.go_on()} : std::nullopt;
    }

    /// Step 9.
    Plan say_how_it_is() {
        Plan plan = tell_the_tenant();
        if (plan.reads.empty() && has_leftovers() && !leaves_secrets_) {
            plan.steps.push_back(p_.metadata_patch(p_.helm_release(), {{"annotations", {{kLeftoversAnnotation, nullptr}}}},
                                                   "all that the HelmRelease no longer names is gone from the control plane"));
        }
        return plan;
    }

    Plan tell_the_tenant() {
        Json const& repository = p_.seen(p_.oci_repository()).object;
        Json const& release = p_.seen(p_.helm_release()).object;
        Readiness const chart = readiness_of(repository);
        Readiness const install = helm_release_readiness(release, repository);
        auto const entry = [](Target const& target, Readiness const& readiness) {
            return resource_entry(target.resource, target.key, readiness.ready ? "Ready" : "Progressing", readiness.message);
        };
        Json resources = Json::array({entry(p_.oci_repository(), chart), entry(p_.helm_release(), install)});
        if (chart.ready && install.ready) {
            return p_.conclude({Verdict::Phase::Ready, std::string{kReasonSuccess}, std::string{kDomainServiceIsReady}},
                               Outcome::Kind::Done, std::move(resources));
        }
        return p_.conclude({Verdict::Phase::Progressing, std::string{kReasonReconciling}, std::string{kWaitingForResources}},
                           Outcome::Kind::Waiting, std::move(resources));
    }

    Planner p_;
    ProviderConfig config_;
    Chart chart_;
    std::string kubeconfig_secret_;
    std::string ca_pem_;
    std::vector<Target> missing_;  ///< of our copies on the control plane
    bool leaves_secrets_ = false;  ///< on the control plane are copies of ours that no setting names any more
};

}  // namespace

Plan plan_installation(Planner planner) { return Installation{std::move(planner)}.plan(); }

}  // namespace kro
