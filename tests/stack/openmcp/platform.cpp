#include "tests/stack/openmcp/platform.hpp"

#include "base/base64.hpp"
#include "function/reconcile/onboarding.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>

namespace openmcp {
namespace {

using base::member;
using base::text_of;

constexpr std::string_view kManager = "openmcp-stand-in";
constexpr std::string_view kNamespace = "openmcp-access";
constexpr std::string_view kFinalizer = "stand-in.openmcp.cloud/access";

constexpr k8s::Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole",
                                      k8s::Resource::Scope::Cluster};
constexpr k8s::Resource kClusterRoleBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding",
                                             k8s::Resource::Scope::Cluster};

using Done = base::Result<void, std::string>;

/// An object that a granted request needs on its cluster.
struct Piece {
    k8s::Resource resource;
    Json object;
};

std::string account_of(Json const& request) { return "access-" + k8s::uid_of(request); }

Json binding(std::string const& name, std::string const& role, std::string const& account) {
    return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
            {"kind", kClusterRoleBindings.kind},
            {"metadata", {{"name", name}}},
            {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}}},
            {"subjects", Json::array({Json{{"kind", "ServiceAccount"}, {"name", account}, {"namespace", kNamespace}}})}};
}

/// What the request's token is to be worth on the cluster: an account, and the roles that its spec lists.
std::vector<Piece> pieces_of(Json const& request) {
    std::string const account = account_of(request);
    std::vector<Piece> pieces{
        {k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}}},
        {node::kServiceAccounts,
         {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", account}, {"namespace", kNamespace}}}}}};
    int number = 0;
    for (auto const& permission : member(request, "spec", "token", "permissions")) {
        std::string const name = account + "-" + std::to_string(++number);
        pieces.push_back({kClusterRoles,
                          {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                           {"kind", kClusterRoles.kind},
                           {"metadata", {{"name", name}}},
                           {"rules", permission.at("rules")}}});
        pieces.push_back({kClusterRoleBindings, binding(name, name, account)});
    }
    for (auto const& role : member(request, "spec", "token", "roleRefs")) {
        std::string const name = account + "-" + std::to_string(++number);
        pieces.push_back({kClusterRoleBindings, binding(name, role.at("name"), account)});
    }
    return pieces;
}

Done sent(node::Cluster const& cluster, k8s::Request request) {
    std::string const what = k8s::describe(request);
    auto const answer = cluster.send(std::move(request));
    if (!answer) return base::Failure{what + ": " + answer.error().message};
    return {};
}

Done written_status(node::Cluster const& cluster, k8s::Resource const& resource, Json const& request, Json status) {
    status["observedGeneration"] = k8s::generation_of(request);
    Json object = {{"apiVersion", k8s::api_version(resource)},
                   {"kind", resource.kind},
                   {"metadata", {{"name", k8s::name_of(request)}, {"namespace", k8s::namespace_of(request)}}},
                   {"status", std::move(status)}};
    return sent(cluster, k8s::apply_status(resource, std::move(object), kManager));
}

Done written_finalizers(node::Cluster const& cluster, Json const& request, bool with_ours) {
    Json finalizers = Json::array();
    for (auto const& finalizer : k8s::finalizers_of(request)) {
        if (finalizer != kFinalizer) finalizers.push_back(finalizer);
    }
    if (with_ours) finalizers.push_back(kFinalizer);
    Json patch = {{"metadata", {{"resourceVersion", k8s::resource_version_of(request)}, {"finalizers", std::move(finalizers)}}}};
    return sent(cluster, k8s::merge_patch(kro::kAccessRequests, k8s::key_of(request), std::move(patch), kManager));
}

bool is_answered(Json const& request) {
    return text_of(member(request, "status", "phase")) == "Granted" &&
           base::integer_of(member(request, "status", "observedGeneration"), -1) == k8s::generation_of(request);
}

}  // namespace

base::Result<void, std::string> Platform::react_to_cluster_request(Json const& request) {
    if (k8s::is_being_deleted(request) || is_answered(request)) return {};
    return written_status(
        home(), kro::kClusterRequests, request,
        {{"phase", "Granted"}, {"cluster", {{"name", "onboarding"}, {"namespace", k8s::namespace_of(request)}}}});
}

base::Result<void, std::string> Platform::react_to_access_request(Json const& request) {
    if (k8s::is_being_deleted(request)) return take_back(request);
    if (is_answered(request)) return {};
    if (!k8s::has_finalizer(request, kFinalizer)) return written_finalizers(home(), request, true);
    return grant(request);
}

std::string Platform::cluster_for(Json const& request) const {
    if (k8s::name_of(request) == kro::onboarding_request_name())
        return clusters_.contains("onboarding") ? "onboarding" : "platform";
    std::string const wanted = text_of(member(request, "spec", "requestRef", "name"));
    for (auto const& [name, cluster] : clusters_) {
        if (name.starts_with("mcp-") && wanted.starts_with(name)) return name;
    }
    return clusters_.lower_bound("mcp-")->first;
}

base::Result<void, std::string> Platform::grant(Json const& request) {
    Cluster const& cluster = *clusters_.at(cluster_for(request));
    for (auto& piece : pieces_of(request)) TRY(sent(cluster, k8s::apply(piece.resource, std::move(piece.object), kManager)));
    auto const token = cluster.token_of({std::string{kNamespace}, account_of(request)});
    if (!token) return base::Failure{token.error().message};
    std::string const secret = k8s::name_of(request) + ".kubeconfig";
    Json const owner = {{"apiVersion", k8s::api_version(kro::kAccessRequests)},
                        {"kind", kro::kAccessRequests.kind},
                        {"name", k8s::name_of(request)},
                        {"uid", k8s::uid_of(request)}};
    Json object = {
        {"apiVersion", "v1"},
        {"kind", "Secret"},
        {"metadata", {{"name", secret}, {"namespace", k8s::namespace_of(request)}, {"ownerReferences", Json::array({owner})}}},
        {"type", "Opaque"},
        {"data", {{"kubeconfig", base::encode_base64(cluster.kubeconfig("default", *token))}}}};
    TRY(sent(home(), k8s::apply(k8s::kSecrets, std::move(object), kManager)));
    return written_status(home(), kro::kAccessRequests, request, {{"phase", "Granted"}, {"secretRef", {{"name", secret}}}});
}

base::Result<void, std::string> Platform::take_back(Json const& request) {
    if (!k8s::has_finalizer(request, kFinalizer)) return {};
    Cluster const& cluster = *clusters_.at(cluster_for(request));
    for (auto const& piece : pieces_of(request)) {
        if (piece.resource == k8s::kNamespaces) continue;
        auto const removed = cluster.send(k8s::remove(piece.resource, k8s::key_of(piece.object), {}));
        if (!removed && removed.error().kind != k8s::Error::Kind::NotFound) return base::Failure{removed.error().message};
    }
    return written_finalizers(home(), request, false);
}

}  // namespace openmcp
