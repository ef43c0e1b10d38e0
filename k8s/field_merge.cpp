// The walks of sigs.k8s.io/structured-merge-diff (typed/{tofieldset,compare,merge,remove}.go), with their corners: an empty or
// null container is a leaf, null stands for any type, a shared list keeps the order of what is applied.
#include "k8s/field_merge.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace k8s {
namespace {

/// Where a walk stands: what is declared, or what an undeclared value looks like.
enum class Shape { Map, Leaf, List };

bool is_map_schema(Schema const& schema) { return schema.type == Schema::Type::Object && !schema.int_or_string; }
bool is_list_schema(Schema const& schema) { return schema.type == Schema::Type::Array; }
bool is_anything(Schema const& schema) { return schema.type == Schema::Type::Any && !schema.int_or_string; }

Shape shape_of(Json const* value, Schema const& schema) {
    if (is_map_schema(schema)) return Shape::Map;
    if (is_list_schema(schema)) return Shape::List;
    if (!is_anything(schema)) return Shape::Leaf;
    if (value == nullptr || value->is_null() || value->is_object()) return Shape::Map;
    return value->is_array() ? Shape::List : Shape::Leaf;
}

/// Whether the schema leaves the shape to the values, and these two have different ones.
bool shapes_differ(Json const& left, Json const& right, Schema const& schema) {
    if (!is_anything(schema)) return false;
    auto const kind = [](Json const& value) { return value.is_object() ? 1 : value.is_array() ? 2 : value.is_null() ? 3 : 4; };
    return kind(left) != kind(right);
}

bool is_atomic(Shape shape, Schema const& schema) {
    if (shape == Shape::Map) return schema.atomic_map;
    return shape == Shape::Leaf || schema.list == Schema::List::Atomic;
}

/// `value` where it has this shape and is not empty, else null.
Json const* filled(Json const* value, Shape shape) {
    if (value == nullptr || value->empty()) return nullptr;
    bool const fits = shape == Shape::Map ? value->is_object() : shape == Shape::List && value->is_array();
    return fits ? value : nullptr;
}

void collect(FieldSet& set, Json const& value, Schema const& schema) {
    Shape const shape = shape_of(&value, schema);
    if (is_atomic(shape, schema)) {
        set.set_member();
        return;
    }
    Json const* const container = filled(&value, shape);
    if (container == nullptr) return;
    if (shape == Shape::List) {
        for (auto const& element : *container) {
            FieldSet& inner = set.at(step_of(element, schema));
            inner.set_member();
            collect(inner, element, schema.element());
        }
        return;
    }
    for (auto const& [name, member] : container->items()) {
        FieldSet& inner = set.at(step_of(name));
        collect(inner, member, schema.member(name));
        if (member.is_null() || (member.is_object() && member.empty()) || !schema.declares(name)) inner.set_member();
    }
}

/// One walk through two values at once. A null pointer is an absent value.
struct Comparison {
    Difference result;
    std::vector<std::string> path;

    void compare(Json const* before, Json const* after, Schema const& schema) {
        if (before == nullptr && after == nullptr) return;
        bool leaf = false;
        if (before != nullptr && after != nullptr && shapes_differ(*before, *after, schema)) {
            compare_as(shape_of(before, schema), before, after, schema, leaf);
            leaf = false;
        }
        compare_as(shape_of(after != nullptr ? after : before, schema), before, after, schema, leaf);
        if (leaf || path.empty()) return;
        if (before == nullptr) result.added.insert(path);
        if (after == nullptr) result.removed.insert(path);
    }

    void compare_as(Shape shape, Json const* before, Json const* after, Schema const& schema, bool& leaf) {
        Json const* const left = filled(before, shape);
        Json const* const right = filled(after, shape);
        if (is_atomic(shape, schema) || (left == nullptr && right == nullptr)) {
            leaf = true;
            compare_leaf(before, after);
        } else if (shape == Shape::Map) {
            compare_members(left, right, schema);
        } else {
            compare_elements(left, right, schema);
        }
    }

    void compare_leaf(Json const* before, Json const* after) {
        if (path.empty()) return;
        if (before == nullptr) {
            result.added.insert(path);
        } else if (after == nullptr) {
            result.removed.insert(path);
        } else if (!base::same_json(*before, *after)) {
            result.modified.insert(path);
        }
    }

    void compare_members(Json const* before, Json const* after, Schema const& schema) {
        std::set<std::string_view> names;
        for (auto const* side : {before, after}) {
            if (side == nullptr) continue;
            for (auto const& item : side->get_ref<Json::object_t const&>()) names.insert(item.first);
        }
        for (auto const name : names) {
            path.push_back(step_of(name));
            compare(find_member(before, name), find_member(after, name), schema.member(name));
            path.pop_back();
        }
    }

    void compare_elements(Json const* before, Json const* after, Schema const& schema) {
        std::map<std::string, std::pair<Json const*, Json const*>> elements;
        if (before != nullptr) {
            for (auto const& element : *before) elements[step_of(element, schema)].first = &element;
        }
        if (after != nullptr) {
            for (auto const& element : *after) elements[step_of(element, schema)].second = &element;
        }
        for (auto const& [step, pair] : elements) {
            path.push_back(step);
            compare(pair.first, pair.second, schema.element());
            path.pop_back();
        }
    }

    static Json const* find_member(Json const* object, std::string_view name) {
        if (object == nullptr) return nullptr;
        auto const found = object->find(name);
        return found == object->end() ? nullptr : &*found;
    }
};

Json merged_elements(Json const* live, Json const* applied, Schema const& schema);

/// Null pointers are absent values; at least one is there.
Json merge(Json const* live, Json const* applied, Schema const& schema) {
    Shape const shape = shape_of(applied != nullptr ? applied : live, schema);
    Json const* const left = filled(live, shape);
    Json const* const right = filled(applied, shape);
    if (is_atomic(shape, schema) || (left == nullptr && right == nullptr)) return applied != nullptr ? *applied : *live;
    if (shape == Shape::List) return merged_elements(left, right, schema);

    Json result = left != nullptr ? *left : Json::object();
    if (right == nullptr) return result;
    for (auto const& [name, member] : right->items()) {
        auto const found = result.find(name);
        Json value = merge(found == result.end() ? nullptr : &*found, &member, schema.member(name));
        result[name] = std::move(value);
    }
    return result;
}

/// Both lists' elements, those in both merged. The order is that of `live` with the shared ones in the order of `applied`.
Json merged_elements(Json const* live, Json const* applied, Schema const& schema) {
    Json const none = Json::array();
    Json const& left = live != nullptr ? *live : none;
    Json const& right = applied != nullptr ? *applied : none;
    std::map<std::string, Json const*> in_left;
    std::map<std::string, Json const*> in_right;
    std::vector<std::string> left_steps;
    std::vector<std::string> right_steps;
    for (auto const& element : left) in_left.try_emplace(left_steps.emplace_back(step_of(element, schema)), &element);
    for (auto const& element : right) in_right.try_emplace(right_steps.emplace_back(step_of(element, schema)), &element);

    std::vector<std::string> shared;
    std::copy_if(right_steps.begin(), right_steps.end(), std::back_inserter(shared),
                 [&](std::string const& step) { return in_left.contains(step); });
    std::size_t next_shared = 0;
    std::set<std::string> taken;
    Json result = Json::array();
    auto const take = [&](std::string const& step) {
        auto const l = in_left.find(step);
        auto const r = in_right.find(step);
        result.push_back(
            merge(l == in_left.end() ? nullptr : l->second, r == in_right.end() ? nullptr : r->second, schema.element()));
    };
    for (std::size_t l = 0, r = 0; l < left_steps.size() || r < right_steps.size();) {
        if (l < left_steps.size() && r < right_steps.size()) {
            if (left_steps[l] == right_steps[r]) {
                taken.insert(left_steps[l]);
                take(left_steps[l]);
                ++l, ++r, ++next_shared;
                continue;
            }
            bool const another_is_next = next_shared < shared.size() && shared[next_shared] != left_steps[l];
            if (in_right.contains(left_steps[l]) && another_is_next) {
                ++l;
                continue;
            }
        }
        if (l < left_steps.size()) {
            if (!in_right.contains(left_steps[l])) {
                result.push_back(left[l]);
                ++l;
                continue;
            }
            if (taken.contains(left_steps[l])) ++l;
        }
        if (r < right_steps.size()) {
            taken.insert(right_steps[r]);
            take(right_steps[r]);
            if (next_shared < shared.size() && shared[next_shared] == right_steps[r]) ++next_shared;
            ++r;
        }
    }
    return result;
}

}  // namespace

FieldSet fields_of(Json const& value, Schema const& schema) {
    FieldSet set;
    collect(set, value, schema);
    set.tidy();
    return set;
}

Difference differences(Json const& before, Json const& after, Schema const& schema) {
    Comparison comparison;
    comparison.compare(&before, &after, schema);
    return std::move(comparison.result);
}

Json merged(Json const& live, Json const& applied, Schema const& schema) { return merge(&live, &applied, schema); }

Json without(Json const& value, FieldSet const& places, Schema const& schema) {
    Shape const shape = shape_of(&value, schema);
    if (shape == Shape::Leaf) return value;
    Json const* const container = filled(&value, shape);
    if (container == nullptr || is_atomic(shape, schema)) return nullptr;
    Json rest = shape == Shape::Map ? Json::object() : Json::array();
    auto const keep = [&](std::string const& step, Json const& inner, Schema const& inner_schema) -> std::optional<Json> {
        auto const* below = places.below(step);
        if (below == nullptr) return inner;
        if (below->is_member()) return std::nullopt;
        return without(inner, *below, inner_schema);
    };
    if (shape == Shape::List) {
        for (auto const& element : *container) {
            if (auto kept = keep(step_of(element, schema), element, schema.element())) rest.push_back(std::move(*kept));
        }
    } else {
        for (auto const& [name, inner] : container->items()) {
            if (auto kept = keep(step_of(name), inner, schema.member(name))) rest[name] = std::move(*kept);
        }
    }
    return rest.empty() ? Json() : rest;
}

}  // namespace k8s
