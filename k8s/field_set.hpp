#pragma once

#include "base/json.hpp"
#include "k8s/schema.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// A set of places in an object, as `metadata.managedFields[].fieldsV1` holds them. A place is a path of steps, spelled as on the
/// wire: `f:spec` (a member), `k:{"type":"Ready"}` (the element of a map list with these keys), `v:"x"` (the element of a set).
/// Being in the set says nothing about what lies below.
/// Source: sigs.k8s.io/structured-merge-diff, fieldpath; meta/v1 FieldsV1.
class FieldSet {
  public:
    static FieldSet from_json(Json const& fields_v1);
    Json to_json() const;

    bool empty() const { return !member_ && children_.empty(); }
    /// Whether the place that this node stands for is itself in the set.
    bool is_member() const { return member_; }
    void set_member() { member_ = true; }

    /// The sub-set below one step, null where it is empty.
    FieldSet const* below(std::string_view step) const;
    /// The same, made where it is missing. What is still empty in the end is dropped by tidy().
    FieldSet& at(std::string_view step);
    void insert(std::span<std::string const> path);
    bool has(std::span<std::string const> path) const;
    void tidy();

    /// This set with the members that `schema` declares by name and that have something below them.
    FieldSet with_declared_parents(Schema const& schema) const;
    /// The places whose first step is (or is not) one of these.
    FieldSet only(std::span<std::string_view const> steps) const;
    FieldSet without(std::span<std::string_view const> steps) const;

    friend FieldSet unite(FieldSet const& left, FieldSet const& right);
    friend FieldSet intersect(FieldSet const& left, FieldSet const& right);
    friend FieldSet subtract(FieldSet const& left, FieldSet const& right);
    bool operator==(FieldSet const& other) const;

  private:
    struct Child;
    bool member_ = false;
    std::vector<Child> children_;  ///< sorted by step
};

struct FieldSet::Child {
    std::string step;
    FieldSet set;
    bool operator==(Child const& other) const = default;
};

FieldSet unite(FieldSet const& left, FieldSet const& right);
FieldSet intersect(FieldSet const& left, FieldSet const& right);
FieldSet subtract(FieldSet const& left, FieldSet const& right);

/// The step to a member, and to an element of a map list or set that `schema` describes.
std::string step_of(std::string_view name);
std::string step_of(Json const& element, Schema const& schema);

/// The element of `list` with that step, null where there is none.
Json const* find_element(Json const& list, std::string_view step, Schema const& schema);

}  // namespace k8s
