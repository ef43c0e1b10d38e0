#include "k8s/refusal.hpp"

#include "base/json.hpp"

namespace k8s {
namespace {

std::string with_group(std::string_view name, Resource const& resource) {
    std::string text{name};
    if (!resource.group.empty()) text += "." + std::string{resource.group};
    return text;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string{text} + "\""; }

Json details_of(std::string_view name, std::string_view kind, Resource const& resource) {
    Json details = {{"name", name}, {"kind", kind}};
    if (!resource.group.empty()) details["group"] = resource.group;
    return details;
}

Refusal status(int code, std::string_view reason, std::string_view message, Json details) {
    Json body = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
    if (!reason.empty()) body["reason"] = reason;
    if (!details.is_null()) body["details"] = std::move(details);
    return {code, base::dump_json(body)};
}

std::string joined(std::vector<Violation> const& violations) {
    std::string text;
    for (auto const& violation : violations) {
        if (!text.empty()) text += ", ";
        text += violation.field + ": " + violation.message;
    }
    return violations.size() > 1 ? "[" + text + "]" : text;
}

}  // namespace

Refusal not_found(Resource const& resource, std::string_view name) {
    return status(404, "NotFound", with_group(resource.plural, resource) + " " + in_quotes(name) + " not found",
                  details_of(name, resource.plural, resource));
}

Refusal type_not_served() { return {404, "404 page not found\n"}; }

Refusal subresource_not_found() {
    return status(404, "NotFound", "the server could not find the requested resource", Json::object());
}

Refusal method_not_allowed() {
    return status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", Json::object());
}

Refusal already_exists(Resource const& resource, std::string_view name, std::string_view message_prefix) {
    return status(409, "AlreadyExists",
                  std::string{message_prefix} + with_group(resource.plural, resource) + " " + in_quotes(name) + " already exists",
                  details_of(name, resource.plural, resource));
}

Refusal modified(Resource const& resource, std::string_view name) {
    return status(409, "Conflict",
                  "Operation cannot be fulfilled on " + with_group(resource.plural, resource) + " " + in_quotes(name) +
                      ": the object has been modified; please apply your changes to the latest version and try again",
                  details_of(name, resource.plural, resource));
}

Refusal precondition_failed(Resource const& resource, std::string_view name, std::string_view field, std::string_view wanted,
                            std::string_view found) {
    std::string const what{field};
    return status(409, "Conflict",
                  "Operation cannot be fulfilled on " + with_group(resource.kind, resource) + " " + in_quotes(name) + ": the " +
                      what + " in the precondition (" + std::string{wanted} + ") does not match the " + what + " in record (" +
                      std::string{found} + ")",
                  details_of(name, resource.kind, resource));
}

Refusal no_object_with_uid(Resource const& resource, std::string_view name, std::string_view uid) {
    return status(409, "Conflict",
                  "Operation cannot be fulfilled on " + with_group(resource.plural, resource) + " " + in_quotes(name) +
                      ": uid mismatch: the provided object specified uid " + std::string{uid} +
                      ", and no existing object was found",
                  details_of(name, resource.plural, resource));
}

Refusal namespace_terminating(Resource const& resource, ObjectKey const& key) {
    Json details = details_of(key.name, resource.plural, resource);
    details["causes"] = Json::array({{{"reason", "NamespaceTerminating"},
                                      {"message", "namespace " + key.namespace_ + " is being terminated"},
                                      {"field", "metadata.namespace"}}});
    return status(403, "Forbidden",
                  with_group(resource.plural, resource) + " " + in_quotes(key.name) +
                      " is forbidden: unable to create new content in namespace " + key.namespace_ +
                      " because it is being terminated",
                  std::move(details));
}

Refusal invalid(Resource const& resource, std::string_view name, std::vector<Violation> const& violations) {
    Json details = details_of(name, resource.kind, resource);
    details["causes"] = Json::array();
    for (auto const& violation : violations) {
        details["causes"].push_back({{"reason", violation.reason}, {"message", violation.message}, {"field", violation.field}});
    }
    return status(422, "Invalid",
                  with_group(resource.kind, resource) + " " + in_quotes(name) + " is invalid: " + joined(violations),
                  std::move(details));
}

Refusal patch_not_possible() {
    return status(422, "Invalid", "the server rejected our request due to an error in our request", Json::object());
}

Refusal bad_request(std::string_view message) { return status(400, "BadRequest", message, Json()); }

Refusal internal_error(std::string_view message) { return status(500, "", message, Json()); }

Refusal list_expired(std::string_view continue_token) {
    Json body = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Failure"},
                 {"reason", "Expired"},
                 {"code", 410},
                 {"message", "The provided continue parameter is too old to display a consistent list result."}};
    if (!continue_token.empty()) body["metadata"]["continue"] = continue_token;
    return {410, base::dump_json(body)};
}

Refusal plain_refusal(int http_status) {
    switch (http_status) {
        case 400: return status(400, "BadRequest", "the request is malformed", Json());
        case 401: return status(401, "Unauthorized", "Unauthorized", Json());
        case 403: return status(403, "Forbidden", "forbidden", Json());
        case 404: return type_not_served();
        case 409:
            return status(409, "Conflict", "the object has been modified; please apply your changes to the latest version",
                          Json());
        case 410: return list_expired({});
        case 422: return patch_not_possible();
        case 429: return status(429, "TooManyRequests", "Too many requests, please try again later.", Json());
        case 500: return status(500, "InternalError", "Internal error occurred", Json());
        case 503: return status(503, "ServiceUnavailable", "the server is currently unable to handle the request", Json());
        case 504: return status(504, "Timeout", "the server was unable to return a response in time", Json());
        default: return status(http_status, "", "the server answered " + std::to_string(http_status), Json());
    }
}

}  // namespace k8s
