#pragma once

#include "events/knative.hpp"
#include "function/reconcile/plan.hpp"
#include "function/tenant/tenant.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace kro {

/// The type of the event that a resync sends about one tenant, where there are too many to do by itself. Its `subject` is the tenant.
inline constexpr std::string_view kReconcileType = "services.kro.reconcile";

/// The event is about one tenant.
struct ForTenant {
    Tenant tenant;
    bool flux_object = false;           ///< it was about an OCIRepository or a HelmRelease
    std::string object = {};            ///< path of the object, and ...
    std::string resource_version = {};  ///< ... which state of it the event tells of; "" where it does not say
    std::string_view why = {};          ///< how the event leads to it: a constant
};

/// The event is about an object in the namespace of a tenant that it does not name.
struct ForNamespace {
    std::string namespace_;
};

/// The event concerns every tenant.
struct ForEveryone {
    enum class Cause {
        Tick,    ///< of the PingSource: what the last one found may be as it was
        Change,  ///< of something that every tenant depends on
    };
    std::string why;
    Cause cause = Cause::Change;
    std::string object = {};            ///< path of what changed, and ...
    std::string resource_version = {};  ///< ... which state of it the event tells of; "" where it does not say
};

/// A Secret or a ConfigMap in our own namespace changed: it concerns every tenant if the ProviderConfig names it, in any of its fields.
struct ForUsersOf {
    std::string kind;
    std::string name;
};

/// Nothing to do.
struct ForNobody {
    std::string why;
};

using Route = std::variant<ForTenant, ForNamespace, ForEveryone, ForUsersOf, ForNobody>;

/// Whom an event concerns, from the event alone.
Route route(events::Meaning const& meaning, Provider const& provider);

/// The same, for any event; `meaning` is what events::meaning_of() says of it. The error says why it can never be understood.
base::Result<Route, std::string> route(events::CloudEvent const& event,
                                       base::Result<events::Meaning, events::Malformed> const& meaning, Provider const& provider);

/// "team-a/acme", "everyone", "namespace mcp--...", "users of Secret pull"; "" for nobody.
std::string whom_of(Route const& route);

/// Why it concerns them, in one line: "it is the tenant's Kro".
std::string why_of(Route const& route);

}  // namespace kro
