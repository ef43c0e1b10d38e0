#include "function/handle/route.hpp"

#include "base/overloaded.hpp"
#include "function/reconcile/onboarding.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <array>

namespace kro {
namespace {

/// Any version of the resource's kind: what an event's version is, is the source's choice.
bool is(events::ObjectEvent const& event, k8s::Resource const& resource) {
    return event.kind == resource.kind && k8s::group_of(event.api_version) == resource.group;
}

/// Which state of the object it tells of. A deletion is always news.
std::string version_of(events::ObjectEvent const& event) {
    return event.change == events::ObjectEvent::Change::Deleted ? "" : k8s::resource_version_of(event.object);
}

ForTenant for_tenant(Tenant tenant, events::ObjectEvent const& event, k8s::Resource const& resource) {
    return {.tenant = std::move(tenant),
            .flux_object = resource == kOciRepositories || resource == kHelmReleases,
            .object = k8s::path_of(resource, {event.namespace_, event.name}),
            .resource_version = version_of(event),
            .why = resource == kKros ? "it is the tenant's Kro" : "its annotation or its labels name the tenant"};
}

Route route_object(events::ObjectEvent const& event, Provider const& provider) {
    if (is(event, kKros)) {
        if (event.namespace_.empty()) return ForNobody{"a Kro without a namespace"};
        return for_tenant({event.namespace_, event.name}, event, kKros);
    }
    if (is(event, kProviderConfigs)) {
        if (event.name != provider.name) return ForNobody{"only the ProviderConfig " + provider.name + " counts"};
        return ForEveryone{.why = "the ProviderConfig changed",
                           .object = k8s::path_of(kProviderConfigs, {{}, event.name}),
                           .resource_version = version_of(event)};
    }
    if (is(event, kAccessRequests) && event.namespace_ == provider.namespace_ && event.name == onboarding_request_name()) {
        return ForEveryone{.why = "the access to the onboarding cluster changed"};
    }
    bool const source = is(event, k8s::kSecrets) || is(event, k8s::kConfigMaps);
    if (source && event.namespace_ == provider.namespace_) return ForUsersOf{event.kind, event.name};

    constexpr std::array kOurs{kOciRepositories, kHelmReleases, kAccessRequests, k8s::kSecrets};
    auto const resource = std::find_if(kOurs.begin(), kOurs.end(), [&](auto const& one) { return is(event, one); });
    if (resource == kOurs.end()) return ForNobody{"kind " + event.kind + " of " + event.api_version + " is none of ours"};
    if (auto tenant = tenant_of(event.object)) return for_tenant(*std::move(tenant), event, *resource);
    if (event.namespace_.starts_with("mcp--")) return ForNamespace{event.namespace_};
    return ForNobody{"no tenant of ours"};
}

}  // namespace

Route route(events::Meaning const& meaning, Provider const& provider) {
    if (std::holds_alternative<events::Ping>(meaning)) return ForEveryone{.why = "a tick", .cause = ForEveryone::Cause::Tick};
    if (auto const* event = std::get_if<events::ObjectEvent>(&meaning)) return route_object(*event, provider);
    return ForNobody{"this type of event is none of ours"};
}

base::Result<Route, std::string> route(events::CloudEvent const& event,
                                       base::Result<events::Meaning, events::Malformed> const& meaning,
                                       Provider const& provider) {
    if (event.type != kReconcileType) {
        if (!meaning) return base::Failure{events::to_string(meaning.error())};
        return route(*meaning, provider);
    }
    auto tenant = parse_tenant(event.subject.value_or(""));
    if (!tenant) return base::Failure{std::string{"subject: is no tenant"}};
    return Route{ForTenant{.tenant = *std::move(tenant), .why = "its subject names the tenant"}};
}

std::string whom_of(Route const& route) {
    return std::visit(base::Overloaded{[](ForTenant const& one) { return to_string(one.tenant); },
                                       [](ForNamespace const& one) { return "namespace " + one.namespace_; },
                                       [](ForEveryone const&) { return std::string{"everyone"}; },
                                       [](ForUsersOf const& one) { return "users of " + one.kind + " " + one.name; },
                                       [](ForNobody const&) { return std::string{}; }},
                      route);
}

std::string why_of(Route const& route) {
    return std::visit(base::Overloaded{[](ForTenant const& one) { return std::string{one.why}; },
                                       [](ForNamespace const&) { return std::string{"a tenant's objects lie in its namespace"}; },
                                       [](ForEveryone const& one) { return one.why; },
                                       [](ForUsersOf const&) { return std::string{"the ProviderConfig may name it"}; },
                                       [](ForNobody const& one) { return one.why; }},
                      route);
}

}  // namespace kro
