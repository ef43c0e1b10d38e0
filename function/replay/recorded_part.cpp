#include "function/replay/recorded_part.hpp"

#include "function/record/recording_words.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <array>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Error;
using k8s::Json;

constexpr std::array kKinds{Placed{Cluster::Onboarding, kKros},
                            Placed{Cluster::Platform, kProviderConfigs},
                            Placed{Cluster::Platform, kAccessRequests},
                            Placed{Cluster::Platform, kClusterRequests},
                            Placed{Cluster::Platform, kOciRepositories},
                            Placed{Cluster::Platform, kHelmReleases},
                            Placed{Cluster::Platform, kPingSources},
                            Placed{Cluster::Platform, k8s::kNamespaces},
                            Placed{Cluster::Platform, k8s::kSecrets},
                            Placed{Cluster::Platform, k8s::kConfigMaps},
                            Placed{Cluster::ControlPlane, kResourceGraphDefinitions}};

std::optional<Error> read_error(Json const& json) {
    auto const kind = value_of(text_of(member(json, "reason")), kErrorWords);
    if (!kind) return std::nullopt;
    Error error;
    error.kind = *kind;
    error.message = text_of(member(json, "message"));
    error.http_status = static_cast<int>(base::integer_of(member(json, "status")));
    error.type_not_served = member(json, "typeNotServed") == true;
    return error;
}

k8s::Resource read_resource(Json const& json, Clusters& clusters) {
    std::string const group = text_of(member(json, "group"));
    std::string const version = text_of(member(json, "version"));
    std::string const kind = text_of(member(json, "kind"));
    auto const known = placed(group.empty() ? version : group + "/" + version, kind);
    if (known && !version.empty()) return known->resource;
    return {clusters.keep(group), clusters.keep(version), clusters.keep(text_of(member(json, "plural"))), clusters.keep(kind)};
}

std::optional<RecordedPart::Entry> read_entry(Json const& json, Clusters& clusters) {
    auto const cluster = value_of(text_of(member(json, "cluster")), kClusterWords);
    auto const verb = value_of(text_of(member(json, "verb")), kVerbWords);
    if (!cluster || !verb) return std::nullopt;
    RecordedExchange exchange;
    exchange.verb = *verb;
    exchange.resource = read_resource(member(json, "resource"), clusters);
    exchange.key = {text_of(member(json, "namespace")), text_of(member(json, "name"))};
    exchange.subresource = text_of(member(json, "subresource"));
    exchange.partial = member(json, "partial") == true;
    exchange.object = member(json, "object");
    exchange.error = read_error(member(json, "error"));
    if (exchange.object.is_null() && !exchange.error) return std::nullopt;
    return RecordedPart::Entry{*cluster, member(json, "listed") == true, std::move(exchange)};
}

RecordedPart read_part(Json const& json, Clusters& clusters) {
    RecordedPart part;
    part.tenant = parse_tenant(text_of(member(json, "tenant")));
    part.shared = member(json, "shared") == true;
    for (auto const& round : member(json, "rounds")) {
        for (auto const& one : round) {
            if (auto entry = read_entry(one, clusters)) part.entries.push_back(*std::move(entry));
        }
    }
    return part;
}

}  // namespace

std::optional<Placed> placed(std::string_view api_version, std::string_view kind) {
    auto const found = std::find_if(kKinds.begin(), kKinds.end(), [&](Placed const& one) {
        return one.resource.kind == kind && one.resource.group == k8s::group_of(api_version);
    });
    return found == kKinds.end() ? std::nullopt : std::optional{*found};
}

std::vector<RecordedPart> read_recorded_parts(Json const& data, Clusters& clusters) {
    std::vector<RecordedPart> parts;
    for (auto const& part : member(data, "parts")) parts.push_back(read_part(part, clusters));
    return parts;
}

}  // namespace kro
