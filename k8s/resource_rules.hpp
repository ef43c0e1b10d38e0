#pragma once

#include "k8s/object.hpp"

#include <functional>
#include <string>
#include <vector>

namespace k8s {

/// One reason why an object is not taken: becomes `details.causes[]` of a Status 422.
struct Violation {
    std::string field;    ///< "spec.requestRef"
    std::string message;  ///< "field is immutable"
    std::string reason = "FieldValueInvalid";
};

/// What MemoryApi knows about the objects of one resource type, as data and functions. The default is a custom resource with a
/// status subresource and without a schema: whatever is sent is kept, lists are atomic but for `status.conditions`, a map by
/// `type`.
struct ResourceRules {
    enum class Origin {
        Custom,   ///< by a CustomResourceDefinition: has a generation, list items carry apiVersion and kind
        Builtin,  ///< the API server's own: list items carry neither
    };
    Origin origin = Origin::Custom;
    bool generation = true;
    bool status_subresource = true;

    /// An `openAPIV3Schema`, or null. Read are: type, properties, additionalProperties, items, required, enum, default, nullable,
    /// minLength, maxLength, minItems, maxItems, minimum, maximum, pattern, x-kubernetes-{preserve-unknown-fields, int-or-string,
    /// list-type, list-map-keys, map-type}, and of x-kubernetes-validations the one rule `self == oldSelf`.
    Json schema;

    /// Fills in what a sender may leave out; may be empty. Called with each object before it is compared and stored.
    std::function<void(Json& object)> fill_defaults;

    /// Says what is wrong with an object, beyond the schema; may be empty. `before` is null where it is being created.
    std::function<std::vector<Violation>(Json const& before, Json const& after)> validate;
};

/// The rules for one version of a CustomResourceDefinition (apiextensions.k8s.io/v1). A version that it does not have: the
/// default.
ResourceRules rules_of_crd(Json const& crd, std::string_view version);

/// The rules of Namespaces, Secrets, ConfigMaps, Events and CustomResourceDefinitions; for any other resource the default.
ResourceRules builtin_rules(Resource const& resource);

}  // namespace k8s
