#include "function/reconcile/clusters.hpp"

#include "function/reconcile/plan.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace kro {
namespace {

constexpr std::size_t kKeptConnections = 64;

/// The requests of a round that go to the same API server.
struct Share {
    SharedApi api;
    std::vector<k8s::Request> requests;
    std::vector<std::size_t> places;  ///< in the round
    std::vector<k8s::Answer> answers;
};

std::string identity(k8s::Json const& secret) { return k8s::uid_of(secret) + "/" + k8s::resource_version_of(secret); }

}  // namespace

Clusters::Clusters(SharedApi platform, FindOnboarding onboarding, Connect connect, Sending sending)
    : platform_(std::move(platform)),
      find_onboarding_(std::move(onboarding)),
      connect_(std::move(connect)),
      sending_(sending),
      plural_(kKros.plural) {}

std::vector<k8s::Answer> Clusters::send(std::span<Addressed const> round, k8s::Json const& kubeconfig, base::Deadline deadline) {
    std::vector<std::optional<k8s::Answer>> answers(round.size());
    std::vector<Share> shares;
    std::map<Cluster, k8s::Result<SharedApi>> found;
    for (std::size_t i = 0; i < round.size(); ++i) {
        Cluster const cluster = round[i].cluster;
        auto at = found.find(cluster);
        if (at == found.end()) at = found.emplace(cluster, find(cluster, kubeconfig, deadline)).first;
        if (!at->second) {
            answers[i] = k8s::Answer{base::Failure{at->second.error()}, {}};
            continue;
        }
        SharedApi const& api = *at->second;
        auto share = std::find_if(shares.begin(), shares.end(), [&](Share const& one) { return one.api == api; });
        if (share == shares.end()) share = shares.insert(shares.end(), Share{api, {}, {}, {}});
        share->requests.push_back(round[i].request);
        share->places.push_back(i);
    }

    auto const ask = [&](Share& share) { share.answers = share.api->send(share.requests, deadline); };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < shares.size(); ++i) {
        if (sending_ == Sending::InTurn) {
            ask(shares[i]);
        } else {
            others.emplace_back(ask, std::ref(shares[i]));
        }
    }
    if (!shares.empty()) ask(shares.front());
    for (auto& thread : others) thread.join();

    for (auto& share : shares) {
        for (std::size_t i = 0; i < share.places.size(); ++i) answers[share.places[i]] = std::move(share.answers[i]);
    }
    std::vector<k8s::Answer> result;
    result.reserve(answers.size());
    for (auto& answer : answers) result.push_back(*std::move(answer));
    return result;
}

k8s::Result<SharedApi> Clusters::find(Cluster cluster, k8s::Json const& kubeconfig, base::Deadline deadline) {
    switch (cluster) {
        case Cluster::Platform: return platform_;
        case Cluster::Onboarding: return find_onboarding_(deadline);
        case Cluster::ControlPlane: return control_plane(kubeconfig);
    }
    std::abort();
}

k8s::Result<SharedApi> Clusters::control_plane(k8s::Json const& kubeconfig) {
    auto const unusable = [](std::string message) {
        k8s::Error error;
        error.kind = k8s::Error::Kind::Unusable;
        error.message = std::move(message);
        return base::Failure{std::move(error)};
    };
    if (!kubeconfig.is_object()) return unusable("there is no kubeconfig for the control plane");
    std::string const key = identity(kubeconfig);
    {
        std::lock_guard const lock{mutex_};
        for (auto at = control_planes_.begin(); at != control_planes_.end(); ++at) {
            if (at->first != key) continue;
            control_planes_.splice(control_planes_.begin(), control_planes_, at);
            return at->second;
        }
    }
    auto const text = kubeconfig_text(kubeconfig);
    if (!text) return unusable(text.error());
    auto api = connect_(*text);
    if (!api) {
        return unusable("the kubeconfig in secret " + k8s::to_string(k8s::key_of(kubeconfig)) +
                        " can't be used: " + api.error().message);
    }
    std::lock_guard const lock{mutex_};
    control_planes_.emplace_front(key, *api);
    if (control_planes_.size() > kKeptConnections) control_planes_.pop_back();
    return *api;
}

void Clusters::forget(k8s::Json const& kubeconfig) {
    std::lock_guard const lock{mutex_};
    std::string const key = identity(kubeconfig);
    control_planes_.remove_if([&](auto const& kept) { return kept.first == key; });
}

k8s::Resource Clusters::kros() const {
    std::lock_guard const lock{mutex_};
    k8s::Resource resource = kKros;
    resource.plural = plural_;
    return resource;
}

std::string_view Clusters::keep(std::string text) {
    std::lock_guard const lock{mutex_};
    return *kept_.insert(std::move(text)).first;
}

bool Clusters::rediscover_kros(base::Deadline deadline) {
    auto const onboarding = find_onboarding_(deadline);
    if (!onboarding) return false;
    auto const discovered = k8s::send_one(**onboarding, k8s::discover(kKros), deadline);
    if (!discovered) return false;
    for (auto const& one : base::member(*discovered, "resources")) {
        std::string const name = base::text_of(base::member(one, "name"));
        if (base::text_of(base::member(one, "kind")) != kKros.kind || name.find('/') != std::string::npos) continue;
        std::string_view const plural = keep(name);
        std::lock_guard const lock{mutex_};
        bool const changed = plural != plural_;
        plural_ = plural;
        return changed;
    }
    return false;
}

}  // namespace kro
