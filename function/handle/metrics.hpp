#pragma once

#include "function/reconcile/reconcile.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace kro {

/// The counters of one pod, in Prometheus' text format. Safe to use from several threads.
class Metrics {
  public:
    Metrics();
    ~Metrics();
    Metrics(Metrics const&) = delete;
    Metrics& operator=(Metrics const&) = delete;

    /// `kro_function_events_total{type,outcome}`, `kro_function_event_duration_seconds`,
    /// `kro_function_last_event_timestamp_seconds{type,kind}`, and the requests of the report's rounds. `kind` is that of the object
    /// that the event is about, "" for none.
    void event_answered(std::string const& type, std::string const& kind, Report const& report, std::chrono::microseconds took,
                        base::Time now);
    /// `kro_function_api_requests_total{cluster,kind,result}`, for one tenant among many.
    void requests_made(Report const& report);
    /// `kro_function_requests_refused_total{status}`: no event, too large, queue full.
    void request_refused(int status);
    /// `kro_function_recorded_events_total`.
    void event_recorded();
    /// `kro_function_unrecorded_events_total{reason}`: "queue full", "write failed".
    void event_not_recorded(std::string const& reason);

    std::string text() const;

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace kro
