#include "function/reconcile/observed.hpp"

#include <tuple>

namespace kro {

std::string_view name_of(Cluster cluster) {
    switch (cluster) {
        case Cluster::Onboarding: return "onboarding cluster";
        case Cluster::Platform: return "platform cluster";
        case Cluster::ControlPlane: return "control plane";
    }
    std::abort();
}

bool operator<(Target const& left, Target const& right) {
    auto const order = [](Target const& target) {
        return std::tie(target.cluster, target.resource.group, target.resource.plural, target.resource.version, target.key);
    };
    return order(left) < order(right);
}

}  // namespace kro
