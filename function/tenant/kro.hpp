#pragma once

#include "function/tenant/tenant.hpp"
#include "k8s/object.hpp"

#include <string>

namespace kro {

/// What `openmcp.cloud/operation` asks for, on a Kro and on a ProviderConfig.
enum class Operation {
    None,       ///< nothing, or a word that we don't know
    Ignore,     ///< leave it alone
    Reconcile,  ///< go on as after a change, once
};

/// Reads the annotation.
Operation operation_of(k8s::Json const& object);

/// A Kro as the API server has it: what the decision asks of it, but for its status.
struct Kro {
    Tenant tenant;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0;
    std::string version;  ///< spec.version
    Operation operation = Operation::None;
    bool being_deleted = false;
    bool has_finalizer = false;
    bool abandon = false;  ///< let the control plane go without looking: kAbandonAnnotation is "true"
};

/// Reads the kind; what is absent is empty.
Kro read_kro(k8s::Json const& object);

}  // namespace kro
