#include "k8s/resource_rules.hpp"

#include "base/base64.hpp"
#include "base/json.hpp"

#include <array>
#include <utility>

namespace k8s {
namespace {

using base::member;
using base::text_of;

Json object_of(Json properties) { return {{"type", "object"}, {"properties", std::move(properties)}}; }

/// A map of texts; empty or null it is left out, as Go's omitempty does.
Json texts() {
    return {{"type", "object"}, {"nullable", true}, {"additionalProperties", {{"type", "string"}, {"nullable", true}}}};
}
Json text() { return {{"type", "string"}}; }
Json flag() { return {{"type", "boolean"}}; }
Json anything() { return {{"x-kubernetes-preserve-unknown-fields", true}}; }

void drop_empty(Json& object, std::string_view name) {
    auto const found = object.find(name);
    if (found != object.end() && (found->is_null() || (found->is_structured() && found->empty()))) object.erase(found);
}

void complete_secret(Json& secret) {
    if (auto const given = secret.find("stringData"); given != secret.end()) {
        if (given->is_object()) {
            for (auto const& [key, value] : given->items()) secret["data"][key] = base::encode_base64(text_of(value));
        }
        secret.erase("stringData");
    }
    if (text_of(member(secret, "type")).empty()) secret["type"] = "Opaque";
    drop_empty(secret, "data");
}

/// Source: kubernetes, pkg/apis/core/validation (ValidateSecret, ValidateSecretUpdate).
std::vector<Violation> secret_violations(Json const& before, Json const& after) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRequired{
        {{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
         {"kubernetes.io/dockercfg", ".dockercfg"},
         {"kubernetes.io/tls", "tls.crt"},
         {"kubernetes.io/tls", "tls.key"}}};
    std::vector<Violation> found;
    auto const type = text_of(member(after, "type"));
    if (!before.is_null() && text_of(member(before, "type")) != type) {
        found.push_back({"type", "Invalid value: \"" + type + "\": field is immutable"});
    }
    for (auto const& [of, key] : kRequired) {
        if (type == of && !member(after, "data", key).is_string()) {
            found.push_back({"data[" + std::string{key} + "]", "Required value", "FieldValueRequired"});
        }
    }
    bool const frozen = member(before, "immutable") == true;
    if (frozen && (member(after, "immutable") != true || member(before, "data") != member(after, "data"))) {
        found.push_back({"data", "Forbidden: field is immutable when `immutable` is set", "FieldValueForbidden"});
    }
    return found;
}

ResourceRules builtin(Json schema) {
    ResourceRules rules;
    rules.origin = ResourceRules::Origin::Builtin;
    rules.generation = false;
    rules.status_subresource = false;
    rules.schema = std::move(schema);
    return rules;
}

ResourceRules secret_rules() {
    auto rules = builtin(object_of({{"data", texts()}, {"stringData", texts()}, {"type", text()}, {"immutable", flag()}}));
    rules.fill_defaults = complete_secret;
    rules.validate = secret_violations;
    return rules;
}

ResourceRules config_map_rules() {
    auto rules = builtin(object_of({{"data", texts()}, {"binaryData", texts()}, {"immutable", flag()}}));
    rules.fill_defaults = [](Json& object) {
        drop_empty(object, "data");
        drop_empty(object, "binaryData");
    };
    return rules;
}

ResourceRules namespace_rules() {
    auto rules = builtin(object_of({{"spec", anything()}, {"status", anything()}}));
    rules.status_subresource = true;
    rules.fill_defaults = [](Json& object) {
        object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name_of(object);
        if (!member(object, "spec", "finalizers").is_array()) object["spec"]["finalizers"] = {"kubernetes"};
        if (text_of(member(object, "status", "phase")).empty()) object["status"]["phase"] = "Active";
    };
    return rules;
}

ResourceRules event_rules() {
    return builtin(
        object_of({{"involvedObject",
                    {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}, {"x-kubernetes-map-type", "atomic"}}},
                   {"reason", text()},
                   {"message", text()},
                   {"source", anything()},
                   {"firstTimestamp", {{"type", "string"}, {"nullable", true}}},
                   {"lastTimestamp", {{"type", "string"}, {"nullable", true}}},
                   {"eventTime", {{"type", "string"}, {"nullable", true}}},
                   {"count", {{"type", "integer"}}},
                   {"type", text()},
                   {"series", anything()},
                   {"action", text()},
                   {"related", anything()},
                   {"reportingComponent", text()},
                   {"reportingInstance", text()}}));
}

ResourceRules crd_rules() {
    auto rules = builtin(object_of({{"spec", anything()}, {"status", anything()}}));
    rules.status_subresource = true;
    rules.generation = true;
    return rules;
}

}  // namespace

ResourceRules rules_of_crd(Json const& crd, std::string_view version) {
    ResourceRules rules;
    auto const& versions = member(crd, "spec", "versions");
    if (!versions.is_array()) return rules;
    for (auto const& candidate : versions) {
        if (text_of(member(candidate, "name")) != version) continue;
        rules.schema = member(candidate, "schema", "openAPIV3Schema");
        rules.status_subresource = member(candidate, "subresources", "status").is_object();
    }
    return rules;
}

ResourceRules builtin_rules(Resource const& resource) {
    if (resource == kNamespaces) return namespace_rules();
    if (resource == kSecrets) return secret_rules();
    if (resource == kConfigMaps) return config_map_rules();
    if (resource == kEvents) return event_rules();
    if (resource == kCustomResourceDefinitions) return crd_rules();
    return {};
}

}  // namespace k8s
