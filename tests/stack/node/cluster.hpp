#pragma once

#include "k8s/http_api.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace node {

using k8s::Json;

inline constexpr k8s::Resource kDeployments{"apps", "v1", "deployments", "Deployment"};
inline constexpr k8s::Resource kServices{"", "v1", "services", "Service"};
inline constexpr k8s::Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline constexpr k8s::Resource kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
inline constexpr k8s::Resource kKnativeServices{"serving.knative.dev", "v1", "services", "Service"};

/// The API server that the node belongs to. Safe to use from several threads at once.
class Cluster {
  public:
    explicit Cluster(k8s::ClusterAccess const& access);

    k8s::Result<Json> send(k8s::Request request) const;

    /// A token of the ServiceAccount, by TokenRequest, good for a day.
    k8s::Result<std::string> token_of(k8s::ObjectKey const& account) const;

    /// A kubeconfig for this API server with that token; `way` is another URL that leads there, or "".
    std::string kubeconfig(std::string const& namespace_, std::string const& token, std::string const& way = {}) const;

    k8s::ClusterAccess const& access() const { return access_; }

  private:
    k8s::ClusterAccess access_;
    std::unique_ptr<k8s::HttpApi> api_;
    std::unique_ptr<k8s::HttpTransport> transport_;
};

/// All objects of a resource, for as long as this lives; through restarts of the API server, and before the kind is served.
class Watch {
  public:
    /// Both are called on the watch's own thread: with all that is there, at the beginning and after each gap; then with what has
    /// changed.
    struct Listener {
        std::function<void(std::vector<Json> objects)> listed;
        std::function<void(Json object, bool deleted)> changed;
    };
    Watch(Cluster const& cluster, k8s::Resource const& resource, Listener listener);
    ~Watch();
    Watch(Watch const&) = delete;
    Watch& operator=(Watch const&) = delete;

  private:
    void run();
    void follow(std::string const& resource_version);
    void take(std::string_view bytes);

    Cluster const& cluster_;
    k8s::Resource const resource_;
    Listener const listener_;
    std::string unread_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;  ///< last: it uses everything above
};

}  // namespace node
