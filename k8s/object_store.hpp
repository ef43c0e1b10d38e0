#pragma once

#include "base/clock.hpp"
#include "k8s/api.hpp"
#include "k8s/managed_fields.hpp"
#include "k8s/memory_api.hpp"
#include "k8s/refusal.hpp"
#include "k8s/resource_rules.hpp"
#include "k8s/schema.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// The objects of one API server and the rules by which requests change them. What MemoryApi is made of, without threads, faults
/// and a log of requests. Copyless where it can be: a read copies the one object that it answers with.
class ObjectStore {
  public:
    using Outcome = base::Result<Json, Refusal>;

    ObjectStore(base::Clock clock, MemoryOptions const& options);

    Outcome carry_out(Request const& request);

    void serve(Resource const& resource, ResourceRules rules);
    void stop_serving(Resource const& resource);

    Json put(Resource const& resource, Json object);
    void set(Resource const& resource, Json object) { seed(resource, std::move(object)); }
    void identify(Resource const& resource, ObjectKey const& key, Json const& metadata);
    std::optional<Json> find(Resource const& resource, ObjectKey const& key) const;
    bool has(Resource const& resource, ObjectKey const& key) const;
    std::vector<Json> all(Resource const& resource) const;
    bool erase(Resource const& resource, ObjectKey const& key);

    std::vector<Change> take_changes();
    bool has_changes() const { return !changes_.empty(); }

    void expire_continue_tokens(MemoryApi::Expiry expiry);
    void hold_deletion_of(Resource const& resource);
    void release_deletion_of(Resource const& resource);

  private:
    struct Stored {
        Json object;  ///< without managedFields
        Managers managers;
    };
    using Objects = std::map<std::string, Stored, std::less<>>;  ///< by "namespace/name", in the order of lists
    struct Type {
        Resource resource;
        ResourceRules rules;
        Schema schema;
        Objects objects;
        bool deletion_is_held = false;
    };
    using Step = std::optional<Refusal>;

    Stored& seed(Resource const& resource, Json object);

    // Which object, and whether it may be written.
    Type* type_of(Resource const& resource) const;
    Type& served(Resource const& resource);
    static std::string place_of(Resource const& resource, ObjectKey const& key);
    static Stored* stored_at(Type& type, ObjectKey const& key);
    Step may_create_in(Type const& type, ObjectKey const& key);
    Step check(Type const& type, Json const& before, Json const& after) const;
    Writer writer_of(Type const& type, Request const& request) const;

    // The verbs.
    Outcome get(Type& type, Request const& request);
    Outcome list(Type& type, Request const& request);
    Outcome create(Type& type, Request const& request);
    Outcome apply(Type& type, Request const& request);
    Outcome patch(Type& type, Request const& request);
    Outcome remove(Type& type, Request const& request);
    Outcome discover_group(std::string_view group) const;
    Outcome discover(Resource const& resource) const;

    // What every write goes through.
    Outcome add(Type& type, ObjectKey const& key, Json object, Managers managers, Request const& request);
    Outcome update(Type& type, Stored& live, Json object, Managers managers, Request const& request);
    Json render(Stored const& stored) const;
    void store(Type& type, Stored& live, Json object, Managers managers);
    void drop(Type& type, std::string const& place);
    void start_deletion(Type& type, Stored& live);
    void delete_contents(std::string const& namespace_);
    void finish_namespace(std::string const& namespace_);
    void remember(Change::Kind kind, Type const& type, Stored const& stored);
    void follow_definition(Json& definition);
    void forget_definition(Json const& definition);
    std::string continue_token(std::string const& last) const;
    std::string next_version() { return std::to_string(++version_); }
    std::string next_uid();
    void pass_numbers_of(Json const& object);
    std::string_view keep(std::string_view text);

    base::Clock clock_;
    MemoryOptions options_;
    std::vector<std::unique_ptr<Type>> types_;
    std::deque<std::string> texts_;  ///< what the views of served Resources point to
    std::vector<Change> changes_;
    std::uint64_t version_;
    std::uint64_t uids_ = 0;
    std::uint64_t token_epoch_ = 0;
    MemoryApi::Expiry expiry_ = MemoryApi::Expiry::WithToken;
};

}  // namespace k8s
