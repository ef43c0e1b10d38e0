#pragma once

#include "base/clock.hpp"
#include "k8s/credentials.hpp"
#include "k8s/server_address.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace k8s {

/// How to reach one cluster, and as whom. A value: copies share the source of the credentials.
struct ClusterAccess {
    enum class Verification { On, Off };

    std::string name;  ///< for messages: "cluster acme"
    ServerAddress server;
    std::string ca;               ///< PEM: the only CAs that are trusted; "" means the system's
    std::string tls_server_name;  ///< the name that the certificate must have; "" means the server's host
    std::string proxy_url;        ///< http://, https:// or socks5://; "" means none, whatever the environment says
    std::string namespace_;       ///< of the context, "" where it has none
    Verification verification = Verification::On;
    CredentialSource credentials = fixed_credentials({});
};

/// Who wrote a kubeconfig, and so what it may make this program do.
enum class KubeconfigTrust {
    /// A less trusted party, in a Secret: nothing is run or opened, and verification stays on. exec, auth-provider, every file
    /// (certificate-authority, client-certificate, client-key, tokenFile) and insecure-skip-tls-verify are refused, by name.
    /// Without any CA the system's are used, as client-go does.
    FromSecret,
    /// Whoever runs this program: files are read, relative to the kubeconfig's folder, an exec plugin is run when credentials are
    /// wanted, and insecure-skip-tls-verify counts, except together with CA data.
    OperatorFile,
};

/// Reads the text of a kubeconfig. Every failure is Unusable, with a message that names the entry, the field, what is wrong with
/// it and what to do; never a value, apart from the names of entries.
///
/// Only what current-context leads to is read; what else is in the text does no harm. Nothing is guessed: no current-context, a
/// name that leads nowhere, a name that is there twice, a merge key (`<<`), an impersonated user (`as`) or an unknown kind of
/// value in an entry that is used is refused. Data wins over the file of the same thing. A CA that is given and broken, or empty,
/// is refused: there is no way back to the system's CAs. `folder` and `clock` (for the expiry of what an exec plugin prints)
/// matter to OperatorFile alone. Source: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
Result<ClusterAccess> read_kubeconfig(std::string_view text, KubeconfigTrust trust, std::filesystem::path const& folder = {},
                                      base::Clock clock = {});

/// Reads a kubeconfig file of the operator's, at most 1 MiB.
Result<ClusterAccess> read_kubeconfig_file(std::filesystem::path const& file, base::Clock clock);

/// The folder that Kubernetes mounts into a pod: `token` and `ca.crt`.
inline constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The cluster that this program runs in. `host` and `port` are KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; an IPv6
/// address may come without brackets. The token is read again whenever it is used; ca.crt once. Unusable where one of the four is
/// missing.
Result<ClusterAccess> in_cluster_access(std::string_view host, std::string_view port,
                                        std::filesystem::path const& folder = std::filesystem::path{kServiceAccountFolder});

}  // namespace k8s
