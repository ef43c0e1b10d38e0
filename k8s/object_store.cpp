#include "k8s/object_store.hpp"

#include "base/base64.hpp"
#include "k8s/label_selector.hpp"
#include "k8s/stored_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <set>

namespace k8s {
namespace {

using base::member;
using base::text_of;

constexpr std::array<char const*, 8> kVerbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};

Json partial(Json object) {
    return {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", std::move(object["metadata"])}};
}

/// Where a list goes on.
struct Continuation {
    std::string version;
    std::string last;
    std::uint64_t epoch = 0;
};

std::optional<Continuation> parse_token(std::string const& token) {
    auto const bytes = base::decode_base64(token);
    if (!bytes) return std::nullopt;
    auto const json = base::parse_json(*bytes);
    if (!json || !json->is_object()) return std::nullopt;
    return Continuation{text_of(member(*json, "rv")), text_of(member(*json, "start")),
                        static_cast<std::uint64_t>(base::integer_of(member(*json, "epoch")))};
}

constexpr std::string_view kUidBegin = "00000000-0000-4000-8000-";

/// Which uid of ours it is, counted from 1; 0 for another's.
std::uint64_t number_of_uid(std::string const& uid) {
    std::uint64_t number = 0;
    if (uid.starts_with(kUidBegin)) std::from_chars(uid.data() + kUidBegin.size(), uid.data() + uid.size(), number, 16);
    return number;
}

std::uint64_t number_of(std::string const& version) {
    std::uint64_t number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    return number;
}

}  // namespace

ObjectStore::ObjectStore(base::Clock clock, MemoryOptions const& options)
    : clock_(std::move(clock)), options_(options), version_(options.last_version) {
    for (auto const& resource : {kNamespaces, kSecrets, kConfigMaps, kEvents, kCustomResourceDefinitions}) {
        serve(resource, builtin_rules(resource));
    }
    for (auto const* name : {"default", "kube-system"}) put(kNamespaces, {{"metadata", {{"name", name}}}});
    changes_.clear();
}

ObjectStore::Outcome ObjectStore::carry_out(Request const& request) {
    if (request.verb == Request::Verb::Discover) return discover(request.resource);
    Type* const type = type_of(request.resource);
    if (type == nullptr) return base::Failure{type_not_served()};
    bool const has_subresource =
        request.subresource.empty() || (request.subresource == "status" && type->rules.status_subresource);
    if (!has_subresource) return base::Failure{subresource_not_found()};
    if (request.verb == Request::Verb::List) return list(*type, request);
    if (request.key.name.empty() && request.verb != Request::Verb::Create) return base::Failure{method_not_allowed()};
    if (request.key.namespace_.empty() && type->resource.scope == Resource::Scope::Namespaced)
        return base::Failure{type_not_served()};
    switch (request.verb) {
        case Request::Verb::Get: return get(*type, request);
        case Request::Verb::Create: return create(*type, request);
        case Request::Verb::Apply: return apply(*type, request);
        case Request::Verb::MergePatch:
        case Request::Verb::JsonPatch: return patch(*type, request);
        case Request::Verb::Delete: return remove(*type, request);
        case Request::Verb::List:
        case Request::Verb::Discover: break;
    }
    return base::Failure{method_not_allowed()};
}

void ObjectStore::serve(Resource const& resource, ResourceRules rules) {
    Type* type = type_of(resource);
    if (type == nullptr) {
        types_.push_back(std::make_unique<Type>());
        type = types_.back().get();
    }
    type->resource = {keep(resource.group), keep(resource.version), keep(resource.plural), keep(resource.kind), resource.scope};
    type->schema = object_schema(rules.schema);
    type->rules = std::move(rules);
}

void ObjectStore::stop_serving(Resource const& resource) {
    Type const* const type = type_of(resource);
    std::erase_if(types_, [&](auto const& candidate) { return candidate.get() == type; });
}

Json ObjectStore::put(Resource const& resource, Json object) { return render(seed(resource, std::move(object))); }

ObjectStore::Stored& ObjectStore::seed(Resource const& resource, Json object) {
    Type& type = served(resource);
    ObjectKey const key = key_of(object);
    bool const namespaced = type.resource.scope == Resource::Scope::Namespaced;
    if (namespaced && !key.namespace_.empty() && !has(kNamespaces, {"", key.namespace_})) {
        set(kNamespaces, {{"metadata", {{"name", key.namespace_}}}});
    }
    object["apiVersion"] = api_version(type.resource);
    object["kind"] = type.resource.kind;
    Json& metadata = object["metadata"];
    Managers managers = managers_from_json(member(metadata, "managedFields"));
    metadata.erase("managedFields");
    if (uid_of(object).empty()) metadata["uid"] = next_uid();
    pass_numbers_of(object);
    if (resource_version_of(object).empty()) metadata["resourceVersion"] = next_version();
    if (!metadata.contains("creationTimestamp")) metadata["creationTimestamp"] = base::rfc3339(clock_());
    if (type.rules.generation && !metadata.contains("generation")) metadata["generation"] = 1;
    if (options_.respell_numbers) respell_numbers(object);
    drop_unknown_fields(object, type.schema);
    fill_defaults(object, type.schema);
    if (type.rules.fill_defaults) type.rules.fill_defaults(object);
    if (type.resource == kCustomResourceDefinitions) follow_definition(object);

    std::string const place = place_of(type.resource, key);
    bool const is_new = !type.objects.contains(place);
    Stored& stored = type.objects[place];
    stored = {std::move(object), std::move(managers)};
    remember(is_new ? Change::Kind::Added : Change::Kind::Updated, type, stored);
    return stored;
}

void ObjectStore::identify(Resource const& resource, ObjectKey const& key, Json const& metadata) {
    Type* const type = type_of(resource);
    Stored* const stored = type == nullptr ? nullptr : stored_at(*type, key);
    if (stored == nullptr) return;
    for (auto const* field : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
        if (metadata.contains(field)) stored->object["metadata"][field] = metadata[field];
    }
    pass_numbers_of(stored->object);
}

std::optional<Json> ObjectStore::find(Resource const& resource, ObjectKey const& key) const {
    Type* const type = type_of(resource);
    Stored const* const stored = type == nullptr ? nullptr : stored_at(*type, key);
    return stored == nullptr ? std::nullopt : std::optional{render(*stored)};
}

bool ObjectStore::has(Resource const& resource, ObjectKey const& key) const {
    Type* const type = type_of(resource);
    return type != nullptr && stored_at(*type, key) != nullptr;
}

std::vector<Json> ObjectStore::all(Resource const& resource) const {
    std::vector<Json> objects;
    if (Type const* const type = type_of(resource)) {
        for (auto const& [place, stored] : type->objects) objects.push_back(render(stored));
    }
    return objects;
}

bool ObjectStore::erase(Resource const& resource, ObjectKey const& key) {
    Type* const type = type_of(resource);
    if (type == nullptr || stored_at(*type, key) == nullptr) return false;
    drop(*type, place_of(type->resource, key));
    return true;
}

std::vector<Change> ObjectStore::take_changes() { return std::exchange(changes_, {}); }

void ObjectStore::expire_continue_tokens(MemoryApi::Expiry expiry) {
    ++token_epoch_;
    expiry_ = expiry;
}

void ObjectStore::hold_deletion_of(Resource const& resource) { served(resource).deletion_is_held = true; }

void ObjectStore::release_deletion_of(Resource const& resource) {
    Type& type = served(resource);
    type.deletion_is_held = false;
    std::vector<std::string> held;
    for (auto const& [place, stored] : type.objects) {
        if (has_finalizer(stored.object, kHeldFinalizer)) held.push_back(place);
    }
    for (auto const& place : held) {
        Stored& live = type.objects.find(place)->second;
        Json object = live.object;
        Json& finalizers = object["metadata"]["finalizers"];
        finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), Json(kHeldFinalizer)), finalizers.end());
        bool const is_last = finalizers.empty();
        if (is_last) object["metadata"].erase("finalizers");
        if (is_last && is_being_deleted(object)) {
            live.object = std::move(object);
            drop(type, place);
        } else {
            Managers managers = live.managers;
            store(type, live, std::move(object), std::move(managers));
        }
    }
}

ObjectStore::Type* ObjectStore::type_of(Resource const& resource) const {
    for (auto const& type : types_) {
        Resource const& candidate = type->resource;
        if (candidate.plural == resource.plural && candidate.group == resource.group && candidate.version == resource.version)
            return type.get();
    }
    return nullptr;
}

ObjectStore::Type& ObjectStore::served(Resource const& resource) {
    if (type_of(resource) == nullptr) serve(resource, {});
    return *type_of(resource);
}

std::string ObjectStore::place_of(Resource const& resource, ObjectKey const& key) {
    return resource.scope == Resource::Scope::Namespaced ? key.namespace_ + "/" + key.name : key.name;
}

ObjectStore::Stored* ObjectStore::stored_at(Type& type, ObjectKey const& key) {
    auto const found = type.objects.find(place_of(type.resource, key));
    return found == type.objects.end() ? nullptr : &found->second;
}

ObjectStore::Outcome ObjectStore::get(Type& type, Request const& request) {
    Stored const* const stored = stored_at(type, request.key);
    if (stored == nullptr) return base::Failure{not_found(type.resource, request.key.name)};
    Json object = render(*stored);
    return request.contents == Request::Contents::Metadata ? partial(std::move(object)) : std::move(object);
}

ObjectStore::Outcome ObjectStore::list(Type& type, Request const& request) {
    auto const selector = LabelSelector::parse(request.label_selector);
    if (!selector) return base::Failure{bad_request(selector.error())};
    bool const in_namespace = type.resource.scope == Resource::Scope::Namespaced && !request.key.namespace_.empty();
    std::string const prefix = in_namespace ? request.key.namespace_ + "/" : "";
    auto at = type.objects.lower_bound(prefix);
    std::string version = std::to_string(version_);
    if (!request.continue_token.empty()) {
        auto const token = parse_token(request.continue_token);
        if (!token) return base::Failure{bad_request("invalid continue token")};
        if (token->epoch != token_epoch_) {
            return base::Failure{list_expired(expiry_ == MemoryApi::Expiry::WithToken ? continue_token(token->last) : "")};
        }
        at = type.objects.upper_bound(token->last);
        version = token->version;
    }

    bool const metadata_only = request.contents == Request::Contents::Metadata;
    bool const bare = type.rules.origin == ResourceRules::Origin::Builtin && !metadata_only;
    auto const is_there = [&] { return at != type.objects.end() && at->first.starts_with(prefix); };
    Json items = Json::array();
    std::string last;
    for (; is_there() && (request.limit == 0 || items.size() < static_cast<std::size_t>(request.limit)); ++at) {
        if (!selector->matches(member(at->second.object, "metadata", "labels"))) continue;
        Json object = render(at->second);
        if (bare) {
            object.erase("apiVersion");
            object.erase("kind");
        }
        items.push_back(metadata_only ? partial(std::move(object)) : std::move(object));
        last = at->first;
    }

    Json metadata = {{"resourceVersion", version}};
    if (is_there()) {
        metadata["continue"] = continue_token(last);
        if (selector->empty()) {
            std::int64_t remaining = 0;
            for (; is_there(); ++at) ++remaining;
            metadata["remainingItemCount"] = remaining;
        }
    } else if (!bare && !metadata_only) {
        metadata["continue"] = "";
    }
    return Json{{"apiVersion", metadata_only ? "meta.k8s.io/v1" : api_version(type.resource)},
                {"kind", metadata_only ? "PartialObjectMetadataList" : std::string{type.resource.kind} + "List"},
                {"metadata", std::move(metadata)},
                {"items", std::move(items)}};
}

ObjectStore::Outcome ObjectStore::discover_group(std::string_view group) const {
    std::set<std::string> versions;
    for (auto const& type : types_) {
        if (type->resource.group == group) versions.insert(std::string{type->resource.version});
    }
    if (versions.empty()) return base::Failure{type_not_served()};
    Json list = Json::array();
    for (auto const& version : versions)
        list.push_back({{"groupVersion", std::string{group} + "/" + version}, {"version", version}});
    return Json{
        {"kind", "APIGroup"}, {"apiVersion", "v1"}, {"name", group}, {"versions", list}, {"preferredVersion", list.back()}};
}

ObjectStore::Outcome ObjectStore::discover(Resource const& resource) const {
    if (resource.version.empty()) return discover_group(resource.group);
    Json resources = Json::array();
    for (auto const& type : types_) {
        if (type->resource.group != resource.group || type->resource.version != resource.version) continue;
        std::string const plural{type->resource.plural};
        bool const namespaced = type->resource.scope == Resource::Scope::Namespaced;
        std::string singular{type->resource.kind};
        std::transform(singular.begin(), singular.end(), singular.begin(), [](unsigned char c) { return std::tolower(c); });
        resources.push_back({{"name", plural},
                             {"singularName", singular},
                             {"namespaced", namespaced},
                             {"kind", type->resource.kind},
                             {"verbs", kVerbs}});
        if (!type->rules.status_subresource) continue;
        resources.push_back({{"name", plural + "/status"},
                             {"singularName", ""},
                             {"namespaced", namespaced},
                             {"kind", type->resource.kind},
                             {"verbs", {"get", "patch", "update"}}});
    }
    if (resources.empty()) return base::Failure{type_not_served()};
    return Json{{"kind", "APIResourceList"},
                {"apiVersion", "v1"},
                {"groupVersion", api_version(resource)},
                {"resources", std::move(resources)}};
}

Json ObjectStore::render(Stored const& stored) const {
    Json object = stored.object;
    if (options_.show_managed_fields && !stored.managers.empty()) object["metadata"]["managedFields"] = to_json(stored.managers);
    return object;
}

void ObjectStore::remember(Change::Kind kind, Type const& type, Stored const& stored) {
    if (options_.keep_changes) changes_.push_back({kind, type.resource, render(stored)});
}

std::string ObjectStore::continue_token(std::string const& last) const {
    return base::encode_base64(base::dump_json({{"rv", std::to_string(version_)}, {"start", last}, {"epoch", token_epoch_}}));
}

/// What is given out from now on is later than what this object has.
void ObjectStore::pass_numbers_of(Json const& object) {
    uids_ = std::max(uids_, number_of_uid(uid_of(object)));
    version_ = std::max(version_, number_of(resource_version_of(object)));
}

std::string ObjectStore::next_uid() {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%s%012llx", kUidBegin.data(), static_cast<unsigned long long>(++uids_));
    return text.data();
}

std::string_view ObjectStore::keep(std::string_view text) {
    auto const known = std::find(texts_.begin(), texts_.end(), text);
    return known != texts_.end() ? *known : texts_.emplace_back(text);
}

}  // namespace k8s
