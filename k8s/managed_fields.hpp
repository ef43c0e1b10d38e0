#pragma once

#include "base/clock.hpp"
#include "k8s/field_set.hpp"
#include "k8s/schema.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// One entry of `metadata.managedFields`: what one manager owns by one way of writing.
struct ManagedFields {
    enum class Operation { Apply, Update };
    std::string manager;
    Operation operation = Operation::Update;
    std::string api_version;
    std::string subresource;
    std::string time;  ///< RFC 3339, or "" (an apply that only shares fields gets none)
    FieldSet fields;
};

/// Everybody's entries, in the order in which the wire has them.
using Managers = std::vector<ManagedFields>;

/// Entries from the wire; those that make no sense are left out.
Managers managers_from_json(Json const& managed_fields);
Json to_json(Managers const& managers);

/// Who writes, how, and when.
struct Writer {
    std::string manager;
    std::string api_version;
    std::string subresource;
    base::Time now;
    bool has_status = false;  ///< whether the type has a status subresource, so that each path writes only its own part
};

/// Gives to `writer` what an update (create, patch) changed from `before` to `after`, and takes it from everybody else.
/// Source: sigs.k8s.io/structured-merge-diff, merge/update.go (Update); apimachinery, managedfieldsupdater.go.
Managers after_update(Json const& before, Json const& after, Managers managers, Writer const& writer, Schema const& schema);

/// An object as a server-side apply with force=true leaves it. `object` is none where nothing but ownership may have changed.
struct Applied {
    std::optional<Json> object;
    Managers managers;
};
/// `live` is `{}` where there is no object yet. An object that nobody owns is first given to the manager "before-first-apply".
/// Source: as above (Apply, prune); apimachinery, skipnonapplied.go.
Applied after_apply(Json const& live, Json const& applied, Managers managers, Writer const& writer, Schema const& schema);

/// Whether two lists of entries say the same but for their times.
bool same_ownership(Managers const& left, Managers const& right);

}  // namespace k8s
