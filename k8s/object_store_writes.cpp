#include "k8s/condition.hpp"
#include "k8s/json_patch.hpp"
#include "k8s/object_name.hpp"
#include "k8s/object_store.hpp"
#include "k8s/stored_number.hpp"

#include <algorithm>
#include <array>

namespace k8s {
namespace {

using base::Failure;
using base::member;
using base::text_of;

/// What only the server sets.
constexpr std::array<char const*, 5> kServerFields{"uid", "creationTimestamp", "generation", "deletionTimestamp",
                                                   "deletionGracePeriodSeconds"};

void take_over(Json& object, Json const& from, char const* name) {
    auto const found = from.find(name);
    if (found == from.end()) {
        object.erase(name);
    } else {
        object[name] = *found;
    }
}

/// What Go's omitempty leaves out.
void tidy_metadata(Json& metadata) {
    for (auto const* name : {"labels", "annotations", "finalizers", "ownerReferences"}) {
        auto const found = metadata.find(name);
        if (found != metadata.end() && found->empty()) metadata.erase(found);
    }
}

bool says_the_same_beside(Json const& before, Json const& after, std::initializer_list<std::string_view> ignored) {
    auto const is_ignored = [&](std::string const& name) {
        return std::find(ignored.begin(), ignored.end(), name) != ignored.end();
    };
    auto const all_in = [&](Json const& one, Json const& other) {
        return std::all_of(one.items().begin(), one.items().end(), [&](auto const& item) {
            return is_ignored(item.key()) || base::same_json(item.value(), member(other, item.key()));
        });
    };
    return all_in(before, after) && all_in(after, before);
}

/// Source: k8s.io/apimachinery, pkg/api/validation/objectmeta.go (ValidateObjectMetaUpdate).
std::vector<Violation> metadata_violations(Resource const& resource, Json const& before, Json const& after) {
    std::vector<Violation> found = name_violations(resource, after);
    auto const deletion = text_of(member(after, "metadata", "deletionTimestamp"));
    if (!is_being_deleted(before) && !deletion.empty()) {
        found.push_back({"metadata.deletionTimestamp", "Invalid value: \"" + deletion + "\": field is immutable"});
    }
    if (!is_being_deleted(before)) return found;
    for (auto const& finalizer : finalizers_of(after)) {
        if (has_finalizer(before, finalizer)) continue;
        found.push_back(
            {"metadata.finalizers",
             "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"" +
                 finalizer + "\"}",
             "FieldValueForbidden"});
    }
    return found;
}

/// Whether a body is an object of this type at this place.
std::optional<Refusal> misplaced(Resource const& resource, ObjectKey const& key, Json const& body) {
    if (!body.is_object()) return bad_request("the body is no object");
    auto const name = name_of(body);
    if (!name.empty() && name != key.name) {
        return bad_request("the name of the object (" + name + ") does not match the name on the URL (" + key.name + ")");
    }
    auto const namespace_ = namespace_of(body);
    if (!namespace_.empty() && namespace_ != key.namespace_ && resource.scope == Resource::Scope::Namespaced) {
        return bad_request("the namespace of the provided object does not match the namespace sent on the request");
    }
    return std::nullopt;
}

Json deleted(Resource const& resource, ObjectKey const& key, Json const& object) {
    Json details = {{"name", key.name}, {"kind", resource.plural}, {"uid", uid_of(object)}};
    if (!resource.group.empty()) details["group"] = resource.group;
    return {{"kind", "Status"},
            {"apiVersion", "v1"},
            {"metadata", Json::object()},
            {"status", "Success"},
            {"details", std::move(details)}};
}

/// What a server says that was asked to be strict about fields that it doesn't know (fieldValidation=Strict).
std::string undecodable(std::vector<std::string> const& unknown) {
    std::string text = "strict decoding error:";
    for (auto const& field : unknown)
        text += (&field == &unknown.front() ? " unknown field \"" : ", unknown field \"") + field + "\"";
    return text;
}

/// Whether a patch wants managedFields to be forgotten: a list of one empty entry.
bool resets_managers(Json const& managed_fields) {
    return managed_fields.is_array() && managed_fields.size() == 1 && managed_fields[0].is_object() && managed_fields[0].empty();
}

}  // namespace

ObjectStore::Outcome ObjectStore::create(Type& type, Request const& request) {
    ObjectKey key = request.key;
    if (key.name.empty()) key.name = name_of(request.body);
    if (auto wrong = misplaced(type.resource, key, request.body)) return Failure{std::move(*wrong)};
    bool const builtin = type.rules.origin == ResourceRules::Origin::Builtin;
    auto const kind = text_of(member(request.body, "kind"));
    if (kind.empty() ? !builtin : kind != type.resource.kind) {
        return Failure{
            bad_request("the object provided is unrecognized (must be of type " + std::string{type.resource.kind} + ")")};
    }
    if (!resource_version_of(request.body).empty())
        return Failure{internal_error("resourceVersion should not be set on objects to be created")};
    if (auto refusal = may_create_in(type, key)) return Failure{std::move(*refusal)};
    if (Stored const* const live = stored_at(type, key)) {
        return Failure{
            already_exists(type.resource, key.name, is_being_deleted(live->object) ? "object is being deleted: " : "")};
    }
    Json object = request.body;
    if (options_.respell_numbers && !respell_numbers(object))
        return Failure{bad_request("json: cannot unmarshal number into Go value of type float64")};
    if (auto const unknown = drop_unknown_fields(object, type.schema); !unknown.empty()) {
        return Failure{bad_request(std::string{type.resource.kind} + " in version \"" + std::string{type.resource.version} +
                                   "\" cannot be handled as a " + std::string{type.resource.kind} + ": " + undecodable(unknown))};
    }
    object["metadata"]["name"] = key.name;
    drop_nulls(object, type.schema);
    fill_defaults(object, type.schema);
    if (type.rules.fill_defaults) type.rules.fill_defaults(object);
    Managers managers = after_update(Json::object(), object, {}, writer_of(type, request), type.schema);
    return add(type, key, std::move(object), std::move(managers), request);
}

ObjectStore::Outcome ObjectStore::apply(Type& type, Request const& request) {
    if (request.field_manager.empty()) {
        return Failure{invalid({"meta.k8s.io", "v1", "", "PatchOptions"}, "",
                               {{"fieldManager", "Required value: is required for apply patch", "FieldValueRequired"}})};
    }
    Json body = request.body;
    if (auto wrong = misplaced(type.resource, request.key, body)) return Failure{std::move(*wrong)};
    if (text_of(member(body, "kind")) != type.resource.kind ||
        text_of(member(body, "apiVersion")) != api_version(type.resource)) {
        return Failure{bad_request("invalid object type: " + text_of(member(body, "apiVersion")) +
                                   ", Kind=" + text_of(member(body, "kind")))};
    }
    if (!member(body, "metadata", "managedFields").is_null()) return Failure{bad_request("metadata.managedFields must be nil")};
    if (options_.respell_numbers) respell_numbers_as_yaml(body);
    if (auto const why = untypable(body, type.schema); !why.empty()) {
        return Failure{internal_error("failed to create typed patch object (" + to_string(key_of(body)) + "; " +
                                      api_version(type.resource) + ", Kind=" + std::string{type.resource.kind} + "): " + why)};
    }
    body["metadata"]["name"] = request.key.name;
    if (type.resource.scope == Resource::Scope::Namespaced) body["metadata"]["namespace"] = request.key.namespace_;

    Writer const writer = writer_of(type, request);
    Stored* const live = stored_at(type, request.key);
    if (live != nullptr) {
        Applied applied = after_apply(live->object, body, live->managers, writer, type.schema);
        if (!applied.object) {
            // Nothing but ownership changes; what the sender says about the object's identity still has to hold.
            applied.object = live->object;
            for (auto const* name : {"uid", "resourceVersion"}) {
                if (body["metadata"].contains(name)) (*applied.object)["metadata"][name] = body["metadata"][name];
            }
        }
        fill_defaults(*applied.object, type.schema);
        return update(type, *live, std::move(*applied.object), std::move(applied.managers), request);
    }
    if (!request.subresource.empty()) return Failure{not_found(type.resource, request.key.name)};
    if (auto const uid = uid_of(body); !uid.empty()) return Failure{no_object_with_uid(type.resource, request.key.name, uid)};
    if (auto refusal = may_create_in(type, request.key)) return Failure{std::move(*refusal)};
    Applied applied = after_apply(Json::object(), body, {}, writer, type.schema);
    Json object = applied.object ? std::move(*applied.object) : std::move(body);
    fill_defaults(object, type.schema);
    return add(type, request.key, std::move(object), std::move(applied.managers), request);
}

ObjectStore::Outcome ObjectStore::patch(Type& type, Request const& request) {
    Stored* const live = stored_at(type, request.key);
    if (live == nullptr) return Failure{not_found(type.resource, request.key.name)};
    Json object = live->object;
    if (!live->managers.empty()) object["metadata"]["managedFields"] = to_json(live->managers);
    Json body = request.body;
    if (options_.respell_numbers) respell_numbers(body);
    if (request.verb == Request::Verb::MergePatch) {
        if (!body.is_object()) return Failure{bad_request("error decoding patch: the patch is no object")};
        object.merge_patch(body);
    } else {
        if (!body.is_array()) return Failure{bad_request("error decoding patch: the patch is no list of operations")};
        auto patched = json_patched(std::move(object), body);
        if (!patched) return Failure{patch_not_possible()};
        object = std::move(*patched);
    }
    if (auto wrong = misplaced(type.resource, request.key, object)) return Failure{std::move(*wrong)};
    if (auto const kind = text_of(member(object, "kind")); kind != type.resource.kind) {
        return Failure{invalid(type.resource, request.key.name,
                               {{"kind", "Invalid value: \"" + kind + "\": must be " + std::string{type.resource.kind}}})};
    }
    Managers managers = live->managers;
    if (auto const& sent = member(object, "metadata", "managedFields"); request.subresource.empty()) {
        auto parsed = managers_from_json(sent);
        if (!parsed.empty() || resets_managers(sent)) managers = std::move(parsed);
    }
    if (object["metadata"].is_object()) object["metadata"].erase("managedFields");
    if (auto const unknown = drop_unknown_fields(object, type.schema); !unknown.empty()) {
        return Failure{invalid({}, "", {{"patch", "Invalid value: " + undecodable(unknown)}})};
    }
    fill_defaults(object, type.schema);
    if (type.rules.fill_defaults) type.rules.fill_defaults(object);
    managers = after_update(live->object, object, std::move(managers), writer_of(type, request), type.schema);
    return update(type, *live, std::move(object), std::move(managers), request);
}

ObjectStore::Outcome ObjectStore::remove(Type& type, Request const& request) {
    Stored* const live = stored_at(type, request.key);
    if (live == nullptr) return Failure{not_found(type.resource, request.key.name)};
    auto const& wanted = request.preconditions;
    auto const uid = uid_of(live->object);
    auto const version = resource_version_of(live->object);
    if (!wanted.uid.empty() && wanted.uid != uid) {
        return Failure{precondition_failed(type.resource, request.key.name, "UID", wanted.uid, uid)};
    }
    if (!wanted.resource_version.empty() && wanted.resource_version != version) {
        return Failure{precondition_failed(type.resource, request.key.name, "ResourceVersion", wanted.resource_version, version)};
    }
    bool const is_namespace = type.resource == kNamespaces;
    bool const stays = is_namespace || type.deletion_is_held || !finalizers_of(live->object).empty();
    if (!stays) {
        Json answer = deleted(type.resource, request.key, live->object);
        if (!request.dry_run) drop(type, place_of(type.resource, request.key));
        return answer;
    }
    if (!request.dry_run && !is_being_deleted(live->object)) start_deletion(type, *live);
    Json answer = render(*live);
    if (is_namespace && !request.dry_run && options_.namespaces == MemoryOptions::Namespaces::Emptied) {
        delete_contents(request.key.name);
        finish_namespace(request.key.name);
    }
    return answer;
}

ObjectStore::Outcome ObjectStore::add(Type& type, ObjectKey const& key, Json object, Managers managers, Request const& request) {
    bool const namespaced = type.resource.scope == Resource::Scope::Namespaced;
    object["apiVersion"] = api_version(type.resource);
    object["kind"] = type.resource.kind;
    if (type.rules.status_subresource) object.erase("status");
    fill_defaults(object, type.schema);  // a status may have a default of its own
    Json& metadata = object["metadata"];
    for (auto const* name : kServerFields) metadata.erase(name);
    metadata.erase("managedFields");
    metadata.erase("resourceVersion");
    if (namespaced) metadata["namespace"] = key.namespace_;
    tidy_metadata(metadata);
    if (type.rules.fill_defaults) type.rules.fill_defaults(object);
    if (auto refusal = check(type, Json(), object)) return Failure{std::move(*refusal)};
    drop_nulls(object, type.schema);

    metadata["creationTimestamp"] = base::rfc3339(clock_());
    if (type.rules.generation) metadata["generation"] = 1;
    Stored made{std::move(object), std::move(managers)};
    if (request.dry_run) return render(made);
    made.object["metadata"]["uid"] = next_uid();
    made.object["metadata"]["resourceVersion"] = next_version();
    if (type.resource == kCustomResourceDefinitions) follow_definition(made.object);
    Stored& stored = type.objects.insert_or_assign(place_of(type.resource, key), std::move(made)).first->second;
    remember(Change::Kind::Added, type, stored);
    return render(stored);
}

ObjectStore::Outcome ObjectStore::update(Type& type, Stored& live, Json object, Managers managers, Request const& request) {
    auto const name = name_of(live.object);
    auto const version = resource_version_of(object);
    if (!version.empty() && version != resource_version_of(live.object)) return Failure{modified(type.resource, name)};

    if (!request.subresource.empty()) {
        Json with_status = live.object;
        take_over(with_status, object, "status");
        object = std::move(with_status);
    } else if (type.rules.status_subresource) {
        take_over(object, live.object, "status");
    }
    Json const& identity = live.object["metadata"];
    Json& metadata = object["metadata"];
    if (auto const uid = uid_of(object); !uid.empty() && uid != uid_of(live.object)) {
        return Failure{invalid(type.resource, name, {{"metadata.uid", "Invalid value: \"" + uid + "\": field is immutable"}})};
    }
    for (auto const* field : kServerFields) {
        bool const is_deletion = std::string_view{field}.starts_with("deletion");
        if (!is_deletion || is_being_deleted(live.object)) take_over(metadata, identity, field);
    }
    for (auto const* field : {"name", "namespace", "resourceVersion"}) take_over(metadata, identity, field);
    metadata.erase("managedFields");
    tidy_metadata(metadata);
    if (type.rules.fill_defaults) type.rules.fill_defaults(object);
    if (auto refusal = check(type, live.object, object)) return Failure{std::move(*refusal)};
    drop_nulls(object, type.schema);

    if (base::same_json(live.object, object) && same_ownership(live.managers, managers)) return render(live);
    bool const beside_status = type.rules.status_subresource ? !says_the_same_beside(live.object, object, {"metadata", "status"})
                                                             : !says_the_same_beside(live.object, object, {"metadata"});
    if (type.rules.generation && beside_status) metadata["generation"] = generation_of(live.object) + 1;

    if (request.dry_run) return render({std::move(object), std::move(managers)});
    if (is_being_deleted(object) && finalizers_of(object).empty() && type.resource != kNamespaces) {
        live = {std::move(object), std::move(managers)};
        Json answer = render(live);
        drop(type, place_of(type.resource, key_of(live.object)));
        return answer;
    }
    store(type, live, std::move(object), std::move(managers));
    Json answer = render(live);
    if (type.resource == kNamespaces) finish_namespace(name);
    return answer;
}

ObjectStore::Step ObjectStore::check(Type const& type, Json const& before, Json const& after) const {
    auto found = metadata_violations(type.resource, before, after);
    auto const append = [&](std::vector<Violation> more) { found.insert(found.end(), more.begin(), more.end()); };
    append(violations(before, after, type.schema));
    if (type.rules.validate) append(type.rules.validate(before, after));
    if (found.empty()) return std::nullopt;
    return invalid(type.resource, name_of(after), found);
}

ObjectStore::Step ObjectStore::may_create_in(Type const& type, ObjectKey const& key) {
    if (type.resource.scope != Resource::Scope::Namespaced) return std::nullopt;
    if (key.namespace_.empty()) return type_not_served();
    Type* const namespaces = type_of(kNamespaces);
    if (namespaces == nullptr) return std::nullopt;
    Stored const* const found = stored_at(*namespaces, {"", key.namespace_});
    if (found == nullptr) return not_found(kNamespaces, key.namespace_);
    if (is_being_deleted(found->object)) return namespace_terminating(type.resource, key);
    return std::nullopt;
}

Writer ObjectStore::writer_of(Type const& type, Request const& request) const {
    return {request.field_manager.empty() ? "unknown" : request.field_manager, api_version(type.resource), request.subresource,
            clock_(), type.rules.status_subresource};
}

void ObjectStore::store(Type& type, Stored& live, Json object, Managers managers) {
    object["metadata"]["resourceVersion"] = next_version();
    if (type.resource == kCustomResourceDefinitions) follow_definition(object);
    live = {std::move(object), std::move(managers)};
    remember(Change::Kind::Updated, type, live);
}

void ObjectStore::drop(Type& type, std::string const& place) {
    auto const found = type.objects.find(place);
    Stored gone = std::move(found->second);
    type.objects.erase(found);
    gone.object["metadata"]["resourceVersion"] = next_version();
    remember(Change::Kind::Deleted, type, gone);
    if (type.resource == kCustomResourceDefinitions) forget_definition(gone.object);
    if (type.resource.scope == Resource::Scope::Namespaced) finish_namespace(namespace_of(gone.object));
}

void ObjectStore::start_deletion(Type& type, Stored& live) {
    Json object = live.object;
    Json& metadata = object["metadata"];
    if (type.deletion_is_held) metadata["finalizers"].push_back(kHeldFinalizer);
    metadata["deletionTimestamp"] = base::rfc3339(clock_());
    if (type.resource == kNamespaces) {
        object["status"]["phase"] = "Terminating";
    } else {
        metadata["deletionGracePeriodSeconds"] = 0;
    }
    if (type.rules.generation) metadata["generation"] = generation_of(object) + 1;
    Managers managers = live.managers;
    store(type, live, std::move(object), std::move(managers));
}

void ObjectStore::delete_contents(std::string const& namespace_) {
    std::string const prefix = namespace_ + "/";
    std::vector<Request> requests;
    for (auto const& type : types_) {
        if (type->resource.scope != Resource::Scope::Namespaced) continue;
        for (auto at = type->objects.lower_bound(prefix); at != type->objects.end() && at->first.starts_with(prefix); ++at) {
            requests.push_back(k8s::remove(type->resource, key_of(at->second.object), {}));
        }
    }
    for (auto const& request : requests) {
        if (Type* const type = type_of(request.resource)) static_cast<void>(remove(*type, request).has_value());
    }
}

void ObjectStore::finish_namespace(std::string const& namespace_) {
    Type* const namespaces = type_of(kNamespaces);
    if (namespaces == nullptr || options_.namespaces != MemoryOptions::Namespaces::Emptied) return;
    Stored const* const found = stored_at(*namespaces, {"", namespace_});
    if (found == nullptr || !is_being_deleted(found->object) || !finalizers_of(found->object).empty()) return;
    std::string const prefix = namespace_ + "/";
    bool const is_empty = std::none_of(types_.begin(), types_.end(), [&](auto const& type) {
        if (type->resource.scope != Resource::Scope::Namespaced) return false;
        auto const at = type->objects.lower_bound(prefix);
        return at != type->objects.end() && at->first.starts_with(prefix);
    });
    if (is_empty) drop(*namespaces, namespace_);
}

void ObjectStore::follow_definition(Json& definition) {
    auto const& names = member(definition, "spec", "names");
    auto const group = text_of(member(definition, "spec", "group"));
    auto const kind = text_of(member(names, "kind"));
    auto const& others = type_of(kCustomResourceDefinitions)->objects;
    bool const kind_is_taken = std::any_of(others.begin(), others.end(), [&](auto const& other) {
        return name_of(other.second.object) != name_of(definition) &&
               text_of(member(other.second.object, "spec", "group")) == group &&
               text_of(member(other.second.object, "status", "acceptedNames", "kind")) == kind;
    });
    auto const state = [&](char const* type, bool holds, char const* reason, char const* message) {
        Condition const condition{type, holds ? "True" : "False", reason, message, 0};
        Json& conditions = definition["status"]["conditions"];
        conditions = with_condition(conditions, condition, clock_());
    };
    if (kind_is_taken) {
        state("NamesAccepted", false, "KindConflict", "the kind is already in use");
        state("Established", false, "NotAccepted", "not all names are accepted");
        return;
    }
    state("NamesAccepted", true, "NoConflicts", "no conflicts found");
    state("Established", true, "InitialNamesAccepted", "the initial names have been accepted");
    definition["status"]["acceptedNames"] = names;
    auto const& versions = member(definition, "spec", "versions");
    if (!versions.is_array()) return;
    auto const scope =
        text_of(member(definition, "spec", "scope")) == "Cluster" ? Resource::Scope::Cluster : Resource::Scope::Namespaced;
    auto const plural = text_of(member(names, "plural"));
    for (auto const& version : versions) {
        auto const version_name = text_of(member(version, "name"));
        if (member(version, "storage") == true) definition["status"]["storedVersions"] = Json::array({version_name});
        if (member(version, "served") != true) continue;
        serve({group, version_name, plural, kind, scope}, rules_of_crd(definition, version_name));
    }
}

void ObjectStore::forget_definition(Json const& definition) {
    auto const& accepted = member(definition, "status", "acceptedNames");
    auto const& versions = member(definition, "spec", "versions");
    if (!accepted.is_object() || !versions.is_array()) return;
    auto const group = text_of(member(definition, "spec", "group"));
    auto const plural = text_of(member(accepted, "plural"));
    for (auto const& version : versions) {
        auto const version_name = text_of(member(version, "name"));
        stop_serving({group, version_name, plural, "", Resource::Scope::Namespaced});
    }
}

}  // namespace k8s
