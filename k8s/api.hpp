#pragma once

#include "base/clock.hpp"
#include "k8s/error.hpp"
#include "k8s/object.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// What one object must still be for a delete to happen. Empty members are not checked.
struct Preconditions {
    std::string uid;
    std::string resource_version;
};

/// One request to an API server, as a value. Made by the functions below.
struct Request {
    enum class Verb {
        Get,         ///< the object
        List,        ///< one page: {"metadata": {"continue", "remainingItemCount", "resourceVersion"}, "items": [...]}
        Create,      ///< POST; Error::Kind::AlreadyExists where there is one of that name
        Apply,       ///< server-side apply, force=true, with `field_manager`; makes the object where there is none
        MergePatch,  ///< RFC 7396; a `metadata.resourceVersion` in the body is a precondition (Conflict)
        JsonPatch,   ///< RFC 6902; a `test` that fails is a Conflict
        Delete,      ///< with `preconditions`; a uid or resourceVersion that differs is a Conflict
        Discover,    ///< the APIResourceList of `resource`'s group and version, or without a version the APIGroup of its group;
                     ///< NotFound where it is not served
    };
    enum class Contents { Whole, Metadata };  ///< Metadata: PartialObjectMetadata(List), for lists and gets

    Verb verb = Verb::Get;
    Resource resource;
    ObjectKey key;
    std::string subresource;  ///< "" or "status"
    Json body;                ///< Create, Apply: the object; MergePatch, JsonPatch: the patch
    Preconditions preconditions;
    std::string field_manager;  ///< Create, Apply, MergePatch, JsonPatch

    std::string label_selector;  ///< List
    std::string continue_token;  ///< List: from the page before
    int limit = 0;               ///< List: at most so many items; 0 means all
    Contents contents = Contents::Whole;

    /// List: where it is set, it is called with each item as the answer is read, on the thread of send(), and may move from it and may
    /// block. The items come without `metadata.managedFields` and are not in the answer, so that a page never stands in memory whole. Where
    /// the answer turns out to be broken, some have been visited all the same.
    std::function<void(Json&)> visit;

    bool dry_run = false;  ///< any write: the server says what it would do, and does nothing
};

/// What came back for one request.
struct Answer {
    Result<Json> result;  ///< the object as it is now; for Delete the object or a Status
    std::chrono::microseconds duration{0};
};

/// One cluster's API server. Safe to use from several threads at once.
class Api {
  public:
    virtual ~Api() = default;

    /// Sends every request of the batch at once and returns their answers in the same order, each its own success or failure.
    /// Nothing is awaited after `deadline`: what has no answer by then is Unavailable.
    virtual std::vector<Answer> send(std::span<Request const> batch, base::Deadline deadline) = 0;
};

Request get(Resource const& resource, ObjectKey key);
Request list(Resource const& resource, std::string namespace_, std::string label_selector = {});
Request create(Resource const& resource, Json object, std::string_view field_manager);
Request apply(Resource const& resource, Json object, std::string_view field_manager);
/// A server-side apply of `{apiVersion, kind, metadata, status}` to the status subresource.
Request apply_status(Resource const& resource, Json object, std::string_view field_manager);
Request merge_patch(Resource const& resource, ObjectKey key, Json patch, std::string_view field_manager);
Request json_patch(Resource const& resource, ObjectKey key, Json patch, std::string_view field_manager);
Request remove(Resource const& resource, ObjectKey key, Preconditions preconditions);
Request discover(Resource const& resource);

/// Whether it can't change anything, whatever it is about.
bool is_read(Request::Verb verb);

/// "get secrets openmcp-system/pull": the beginning of every error message and of the debug log's lines.
std::string describe(Request const& request);

/// One request, its answer awaited.
Result<Json> send_one(Api& api, Request request, base::Deadline deadline);

/// Every item of a list, page by page. A continue token that expired goes on with the token that the server gave, or from the start,
/// at most 3 times in all; `visit` may then see an item twice. `visit` is called as Request::visit is.
Result<void> for_each(Api& api, Request list, int page_size, base::Deadline deadline, std::function<void(Json&)> const& visit);

}  // namespace k8s
