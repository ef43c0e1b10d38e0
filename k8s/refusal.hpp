#pragma once

#include "k8s/object.hpp"
#include "k8s/resource_rules.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// An error answer as an API server words it: error_of makes an Error from it.
struct Refusal {
    int http_status = 500;
    std::string body;  ///< a Status, or plain text
};

Refusal not_found(Resource const& resource, std::string_view name);
Refusal type_not_served();
Refusal subresource_not_found();
Refusal method_not_allowed();
Refusal already_exists(Resource const& resource, std::string_view name, std::string_view message_prefix = {});
/// 409: the object is not the one that the sender saw.
Refusal modified(Resource const& resource, std::string_view name);
Refusal precondition_failed(Resource const& resource, std::string_view name, std::string_view field, std::string_view wanted,
                            std::string_view found);
Refusal no_object_with_uid(Resource const& resource, std::string_view name, std::string_view uid);
Refusal namespace_terminating(Resource const& resource, ObjectKey const& key);
Refusal invalid(Resource const& resource, std::string_view name, std::vector<Violation> const& violations);
/// 422 without a cause: all that is said about a JSON patch that can't be carried out.
Refusal patch_not_possible();
Refusal bad_request(std::string_view message);
Refusal internal_error(std::string_view message);
/// 410; `continue_token` is where the list may go on, or "".
Refusal list_expired(std::string_view continue_token);
/// The Status that belongs to nothing but its code: "Conflict", "Service Unavailable".
Refusal plain_refusal(int http_status);

}  // namespace k8s
