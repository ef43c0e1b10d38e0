#include "k8s/object.hpp"

#include <algorithm>
#include <cctype>

namespace k8s {
namespace {

using base::integer_of;
using base::member;
using base::text_of;

void append_segment(std::string& path, std::string_view segment) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    path += '/';
    for (char const c : segment) {
        auto const byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
            path += c;
        } else {
            path += '%';
            path += kHex[byte >> 4U];
            path += kHex[byte & 0xFU];
        }
    }
}

}  // namespace

std::string to_string(ObjectKey const& key) { return key.namespace_.empty() ? key.name : key.namespace_ + "/" + key.name; }

std::string api_version(Resource const& resource) {
    if (resource.group.empty()) return std::string{resource.version};
    if (resource.version.empty()) return std::string{resource.group};
    return std::string{resource.group} + "/" + std::string{resource.version};
}

std::string_view group_of(std::string_view api_version) {
    auto const slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
}

std::string path_of(Resource const& resource, ObjectKey const& key, std::string_view subresource) {
    std::string path = resource.group.empty() ? "/api" : "/apis";
    if (!resource.group.empty()) append_segment(path, resource.group);
    append_segment(path, resource.version);
    if (resource.scope == Resource::Scope::Namespaced && !key.namespace_.empty()) {
        path += "/namespaces";
        append_segment(path, key.namespace_);
    }
    append_segment(path, resource.plural);
    if (!key.name.empty()) append_segment(path, key.name);
    if (!subresource.empty()) append_segment(path, subresource);
    return path;
}

ObjectKey key_of(Json const& object) { return {namespace_of(object), name_of(object)}; }
std::string const& name_of(Json const& object) { return text_of(member(object, "metadata", "name")); }
std::string const& namespace_of(Json const& object) { return text_of(member(object, "metadata", "namespace")); }
std::string const& uid_of(Json const& object) { return text_of(member(object, "metadata", "uid")); }
std::string const& resource_version_of(Json const& object) { return text_of(member(object, "metadata", "resourceVersion")); }
std::int64_t generation_of(Json const& object) { return integer_of(member(object, "metadata", "generation")); }

bool is_being_deleted(Json const& object) { return !text_of(member(object, "metadata", "deletionTimestamp")).empty(); }

std::string const& label_of(Json const& object, std::string_view label) {
    return text_of(member(object, "metadata", "labels", label));
}

std::string const& annotation_of(Json const& object, std::string_view annotation) {
    return text_of(member(object, "metadata", "annotations", annotation));
}

std::vector<std::string> finalizers_of(Json const& object) {
    std::vector<std::string> finalizers;
    auto const& list = member(object, "metadata", "finalizers");
    if (!list.is_array()) return finalizers;
    for (auto const& finalizer : list) finalizers.push_back(text_of(finalizer));
    return finalizers;
}

bool has_finalizer(Json const& object, std::string_view finalizer) {
    auto const& list = member(object, "metadata", "finalizers");
    return list.is_array() && std::any_of(list.begin(), list.end(), [&](Json const& one) { return text_of(one) == finalizer; });
}

Json const& items_of(Json const& list) {
    static Json const none = Json::array();
    Json const& items = base::member(list, "items");
    return items.is_array() ? items : none;
}

}  // namespace k8s
