#pragma once

#include "events/archive.hpp"
#include "function/handle/handle.hpp"

#include <string_view>

namespace kro {

/// What stands in a recording right before an event for which something was looked at or written: an event of its own, whose `subject` is the
/// id of the event that follows, whose `recordedtime` is that event's, and whose data is
///
///     {"event": {"id": ..., "source": ...},
///      "parts": [{"tenant": "team-a/acme", "rounds": [[exchange, ...], ...]}, ...]}
///
/// A part is one tenant's, its rounds in order, and what is in a round was sent at once. An event about everyone has the pass's own part
/// first, with the tenant "", and then one for each tenant that needed something. `"shared": true` instead of rounds: what was done was done
/// in the run for an event that stands elsewhere in the recording.
///
/// An exchange is one request and what came back:
///
///     {"cluster": "onboarding" | "platform" | "control plane",
///      "verb": "get" | "list" | "create" | "apply" | "merge-patch" | "json-patch" | "delete" | "discover",
///      "resource": {"group": ..., "version": ..., "plural": ..., "kind": ...}, "namespace": ..., "name": ...,
///      "subresource": "status", "labelSelector": ..., "why": ..., "body": ...,
///      "object": ... | "error": {"status": 404, "reason": "NotFound", "message": ..., "typeNotServed": true},
///      "listed": true, "partial": true}
///
/// Empty members are left out. `body` is what a write sent, `why` its reason; `object` is what the server has now (a list has `items`, each
/// with apiVersion and kind; a delete may answer with a Status), or `error` why there is none: `reason` is one of k8s::Error::Kind's
/// names. `listed`: no request of this run, but what lists of a pass about everyone had told before it began, in the part's first round.
/// `partial`: metadata alone.
///
/// The event itself stands on the next line, with the attributes of events/archive.hpp. Both have had their secrets taken out: see
/// function/record/redact.hpp for what is left of them.
inline constexpr std::string_view kObservedType = "services.kro.observed";

/// The data of such an event, with all secrets in it; null where nothing was looked at or written.
k8s::Json observed_data(Handled const& handled);

}  // namespace kro
