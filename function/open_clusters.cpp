#include "function/open_clusters.hpp"

#include "function/reconcile/onboarding.hpp"
#include "k8s/http_api.hpp"

namespace kro {
namespace {

k8s::HttpOptions http_options() {
    k8s::HttpOptions options;
    options.user_agent = std::string{"kro-function/"} + kProgramVersion;
    options.clock = base::system_clock();
    return options;
}

/// Makes clients, each behind what stands before it.
struct Opener {
    Wrap wrap;

    k8s::Result<SharedApi> operator()(k8s::ClusterAccess const& access) const {
        auto api = TRY(k8s::connect(access, http_options()));
        return wrap(SharedApi{std::move(api)});
    }
    k8s::Result<SharedApi> control_plane(std::string const& kubeconfig) const {
        k8s::ClusterAccess const access = TRY(k8s::read_kubeconfig(kubeconfig, k8s::KubeconfigTrust::FromSecret));
        return (*this)(access);
    }
    k8s::Result<SharedApi> file(std::string const& kubeconfig) const {
        k8s::ClusterAccess const access = TRY(k8s::read_kubeconfig_file(kubeconfig, base::system_clock()));
        return (*this)(access);
    }
    k8s::Result<SharedApi> platform(Settings const& settings) const {
        if (!settings.kubeconfig.empty()) return file(settings.kubeconfig);
        k8s::ClusterAccess const access = TRY(k8s::in_cluster_access(settings.service_host, settings.service_port));
        return (*this)(access);
    }
};

}  // namespace

k8s::Result<std::unique_ptr<Clusters>> open_clusters(Settings const& settings, Wrap const& wrap) {
    Opener const open{wrap};
    SharedApi const platform = TRY(open.platform(settings));
    FindOnboarding find;
    switch (settings.onboarding) {
        case Settings::Onboarding::Platform:
            find = [platform](base::Deadline) { return k8s::Result<SharedApi>{platform}; };
            break;
        case Settings::Onboarding::File: {
            SharedApi const onboarding = TRY(open.file(settings.onboarding_kubeconfig));
            find = [onboarding](base::Deadline) { return k8s::Result<SharedApi>{onboarding}; };
            break;
        }
        case Settings::Onboarding::Requested: {
            auto const access = std::make_shared<OnboardingAccess>(platform, settings.namespace_, open);
            find = [access](base::Deadline deadline) { return access->find(deadline); };
            break;
        }
    }
    return std::make_unique<Clusters>(platform, std::move(find),
                                      [open](std::string const& kubeconfig) { return open.control_plane(kubeconfig); });
}

}  // namespace kro
