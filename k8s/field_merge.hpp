#pragma once

#include "k8s/field_set.hpp"
#include "k8s/schema.hpp"

namespace k8s {

/// The places that `value` fills: leaves, map and set elements, and members that no schema declares by name.
FieldSet fields_of(Json const& value, Schema const& schema);

/// The places in which two values differ.
struct Difference {
    FieldSet added;
    FieldSet modified;
    FieldSet removed;
};
Difference differences(Json const& before, Json const& after, Schema const& schema);

/// `live` with everything that `applied` says; nothing is taken away.
Json merged(Json const& live, Json const& applied, Schema const& schema);

/// `value` without what is at `places`. A container that loses all it has becomes null, as on an API server.
Json without(Json const& value, FieldSet const& places, Schema const& schema);

}  // namespace k8s
