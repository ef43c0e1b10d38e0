#include "function/reconcile/onboarding.hpp"

#include "function/reconcile/plan.hpp"
#include "function/tenant/kinds.hpp"

#include <chrono>

namespace kro {
namespace {

using base::Failure;
using base::member;
using base::text_of;
using k8s::Json;

/// How long a renewal of the credentials may take that a refused request is waiting for.
constexpr std::chrono::seconds kRenewal{5};

Failure<k8s::Error> not_yet(std::string message) {
    k8s::Error error;
    error.kind = k8s::Error::Kind::Unavailable;
    error.message = std::move(message);
    return Failure{std::move(error)};
}

Json metadata(std::string const& namespace_) {
    return {{"name", onboarding_request_name()}, {"namespace", namespace_}, {"labels", {{kManagedByLabel, kGroup}}}};
}

Json cluster_request(std::string const& namespace_) {
    return {{"apiVersion", k8s::api_version(kClusterRequests)},
            {"kind", kClusterRequests.kind},
            {"metadata", metadata(namespace_)},
            {"spec", {{"purpose", "onboarding"}}}};
}

Json access_request(std::string const& namespace_) {
    Json const rule = {{"apiGroups", {"*"}}, {"resources", {"*"}}, {"verbs", {"*"}}};
    return {{"apiVersion", k8s::api_version(kAccessRequests)},
            {"kind", kAccessRequests.kind},
            {"metadata", metadata(namespace_)},
            {"spec",
             {{"requestRef", {{"name", onboarding_request_name()}, {"namespace", namespace_}}},
              {"token",
               {{"permissions", Json::array({Json{{"rules", Json::array({rule})}}})},
                {"roleRefs", Json::array({Json{{"kind", "ClusterRole"}, {"name", "cluster-admin"}}})}}}}}};
}

bool is_granted(Json const& request) {
    return text_of(member(request, "status", "phase")) == "Granted" &&
           base::integer_of(member(request, "status", "observedGeneration"), -1) == k8s::generation_of(request);
}

/// The request as it is, made where it is missing.
k8s::Result<Json> find_or_make(k8s::Api& platform, k8s::Resource const& resource, Json wanted, base::Deadline deadline) {
    k8s::ObjectKey const key = k8s::key_of(wanted);
    auto found = k8s::send_one(platform, k8s::get(resource, key), deadline);
    if (!found && found.error().is_absence()) {
        return k8s::send_one(platform, k8s::apply(resource, std::move(wanted), kFieldManager), deadline);
    }
    Json request = TRY(std::move(found));
    if (k8s::label_of(request, kManagedByLabel) == kGroup) return request;
    return not_yet(std::string{resource.kind} + " " + k8s::to_string(key) + " belongs to someone else: its label " +
                   std::string{kManagedByLabel} + " is not " + std::string{kGroup});
}

}  // namespace

std::string onboarding_request_name() { return std::string{kGroup} + "--onboarding"; }

OnboardingAccess::OnboardingAccess(SharedApi platform, std::string provider_namespace, Open open)
    : platform_(std::move(platform)), namespace_(std::move(provider_namespace)), open_(std::move(open)) {}

k8s::Result<SharedApi> OnboardingAccess::find(base::Deadline deadline) {
    {
        std::lock_guard const lock{mutex_};
        if (connection_) return connection_;
    }
    Json const request = TRY(request_access(deadline));
    k8s::ObjectKey const secret{namespace_, text_of(member(request, "status", "secretRef", "name"))};
    if (secret.name.empty())
        return not_yet("AccessRequest " + k8s::to_string(k8s::key_of(request)) + " is granted but names no secret yet");
    k8s::ClusterAccess access = TRY(read_access(secret, deadline));

    // The Secret may be rotated while the connection is kept: after a 401 it is read again.
    k8s::CredentialSource const first = access.credentials;
    auto const latest = std::make_shared<k8s::CredentialSource>(first);
    auto const guard = std::make_shared<std::mutex>();
    access.credentials = [this, secret, latest, guard](k8s::Freshness freshness) {
        std::lock_guard const lock{*guard};
        if (freshness == k8s::Freshness::Anew) {
            auto renewed = read_access(secret, std::chrono::steady_clock::now() + kRenewal);
            if (renewed) *latest = renewed->credentials;
        }
        return (*latest)(k8s::Freshness::Cached);
    };
    SharedApi const opened = TRY(open_(access));
    std::lock_guard const lock{mutex_};
    if (!connection_) connection_ = opened;
    return connection_;
}

k8s::Result<Json> OnboardingAccess::request_access(base::Deadline deadline) {
    Json const cluster = TRY(find_or_make(*platform_, kClusterRequests, cluster_request(namespace_), deadline));
    if (!is_granted(cluster)) {
        return not_yet("waiting for ClusterRequest " + k8s::to_string(k8s::key_of(cluster)) + " to be granted; its phase is \"" +
                       text_of(member(cluster, "status", "phase")) + "\"");
    }
    Json access = TRY(find_or_make(*platform_, kAccessRequests, access_request(namespace_), deadline));
    if (is_granted(access)) return access;
    return not_yet("waiting for AccessRequest " + k8s::to_string(k8s::key_of(access)) + " to be granted; its phase is \"" +
                   text_of(member(access, "status", "phase")) + "\"");
}

k8s::Result<k8s::ClusterAccess> OnboardingAccess::read_access(k8s::ObjectKey const& secret, base::Deadline deadline) {
    Json const object = TRY(k8s::send_one(*platform_, k8s::get(k8s::kSecrets, secret), deadline));
    auto const text = kubeconfig_text(object);
    if (!text) return not_yet("access to the onboarding cluster: " + text.error());
    return k8s::read_kubeconfig(*text, k8s::KubeconfigTrust::FromSecret);
}

}  // namespace kro
