#include "k8s/api.hpp"

namespace k8s {
namespace {

constexpr int kListRestarts = 3;

Request request_for(Request::Verb verb, Resource const& resource, ObjectKey key) {
    Request request;
    request.verb = verb;
    request.resource = resource;
    request.key = std::move(key);
    return request;
}

Request write_of(Request::Verb verb, Resource const& resource, ObjectKey key, Json body, std::string_view field_manager) {
    Request request = request_for(verb, resource, std::move(key));
    request.body = std::move(body);
    request.field_manager = field_manager;
    return request;
}

std::string_view verb_name(Request::Verb verb) {
    switch (verb) {
        case Request::Verb::Get: return "get";
        case Request::Verb::List: return "list";
        case Request::Verb::Create: return "create";
        case Request::Verb::Apply: return "apply";
        case Request::Verb::MergePatch:
        case Request::Verb::JsonPatch: return "patch";
        case Request::Verb::Delete: return "delete";
        case Request::Verb::Discover: return "discover";
    }
    std::abort();
}

}  // namespace

Request get(Resource const& resource, ObjectKey key) { return request_for(Request::Verb::Get, resource, std::move(key)); }

Request list(Resource const& resource, std::string namespace_, std::string label_selector) {
    Request request = request_for(Request::Verb::List, resource, {std::move(namespace_), {}});
    request.label_selector = std::move(label_selector);
    return request;
}

Request create(Resource const& resource, Json object, std::string_view field_manager) {
    ObjectKey key = key_of(object);
    return write_of(Request::Verb::Create, resource, std::move(key), std::move(object), field_manager);
}

Request apply(Resource const& resource, Json object, std::string_view field_manager) {
    ObjectKey key = key_of(object);
    return write_of(Request::Verb::Apply, resource, std::move(key), std::move(object), field_manager);
}

Request apply_status(Resource const& resource, Json object, std::string_view field_manager) {
    Request request = apply(resource, std::move(object), field_manager);
    request.subresource = "status";
    return request;
}

Request merge_patch(Resource const& resource, ObjectKey key, Json patch, std::string_view field_manager) {
    return write_of(Request::Verb::MergePatch, resource, std::move(key), std::move(patch), field_manager);
}

Request json_patch(Resource const& resource, ObjectKey key, Json patch, std::string_view field_manager) {
    return write_of(Request::Verb::JsonPatch, resource, std::move(key), std::move(patch), field_manager);
}

Request remove(Resource const& resource, ObjectKey key, Preconditions preconditions) {
    Request request = request_for(Request::Verb::Delete, resource, std::move(key));
    request.preconditions = std::move(preconditions);
    return request;
}

Request discover(Resource const& resource) { return request_for(Request::Verb::Discover, resource, {}); }

bool is_read(Request::Verb verb) {
    using Verb = Request::Verb;
    return verb == Verb::Get || verb == Verb::List || verb == Verb::Discover;
}

std::string describe(Request const& request) {
    std::string text{verb_name(request.verb)};
    text += ' ';
    if (request.verb == Request::Verb::Discover) return text + api_version(request.resource);
    text += request.resource.plural;
    if (!request.resource.group.empty()) {
        text += '.';
        text += request.resource.group;
    }
    if (!request.subresource.empty()) text += "/" + request.subresource;
    std::string const key = to_string(request.key);
    if (!key.empty()) text += " " + key;
    return text;
}

Result<Json> send_one(Api& api, Request request, base::Deadline deadline) {
    auto answers = api.send({&request, 1}, deadline);
    return std::move(answers.front().result);
}

Result<void> for_each(Api& api, Request list, int page_size, base::Deadline deadline, std::function<void(Json&)> const& visit) {
    list.limit = page_size;
    list.visit = visit;
    for (int restarts = 0;;) {
        auto page = send_one(api, list, deadline);
        if (!page) {
            if (page.error().kind != Error::Kind::Expired || restarts++ >= kListRestarts)
                return base::Failure{std::move(page).error()};
            list.continue_token = page.error().continue_token;
            continue;
        }
        list.continue_token = base::text_of(base::member(*page, "metadata", "continue"));
        if (list.continue_token.empty()) return {};
    }
}

}  // namespace k8s
