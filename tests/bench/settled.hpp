#pragma once

#include "function/tenant/provider_config.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/object.hpp"

#include <string>

namespace bench {

/// The chart that a ProviderConfig without settings offers in version 0.9.1, which every tenant here has.
kro::Chart chart();

/// Of the Secret that an AccessRequest leads to.
std::string kubeconfig_name(kro::Tenant const& whom);

/// A Kro as its user and the function have it, without a status.
base::Json kro_of(kro::Tenant const& whom);

/// The status that it has when all is done.
base::Json settled_status(base::Json const& kro, kro::Tenant const& whom);

}  // namespace bench
