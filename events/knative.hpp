#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "events/cloud_event.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace events {

/// The type of a PingSource's events.
/// Source: Knative Eventing v0.50, pkg/apis/sources/v1/ping_lifecycle.go.
inline constexpr std::string_view kPingType = "dev.knative.sources.ping";

/// Something happened to an object in a cluster that an ApiServerSource watches: `dev.knative.apiserver.resource.*` and `.ref.*`.
/// Says which object; what it looks like is a hint, since events come late, twice and out of order.
struct ObjectEvent {
    enum class Change { Added, Updated, Deleted };

    Change change = Change::Updated;
    std::string api_version;  ///< `v1`, `group/version`
    std::string kind;
    std::string namespace_;  ///< "" for a cluster-scoped object
    std::string name;

    /// The object as the source saw it (its last state, for Deleted), with a `metadata` object in it: labels, annotations,
    /// resourceVersion, deletionTimestamp. Null in reference mode, and where the data is no such object.
    Json object;

    bool operator==(ObjectEvent const&) const = default;
};

/// The tick of a PingSource, whatever its data.
struct Ping {
    bool operator==(Ping const&) const = default;
};

/// Any other type: the caller's own, or none of its business.
struct Other {
    bool operator==(Other const&) const = default;
};

using Meaning = std::variant<ObjectEvent, Ping, Other>;

/// What an event of a Knative source says. An object is named by the extensions `apiversion`, `kind`, `name` and `namespace`, and
/// by the data where one of them is absent or empty; never by `subject`, whose plural is guessed. Refused, with the attribute: an
/// object without apiVersion, kind or name, and one that extensions and data name differently.
base::Result<Meaning, Malformed> meaning_of(CloudEvent const& event);

}  // namespace events
