#include "k8s/managed_fields.hpp"

#include "k8s/field_merge.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace k8s {
namespace {

using base::member;
using base::text_of;
using Operation = ManagedFields::Operation;

constexpr std::string_view kBeforeFirstApply = "before-first-apply";

/// What nobody owns. Source: apimachinery, managedfields/internal/stripmeta.go.
FieldSet without_identity(FieldSet const& fields) {
    static FieldSet const identity = [] {
        FieldSet set;
        set.at("f:apiVersion").set_member();
        set.at("f:kind").set_member();
        set.at("f:metadata").set_member();
        for (auto const* name : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName",
                                 "f:generation", "f:managedFields", "f:resourceVersion"}) {
            set.at("f:metadata").at(name).set_member();
        }
        return set;
    }();
    return subtract(fields, identity);
}

/// What a path may write: the main one everything but the status, the status one the status (and, so the API server, metadata,
/// which it then doesn't store).
FieldSet writable(FieldSet const& fields, Writer const& writer) {
    constexpr std::array<std::string_view, 1> kStatus{"f:status"};
    constexpr std::array<std::string_view, 2> kStatusAndMetadata{"f:status", "f:metadata"};
    if (!writer.has_status) return fields;
    return writer.subresource == "status" ? fields.only(kStatusAndMetadata) : fields.without(kStatus);
}

ManagedFields* find_entry(Managers& managers, Writer const& writer, Operation operation) {
    auto const found = std::find_if(managers.begin(), managers.end(), [&](ManagedFields const& entry) {
        return entry.manager == writer.manager && entry.operation == operation && entry.subresource == writer.subresource &&
               (operation == Operation::Apply || entry.api_version == writer.api_version);
    });
    return found == managers.end() ? nullptr : &*found;
}

/// Source: apimachinery, managedfields/internal/managedfields.go (sortEncodedManagedFields).
void finish(Managers& managers) {
    for (auto& entry : managers) entry.fields = without_identity(entry.fields);
    auto const order = [](ManagedFields const& entry) {
        return std::tie(entry.operation, entry.time, entry.manager, entry.api_version, entry.subresource);
    };
    std::stable_sort(managers.begin(), managers.end(),
                     [&](ManagedFields const& left, ManagedFields const& right) { return order(left) < order(right); });
    std::erase_if(managers, [](ManagedFields const& entry) { return entry.fields.empty(); });
}

/// Takes from everybody but `writer` (null: from all) what was changed or is gone.
void take(Managers& managers, Difference const& changed, ManagedFields const* writer) {
    FieldSet const taken = unite(unite(changed.added, changed.modified), changed.removed);
    for (auto& entry : managers) {
        if (&entry != writer) entry.fields = subtract(entry.fields, taken);
    }
    // Entries that own nothing are dropped by finish(); an apply of an empty object leaves one out as well.
}

Difference difference_for(Json const& before, Json const& after, Writer const& writer, Schema const& schema) {
    Difference changed = differences(before, after, schema);
    return {writable(changed.added, writer), writable(changed.modified, writer), writable(changed.removed, writer)};
}

/// `merged` without what the manager owned before and neither it nor anybody else owns now.
Json pruned(Json const& merged, Managers const& managers, FieldSet const& last, Schema const& schema) {
    FieldSet const had = last.with_declared_parents(schema);
    Json rest = without(merged, had, schema);
    FieldSet owned;
    for (auto const& entry : managers) owned = unite(owned, entry.fields);

    FieldSet const everything = fields_of(merged, schema).with_declared_parents(schema);
    FieldSet const kept = fields_of(rest, schema).with_declared_parents(schema);
    rest = without(merged, subtract(everything, unite(kept, owned.with_declared_parents(schema))), schema);

    FieldSet const left = fields_of(rest, schema).with_declared_parents(schema);
    return without(merged, intersect(subtract(everything, left), had), schema);
}

}  // namespace

Managers managers_from_json(Json const& managed_fields) {
    Managers managers;
    if (!managed_fields.is_array()) return managers;
    for (auto const& entry : managed_fields) {
        auto const operation = text_of(member(entry, "operation"));
        if (operation != "Apply" && operation != "Update") continue;
        managers.push_back({text_of(member(entry, "manager")), operation == "Apply" ? Operation::Apply : Operation::Update,
                            text_of(member(entry, "apiVersion")), text_of(member(entry, "subresource")),
                            text_of(member(entry, "time")), FieldSet::from_json(member(entry, "fieldsV1"))});
    }
    return managers;
}

Json to_json(Managers const& managers) {
    Json::array_t list;
    list.reserve(managers.size());
    for (auto const& entry : managers) {
        Json::object_t json;
        json.emplace("apiVersion", entry.api_version);
        json.emplace("fieldsType", "FieldsV1");
        json.emplace("fieldsV1", entry.fields.to_json());
        json.emplace("manager", entry.manager);
        json.emplace("operation", entry.operation == Operation::Apply ? "Apply" : "Update");
        if (!entry.subresource.empty()) json.emplace("subresource", entry.subresource);
        if (!entry.time.empty()) json.emplace("time", entry.time);
        list.emplace_back(std::move(json));
    }
    return list;
}

Managers after_update(Json const& before, Json const& after, Managers managers, Writer const& writer, Schema const& schema) {
    Difference const changed = difference_for(before, after, writer, schema);
    take(managers, changed, nullptr);
    FieldSet const mine = without_identity(unite(changed.added, changed.modified));
    if (!mine.empty()) {
        auto* entry = find_entry(managers, writer, Operation::Update);
        if (entry == nullptr) {
            managers.push_back({writer.manager, Operation::Update, writer.api_version, writer.subresource, {}, {}});
            entry = &managers.back();
        }
        entry->fields = unite(entry->fields, mine);
        entry->time = base::rfc3339(writer.now);
    }
    finish(managers);
    return managers;
}

Applied after_apply(Json const& live, Json const& applied, Managers managers, Writer const& writer, Schema const& schema) {
    if (managers.empty() && !live.empty()) {
        Writer nobody = writer;
        nobody.manager = kBeforeFirstApply;
        nobody.subresource.clear();
        managers = after_update(Json::object(), live, {}, nobody, schema);
    }
    Json object = merged(live, applied, schema);
    FieldSet const mine = writable(fields_of(applied, schema), writer);
    auto* entry = find_entry(managers, writer, Operation::Apply);
    FieldSet const last = entry == nullptr ? FieldSet{} : entry->fields;
    if (entry == nullptr) {
        managers.push_back({writer.manager, Operation::Apply, writer.api_version, writer.subresource, {}, {}});
        entry = &managers.back();
    }
    entry->fields = mine;
    entry->api_version = writer.api_version;
    if (!last.empty()) object = pruned(object, managers, last, schema);

    Difference const changed = difference_for(live, object, writer, schema);
    take(managers, changed, entry);
    bool const is_new = !base::same_json(live, object);
    if (is_new) entry->time = base::rfc3339(writer.now);
    finish(managers);
    return {is_new ? std::optional{std::move(object)} : std::nullopt, std::move(managers)};
}

bool same_ownership(Managers const& left, Managers const& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](ManagedFields const& a, ManagedFields const& b) {
        return a.manager == b.manager && a.operation == b.operation && a.api_version == b.api_version &&
               a.subresource == b.subresource && a.fields == b.fields;
    });
}

}  // namespace k8s
