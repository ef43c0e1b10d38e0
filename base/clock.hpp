#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Wall-clock time, UTC: what goes into objects, logs and reports.
using Time = std::chrono::system_clock::time_point;

/// Where wall-clock time comes from. Made once in main; tests hand in a counter.
using Clock = std::function<Time()>;

/// The machine's own.
Clock system_clock();

/// The moment after which nobody waits for an answer any more. Monotonic, so that a clock that is set does no harm.
using Deadline = std::chrono::steady_clock::time_point;

/// `2026-11-30T12:00:00Z`: RFC 3339 in whole seconds, as Kubernetes writes metav1.Time.
std::string rfc3339(Time time);

/// `2026-11-30T12:00:00.123456789Z`: RFC 3339 in nanoseconds, as Knative and Flux write it.
std::string rfc3339_nano(Time time);

/// Any RFC 3339 date-time (fractions and offsets too); none where the text is something else.
std::optional<Time> parse_rfc3339(std::string_view text);

/// An HTTP date (RFC 9110 section 5.6.7, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`; none where the text is something else.
std::optional<Time> parse_http_date(std::string_view text);

}  // namespace base
