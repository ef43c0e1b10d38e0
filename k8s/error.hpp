#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// Why an API server did not do what it was asked.
struct Error {
    enum class Kind {
        NotFound,       ///< 404: no such object; for a resource type that is not served, `type_not_served` is set too
        Conflict,       ///< 409, or a JSON patch whose test failed (422): somebody was faster; read again, then decide again
        AlreadyExists,  ///< 409 with the reason AlreadyExists: only a create gets it
        Unauthorized,   ///< 401, after the credentials were read anew once
        Forbidden,      ///< 403
        Invalid,        ///< 400, 405, 406, 413, 415, 422: the same request can't succeed later
        Expired,        ///< 410: a continue token or a resourceVersion that is too old
        Throttled,      ///< 429: nothing may be repeated before retry_after
        Unavailable,    ///< 5xx, no connection, no answer in time, or an answer that makes no sense
        Unusable,       ///< never sent: the credentials or the address can't be used (a broken kubeconfig)
    };
    Kind kind = Kind::Unavailable;

    /// Verb, object and the server's own words, in valid UTF-8, at most 1 KiB: "get secrets openmcp-system/pull: 403 Forbidden: ...".
    /// Never a token, a kubeconfig's contents or a query string.
    std::string message;

    /// Unit: whole seconds, at least 1; from Retry-After (RFC 9110 section 10.2.3), a date counted from the answer's arrival.
    std::optional<std::chrono::seconds> retry_after;

    int http_status = 0;  ///< 0 where no answer came
    std::vector<std::string>
        causes;  ///< `details.causes[].reason` of a Kubernetes Status: "NamespaceTerminating", "FieldValueInvalid"
    std::string
        continue_token;  ///< `metadata.continue` of the Status of an expired list: where the list may go on, inconsistently
    bool type_not_served =
        false;                ///< a 404 whose Status names no object: the path of the resource itself is unknown to the server
    bool maybe_done = false;  ///< the answer was lost after a write may have reached the server

    /// Whether it says that there is no such object, and not that nobody knows of such objects.
    bool is_absence() const { return kind == Kind::NotFound && !type_not_served; }
};

template <class T>
using Result = base::Result<T, Error>;

/// Whether a Status carried this cause, by its reason.
bool has_cause(Error const& error, std::string_view reason);

/// Whether another try within seconds may mend it.
bool may_pass(Error const& error);

/// An error from a whole HTTP answer. `what` is the verb and the object, for the message. `body` need not be a Kubernetes Status, nor JSON.
/// `retry_after` is the header's value or "" (seconds or an HTTP date, which counts from `now`).
/// Source: meta/v1 Status; https://kubernetes.io/docs/reference/using-api/api-concepts/
Error error_of(int http_status, std::string_view body, std::string_view what, std::string_view retry_after, base::Time now);

}  // namespace k8s
