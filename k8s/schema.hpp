#pragma once

#include "base/json.hpp"
#include "k8s/resource_rules.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// One place in an object, as a structural schema describes it: which values it may hold, and how they merge.
/// Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/ and
/// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
struct Schema {
    enum class Type { Any, Object, Array, String, Integer, Number, Boolean };
    enum class List { Atomic, Set, Map };

    Type type = Type::Any;
    bool nullable = false;
    bool preserve_unknown = false;
    bool int_or_string = false;
    bool atomic_map = false;
    List list = List::Atomic;
    std::vector<std::string> list_keys;
    std::map<std::string, Schema, std::less<>> properties;
    std::vector<Schema> items;       ///< one or none
    std::vector<Schema> additional;  ///< one or none
    std::vector<std::string> required;
    Json default_value = Json(Json::value_t::discarded);  ///< discarded where there is none
    Json choices;                                         ///< an array, or null
    std::optional<std::int64_t> min_length;
    std::optional<std::int64_t> max_length;
    std::shared_ptr<std::regex const> pattern;  ///< null where there is none, or none that can be used
    std::string pattern_text;
    std::optional<double> minimum;
    std::optional<double> maximum;
    std::optional<std::int64_t> min_items;
    std::optional<std::int64_t> max_items;
    std::string immutable;  ///< what to say when the value changes; "" where it may

    bool has_default() const { return !default_value.is_discarded(); }
    bool declares(std::string_view name) const { return properties.find(name) != properties.end(); }

    /// What describes the member of that name, or an element. Where nothing does: anything, with granular maps and atomic lists.
    Schema const& member(std::string_view name) const;
    Schema const& element() const;
};

/// Reads an openAPIV3Schema (null: anything) for a whole object: apiVersion, kind and ObjectMeta are added.
Schema object_schema(Json const& open_api);

/// Fills in the defaults, also in the place of a null that may not be there.
void fill_defaults(Json& value, Schema const& schema);

/// Removes what the schema neither declares nor preserves. Returns the places: "spec.nested.what".
std::vector<std::string> drop_unknown_fields(Json& value, Schema const& schema);

/// Removes null members where the schema doesn't allow null.
void drop_nulls(Json& value, Schema const& schema);

/// What is wrong with `after`; `before` is null where there was nothing.
std::vector<Violation> violations(Json const& before, Json const& after, Schema const& schema);

/// Why `value` can't be taken for a server-side apply: an undeclared field, a value of another type, a list item without its keys
/// or twice. "" where it can. In the words of the API server: ".spec.size: expected numeric (int or float), got string".
std::string untypable(Json const& value, Schema const& schema);

}  // namespace k8s
