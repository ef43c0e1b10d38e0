#pragma once

#include "base/json.hpp"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

using base::Json;

/// A resource type: what the API server calls `<plural>.<group>` in one version. The views must outlive every use: constants, or
/// strings that live as long as the process (a plural that came from discovery).
struct Resource {
    enum class Scope { Namespaced, Cluster };
    std::string_view group;  ///< "" for the core group
    std::string_view version;
    std::string_view plural;
    std::string_view kind;
    Scope scope = Scope::Namespaced;

    bool operator==(Resource const&) const = default;
};

inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", Resource::Scope::Cluster};
inline constexpr Resource kSecrets{"", "v1", "secrets", "Secret"};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Resource kEvents{"", "v1", "events", "Event"};
inline constexpr Resource kCustomResourceDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                     "CustomResourceDefinition", Resource::Scope::Cluster};

/// Which object of a resource type. `namespace_` is "" for a cluster-scoped one, or for all namespaces in a list.
struct ObjectKey {
    std::string namespace_;
    std::string name;

    auto operator<=>(ObjectKey const&) const = default;
};

/// "namespace/name", or "name" alone where there is no namespace.
std::string to_string(ObjectKey const& key);

/// `v1` or `group/version`, as `apiVersion` spells it; the group alone where the resource has no version.
std::string api_version(Resource const& resource);

/// The group of an `apiVersion`, "" for the core group.
std::string_view group_of(std::string_view api_version);

/// The path of an object, or of the collection where the key has no name: "/apis/<group>/<version>/namespaces/<ns>/<plural>/<name>".
/// Every segment is percent-encoded.
std::string path_of(Resource const& resource, ObjectKey const& key, std::string_view subresource = {});

ObjectKey key_of(Json const& object);
std::string const& name_of(Json const& object);
std::string const& namespace_of(Json const& object);
std::string const& uid_of(Json const& object);
std::string const& resource_version_of(Json const& object);
std::int64_t generation_of(Json const& object);

/// Whether `metadata.deletionTimestamp` is set.
bool is_being_deleted(Json const& object);

/// The value of a label or an annotation, "" where it is absent.
std::string const& label_of(Json const& object, std::string_view label);
std::string const& annotation_of(Json const& object, std::string_view annotation);

std::vector<std::string> finalizers_of(Json const& object);
bool has_finalizer(Json const& object, std::string_view finalizer);

/// The objects of a list; an empty array where it has none.
Json const& items_of(Json const& list);

}  // namespace k8s
