#include "function/open_clusters.hpp"

#include "function/onboarding.hpp"
#include "k8s/http_api.hpp"

namespace kro {
namespace {

base::Clock system_clock() {
    return [] { return std::chrono::system_clock::now(); };
}

k8s::HttpOptions http_options() {
    k8s::HttpOptions options;
    options.user_agent = std::string{"kro-function/"} + kProgramVersion;
    options.clock = system_clock();
    return options;
}

k8s::Result<SharedApi> open(k8s::ClusterAccess const& access) {
    auto api = TRY(k8s::connect(access, http_options()));
    return SharedApi{std::move(api)};
}

k8s::Result<SharedApi> connect_control_plane(std::string const& kubeconfig) {
    k8s::ClusterAccess const access = TRY(k8s::read_kubeconfig(kubeconfig, k8s::KubeconfigTrust::FromSecret));
    return open(access);
}

k8s::Result<SharedApi> open_file(std::string const& kubeconfig) {
    k8s::ClusterAccess const access = TRY(k8s::read_kubeconfig_file(kubeconfig, system_clock()));
    return open(access);
}

k8s::Result<SharedApi> open_platform(Settings const& settings) {
    if (!settings.kubeconfig.empty()) return open_file(settings.kubeconfig);
    k8s::ClusterAccess const access = TRY(k8s::in_cluster_access(settings.service_host, settings.service_port));
    return open(access);
}

}  // namespace

k8s::Result<std::unique_ptr<Clusters>> open_clusters(Settings const& settings) {
    SharedApi const platform = TRY(open_platform(settings));
    FindOnboarding find;
    switch (settings.onboarding) {
        case Settings::Onboarding::Platform:
            find = [platform](base::Deadline) { return k8s::Result<SharedApi>{platform}; };
            break;
        case Settings::Onboarding::File: {
            SharedApi const onboarding = TRY(open_file(settings.onboarding_kubeconfig));
            find = [onboarding](base::Deadline) { return k8s::Result<SharedApi>{onboarding}; };
            break;
        }
        case Settings::Onboarding::Requested: {
            auto const access = std::make_shared<OnboardingAccess>(platform, settings.namespace_, open);
            find = [access](base::Deadline deadline) { return access->find(deadline); };
            break;
        }
    }
    return std::make_unique<Clusters>(platform, std::move(find), connect_control_plane);
}

}  // namespace kro
