#include "function/tenant/kro.hpp"

#include "function/tenant/kinds.hpp"

namespace kro {

Operation operation_of(k8s::Json const& object) {
    std::string const operation = k8s::annotation_of(object, kOperationAnnotation);
    if (operation == "ignore") return Operation::Ignore;
    if (operation == "reconcile") return Operation::Reconcile;
    return Operation::None;
}

Kro read_kro(k8s::Json const& object) {
    return {.tenant = {k8s::namespace_of(object), k8s::name_of(object)},
            .uid = k8s::uid_of(object),
            .resource_version = k8s::resource_version_of(object),
            .generation = k8s::generation_of(object),
            .version = base::text_of(base::member(object, "spec", "version")),
            .operation = operation_of(object),
            .being_deleted = k8s::is_being_deleted(object),
            .has_finalizer = k8s::has_finalizer(object, kFinalizer),
            .abandon = k8s::annotation_of(object, kAbandonAnnotation) == "true"};
}

}  // namespace kro
