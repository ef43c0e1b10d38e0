#pragma once

#include "k8s/api.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

/// A Request as the API server reads it, without address and credentials.
struct HttpMessage {
    std::string_view method;
    std::string target;  ///< path and query: "/api/v1/namespaces/default/secrets?limit=500"
    std::string_view accept;
    std::string_view content_type;  ///< "" where there is no body
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  ///< further ones
    bool large_answer = false;                                 ///< a list: worth a compressed answer
};

/// Every write that carries an object or a patch asks for `fieldValidation=Strict`: a field that the server's schema does not
/// know is refused (400, with its path) and never dropped in silence. A dropped field would be found missing at the next
/// comparison and be written again with every event; the refusal tells which CRD is too old.
/// A delete goes with propagationPolicy Background. Source: https://kubernetes.io/docs/reference/using-api/api-concepts/
HttpMessage http_message(Request const& request);

/// Whether the request may be sent again when nobody knows if the first one arrived: reads; an apply, which says how an object
/// should be; a delete of one uid. Create and the patches may not: the second would meet what the first has done.
bool may_be_repeated(Request const& request);

}  // namespace k8s
