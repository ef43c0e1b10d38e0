#pragma once

#include "base/json.hpp"
#include "events/http_binding.hpp"
#include "k8s/memory_api.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

/// Events as Knative's sources put them on the wire: binary mode, Go's spelling of header names.
namespace component {

using base::Json;

inline std::string_view word_for(k8s::Change::Kind kind) {
    switch (kind) {
        case k8s::Change::Kind::Added: return "add";
        case k8s::Change::Kind::Updated: return "update";
        case k8s::Change::Kind::Deleted: return "delete";
    }
    std::abort();
}

inline events::HttpMessage from_api_server_source(std::string_view mode, k8s::Change const& change, Json const& data) {
    k8s::ObjectKey const key = k8s::key_of(change.object);
    std::string const version = k8s::resource_version_of(change.object);
    return {{{"Ce-Specversion", "1.0"},
             {"Ce-Id", std::string{change.resource.plural} + "-" + version},
             {"Ce-Type", "dev.knative.apiserver." + std::string{mode} + "." + std::string{word_for(change.kind)}},
             {"Ce-Source", "https://10.96.0.1:443"},
             {"Ce-Subject", k8s::path_of(change.resource, key)},
             {"Ce-Kind", std::string{change.resource.kind}},
             {"Ce-Apiversion", k8s::api_version(change.resource)},
             {"Ce-Name", key.name},
             {"Ce-Namespace", key.namespace_},
             {"Kn-Namespace", "openmcp-system"},
             {"Accept-Encoding", "gzip"},
             {"Content-Type", "application/json"}},
            base::dump_json(data)};
}

/// Mode Resource: the whole object travels.
inline events::HttpMessage resource_event(k8s::Change const& change) {
    return from_api_server_source("resource", change, change.object);
}

/// Mode Reference: an ObjectReference travels.
inline events::HttpMessage reference_event(k8s::Change const& change) {
    k8s::ObjectKey const key = k8s::key_of(change.object);
    return from_api_server_source("ref", change,
                                  {{"apiVersion", k8s::api_version(change.resource)},
                                   {"kind", change.resource.kind},
                                   {"name", key.name},
                                   {"namespace", key.namespace_},
                                   {"uid", k8s::uid_of(change.object)},
                                   {"resourceVersion", k8s::resource_version_of(change.object)}});
}

inline events::HttpMessage ping_event() {
    return {{{"Ce-Specversion", "1.0"},
             {"Ce-Id", "tick"},
             {"Ce-Type", "dev.knative.sources.ping"},
             {"Ce-Source", "/apis/v1/namespaces/openmcp-system/pingsources/kro-function-resync"},
             {"Content-Type", "application/json"}},
            R"({"resync":true})"};
}

}  // namespace component
