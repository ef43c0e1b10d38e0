#pragma once

#include "base/clock.hpp"
#include "k8s/credentials.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace k8s {

/// A program that prints credentials, as an operator's kubeconfig names it.
/// Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
struct ExecPlugin {
    std::string command;  ///< looked up in PATH where it has no slash
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to this program's own
    std::string api_version;                                       ///< client.authentication.k8s.io/v1 or v1beta1
    base::Json cluster;  ///< `spec.cluster` of KUBERNETES_EXEC_INFO, or null where the plugin need not know the cluster
    std::chrono::milliseconds time_limit{30'000};
};

/// Runs the plugin when credentials are first wanted, when they have expired (10 s early), and after a 401; one run at a time,
/// without input, its error output thrown away. Unusable where it fails, is too slow or prints something else than an
/// ExecCredential.
CredentialSource exec_credentials(ExecPlugin plugin, base::Clock clock);

}  // namespace k8s
