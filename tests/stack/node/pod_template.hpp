#pragma once

#include "tests/stack/node/cluster.hpp"
#include "tests/stack/node/images.hpp"
#include "tests/stack/node/process.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace node {

/// Who a pod is.
struct PodName {
    std::string namespace_;
    std::string name;
    std::string address;  ///< its IP, which nothing listens on
};

/// What a pod template becomes on this machine.
struct Place {
    std::filesystem::path folder;  ///< the pod's own: its kubeconfig, its volumes
    std::filesystem::path log;
    std::string proxy;  ///< the URL of the node's HTTP proxy
    std::string way;    ///< the URL that leads to the API server, "" for its own
};

/// The one container of a template. Null where there is none.
Json const& container_of(Json const& pod_template);

/// The command that the template says, with everything that it takes from the cluster: ConfigMaps, Secrets, and a kubeconfig in
/// the place of the folder with the ServiceAccount's token, which can't be mounted. Volumes lie in the pod's folder; where a
/// variable or an argument names a path in one, it gets the real one. A variable of the template's own always wins.
///
/// The error says what is missing, as a pod's event would.
base::Result<Command, std::string> command_of(Json const& pod_template, PodName const& pod, Place const& place,
                                              Images const& images, Cluster const& cluster);

/// The number of a port: a number itself, or the name of one of the container's ports.
std::optional<std::uint16_t> container_port(Json const& pod_template, Json const& port);

}  // namespace node
