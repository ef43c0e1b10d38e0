#pragma once

#include "tests/stack/node/cluster.hpp"

#include <map>
#include <memory>
#include <string>

namespace openmcp {

using k8s::Json;

/// Plays the openMCP platform: lends clusters, by real ServiceAccounts with real tokens, and takes them back. It acts on the requests
/// alone. One thread at a time.
class Platform {
  public:
    using Cluster = node::Cluster;

    /// `clusters` by name; `platform` is where the requests are. A request for the onboarding cluster is about `onboarding`, or about
    /// `platform` where there is none; any other about the cluster whose name its own starts with, or else the first `mcp-`.
    explicit Platform(std::map<std::string, std::unique_ptr<Cluster>> clusters) : clusters_(std::move(clusters)) {}

    Cluster const& home() const { return *clusters_.at("platform"); }

    /// Does what is to be done about a request as it is now. The error is a sentence.
    base::Result<void, std::string> react_to_cluster_request(Json const& request);
    base::Result<void, std::string> react_to_access_request(Json const& request);

  private:
    base::Result<void, std::string> grant(Json const& request);
    base::Result<void, std::string> take_back(Json const& request);
    std::string cluster_for(Json const& request) const;

    std::map<std::string, std::unique_ptr<Cluster>> clusters_;
};

}  // namespace openmcp
