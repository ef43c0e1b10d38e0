#include "k8s/field_set.hpp"

#include <algorithm>
#include <utility>

namespace k8s {
namespace {

bool comes_before(std::string_view step, std::string_view other) { return step < other; }

}  // namespace

FieldSet FieldSet::from_json(Json const& fields_v1) {
    FieldSet set;
    if (!fields_v1.is_object()) return set;
    for (auto const& [step, inner] : fields_v1.items()) {
        if (step == ".") {
            set.member_ = true;
            continue;
        }
        FieldSet& child = set.at(step);
        child = from_json(inner);
        if (child.children_.empty()) child.member_ = true;
    }
    return set;
}

Json FieldSet::to_json() const {
    Json::object_t fields;
    if (member_ && !children_.empty()) fields.emplace(".", Json::object());
    for (auto const& child : children_) fields.emplace_hint(fields.end(), child.step, child.set.to_json());  // sorted, "." first
    return fields;
}

FieldSet const* FieldSet::below(std::string_view step) const {
    auto const at = std::lower_bound(children_.begin(), children_.end(), step, [](Child const& child, std::string_view wanted) {
        return comes_before(child.step, wanted);
    });
    return at != children_.end() && at->step == step ? &at->set : nullptr;
}

FieldSet& FieldSet::at(std::string_view step) {
    auto at = std::lower_bound(children_.begin(), children_.end(), step,
                               [](Child const& child, std::string_view wanted) { return comes_before(child.step, wanted); });
    if (at == children_.end() || at->step != step) at = children_.insert(at, {std::string{step}, {}});
    return at->set;
}

void FieldSet::insert(std::span<std::string const> path) {
    FieldSet* node = this;
    for (auto const& step : path) node = &node->at(step);
    node->member_ = true;
}

bool FieldSet::has(std::span<std::string const> path) const {
    FieldSet const* node = this;
    for (auto const& step : path) {
        node = node->below(step);
        if (node == nullptr) return false;
    }
    return node->member_;
}

void FieldSet::tidy() {
    for (auto& child : children_) child.set.tidy();
    std::erase_if(children_, [](Child const& child) { return child.set.empty(); });
}

FieldSet FieldSet::with_declared_parents(Schema const& schema) const {
    FieldSet result;
    result.member_ = member_;
    for (auto const& child : children_) {
        bool const named = child.step.starts_with("f:");
        auto const name = std::string_view{child.step}.substr(2);
        Schema const& inner = named ? schema.member(name) : schema.element();
        result.children_.push_back({child.step, child.set.with_declared_parents(inner)});
        if (named && !child.set.children_.empty() && schema.declares(name)) result.children_.back().set.member_ = true;
    }
    return result;
}

FieldSet FieldSet::only(std::span<std::string_view const> steps) const {
    FieldSet result = *this;
    std::erase_if(result.children_,
                  [&](Child const& child) { return std::find(steps.begin(), steps.end(), child.step) == steps.end(); });
    return result;
}

FieldSet FieldSet::without(std::span<std::string_view const> steps) const {
    FieldSet result = *this;
    std::erase_if(result.children_,
                  [&](Child const& child) { return std::find(steps.begin(), steps.end(), child.step) != steps.end(); });
    return result;
}

bool FieldSet::operator==(FieldSet const& other) const { return member_ == other.member_ && children_ == other.children_; }

FieldSet unite(FieldSet const& left, FieldSet const& right) {
    FieldSet result;
    result.member_ = left.member_ || right.member_;
    auto a = left.children_.begin();
    auto b = right.children_.begin();
    while (a != left.children_.end() || b != right.children_.end()) {
        if (b == right.children_.end() || (a != left.children_.end() && a->step < b->step)) {
            result.children_.push_back(*a++);
        } else if (a == left.children_.end() || b->step < a->step) {
            result.children_.push_back(*b++);
        } else {
            result.children_.push_back({a->step, unite(a->set, b->set)});
            ++a;
            ++b;
        }
    }
    return result;
}

FieldSet intersect(FieldSet const& left, FieldSet const& right) {
    FieldSet result;
    result.member_ = left.member_ && right.member_;
    for (auto const& child : left.children_) {
        auto const* other = right.below(child.step);
        if (other == nullptr) continue;
        FieldSet both = intersect(child.set, *other);
        if (!both.empty()) result.children_.push_back({child.step, std::move(both)});
    }
    return result;
}

FieldSet subtract(FieldSet const& left, FieldSet const& right) {
    FieldSet result;
    result.member_ = left.member_ && !right.member_;
    for (auto const& child : left.children_) {
        auto const* other = right.below(child.step);
        FieldSet rest = other == nullptr ? child.set : subtract(child.set, *other);
        if (!rest.empty()) result.children_.push_back({child.step, std::move(rest)});
    }
    return result;
}

std::string step_of(std::string_view name) { return "f:" + std::string{name}; }

std::string step_of(Json const& element, Schema const& schema) {
    if (schema.list == Schema::List::Set) return "v:" + base::dump_json(element);
    Json keys = Json::object();
    for (auto const& key : schema.list_keys) {
        if (element.is_object() && element.contains(key)) {
            keys[key] = element[key];
        } else if (auto const& inner = schema.element().member(key); inner.has_default()) {
            keys[key] = inner.default_value;
        }
    }
    return "k:" + base::dump_json(keys);
}

Json const* find_element(Json const& list, std::string_view step, Schema const& schema) {
    if (!list.is_array()) return nullptr;
    for (auto const& element : list) {
        if (step_of(element, schema) == step) return &element;
    }
    return nullptr;
}

}  // namespace k8s
