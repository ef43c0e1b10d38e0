#include "k8s/http_message.hpp"

#include <cctype>
#include <cstdlib>

namespace k8s {
namespace {

constexpr std::string_view kJson = "application/json";

/// Adds `name=value` to the query.
void ask(std::string& target, std::string_view name, std::string_view value) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    if (value.empty()) return;
    target += target.find('?') == std::string::npos ? '?' : '&';
    target += name;
    target += '=';
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
            target += c;
        } else {
            target += '%';
            target += kHex[byte >> 4U];
            target += kHex[byte & 0xFU];
        }
    }
}

std::string_view accept_of(Request const& request) {
    if (request.contents == Request::Contents::Whole) return kJson;
    return request.verb == Request::Verb::List ? "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
                                               : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
}

/// With a body, the API server takes every option of a delete from there and none from the query.
Json delete_options(Request const& request) {
    Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
    if (!request.preconditions.uid.empty()) options["preconditions"]["uid"] = request.preconditions.uid;
    if (!request.preconditions.resource_version.empty()) {
        options["preconditions"]["resourceVersion"] = request.preconditions.resource_version;
    }
    if (request.dry_run) options["dryRun"] = {"All"};
    return options;
}

std::string discovery_path(Resource const& resource) {
    return (resource.group.empty() ? "/api/" : "/apis/") + api_version(resource);
}

HttpMessage read_message(std::string target, std::string_view accept) {
    HttpMessage message;
    message.method = "GET";
    message.target = std::move(target);
    message.accept = accept;
    return message;
}

HttpMessage list_message(Request const& request) {
    HttpMessage message = read_message(path_of(request.resource, {request.key.namespace_, {}}), accept_of(request));
    ask(message.target, "labelSelector", request.label_selector);
    if (request.limit > 0) ask(message.target, "limit", std::to_string(request.limit));
    ask(message.target, "continue", request.continue_token);
    // Item by item it is read faster than an API server compresses it, and the API server's time is what there is least of.
    message.large_answer = !request.visit;
    return message;
}

HttpMessage write_message(Request const& request, std::string_view method, std::string_view content_type) {
    bool const creates = request.verb == Request::Verb::Create;
    HttpMessage message;
    message.method = method;
    message.target = creates ? path_of(request.resource, {request.key.namespace_, {}}, request.subresource)
                             : path_of(request.resource, request.key, request.subresource);
    message.accept = accept_of(request);
    message.content_type = content_type;
    message.body = base::dump_json(request.body);
    ask(message.target, "fieldManager", request.field_manager);
    if (request.verb == Request::Verb::Apply) ask(message.target, "force", "true");
    ask(message.target, "fieldValidation", "Strict");
    if (request.dry_run) ask(message.target, "dryRun", "All");
    return message;
}

HttpMessage delete_message(Request const& request) {
    HttpMessage message;
    message.method = "DELETE";
    message.target = path_of(request.resource, request.key, request.subresource);
    message.accept = kJson;
    message.content_type = kJson;
    message.body = base::dump_json(delete_options(request));
    return message;
}

}  // namespace

HttpMessage http_message(Request const& request) {
    switch (request.verb) {
        case Request::Verb::Get:
            return read_message(path_of(request.resource, request.key, request.subresource), accept_of(request));
        case Request::Verb::List: return list_message(request);
        case Request::Verb::Discover: return read_message(discovery_path(request.resource), kJson);
        case Request::Verb::Create: return write_message(request, "POST", kJson);
        case Request::Verb::Apply: return write_message(request, "PATCH", "application/apply-patch+yaml");
        case Request::Verb::MergePatch: return write_message(request, "PATCH", "application/merge-patch+json");
        case Request::Verb::JsonPatch: return write_message(request, "PATCH", "application/json-patch+json");
        case Request::Verb::Delete: return delete_message(request);
    }
    std::abort();
}

bool may_be_repeated(Request const& request) {
    switch (request.verb) {
        case Request::Verb::Get:
        case Request::Verb::List:
        case Request::Verb::Discover:
        case Request::Verb::Apply: return true;
        case Request::Verb::Delete: return !request.preconditions.uid.empty();
        case Request::Verb::Create:
        case Request::Verb::MergePatch:
        case Request::Verb::JsonPatch: return false;
    }
    std::abort();
}

}  // namespace k8s
