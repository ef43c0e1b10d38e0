#include "function/handle/metrics.hpp"

#include "function/handle/route.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace kro {
namespace {

/// A type that strangers make up must not become a time series.
std::string known_type(std::string const& type) {
    constexpr std::array<std::string_view, 8> kKnown{"dev.knative.apiserver.resource.add",
                                                     "dev.knative.apiserver.resource.update",
                                                     "dev.knative.apiserver.resource.delete",
                                                     "dev.knative.apiserver.ref.add",
                                                     "dev.knative.apiserver.ref.update",
                                                     "dev.knative.apiserver.ref.delete",
                                                     "dev.knative.sources.ping",
                                                     kReconcileType};
    return std::find(kKnown.begin(), kKnown.end(), type) == kKnown.end() ? "other" : type;
}

std::string known_kind(std::string const& kind) {
    constexpr std::array<std::string_view, 8> kKnown{
        "", "Kro", "ProviderConfig", "AccessRequest", "OCIRepository", "HelmRelease", "Secret", "ConfigMap"};
    return std::find(kKnown.begin(), kKnown.end(), kind) == kKnown.end() ? "other" : kind;
}

double seconds_of(std::chrono::microseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

struct Metrics::Families {
    prometheus::Registry registry;
    prometheus::Family<prometheus::Counter>& events = prometheus::BuildCounter()
                                                          .Name("kro_function_events_total")
                                                          .Help("Events answered, by type and outcome.")
                                                          .Register(registry);
    prometheus::Histogram& duration =
        prometheus::BuildHistogram()
            .Name("kro_function_event_duration_seconds")
            .Help("From an event's arrival to its answer.")
            .Register(registry)
            .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30});
    prometheus::Family<prometheus::Counter>& requests = prometheus::BuildCounter()
                                                            .Name("kro_function_api_requests_total")
                                                            .Help("Requests to API servers, by cluster and result.")
                                                            .Register(registry);
    prometheus::Family<prometheus::Gauge>& last =
        prometheus::BuildGauge()
            .Name("kro_function_last_event_timestamp_seconds")
            .Help("When the last event of a type about a kind of object arrived, as Unix time.")
            .Register(registry);
    prometheus::Family<prometheus::Counter>& refused =
        prometheus::BuildCounter()
            .Name("kro_function_requests_refused_total")
            .Help("HTTP requests that were no event that could be taken, by status.")
            .Register(registry);
    prometheus::Family<prometheus::Counter>& recorded = prometheus::BuildCounter()
                                                            .Name("kro_function_recorded_events_total")
                                                            .Help("Events that were written to the archive.")
                                                            .Register(registry);
    prometheus::Family<prometheus::Counter>& unrecorded =
        prometheus::BuildCounter()
            .Name("kro_function_unrecorded_events_total")
            .Help("Events that should have been written to the archive and were not, by reason.")
            .Register(registry);
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::event_answered(std::string const& type, std::string const& kind, Report const& report,
                             std::chrono::microseconds took, base::Time now) {
    std::string const label = known_type(type);
    families_->events.Add({{"type", label}, {"outcome", std::string{name_of(report.outcome.kind)}}}).Increment();
    families_->duration.Observe(seconds_of(took));
    families_->last.Add({{"type", label}, {"kind", known_kind(kind)}})
        .Set(std::chrono::duration<double>(now.time_since_epoch()).count());
    requests_made(report);
}

void Metrics::requests_made(Report const& report) {
    constexpr int kWell = -1;
    std::map<std::tuple<Cluster, bool, int>, int> counts;
    for (auto const& round : report.rounds) {
        for (auto const& one : round) ++counts[{one.cluster, one.write, one.error ? one.error->http_status : kWell}];
    }
    for (auto const& [what, count] : counts) {
        auto const& [cluster, write, status] = what;
        families_->requests
            .Add({{"cluster", std::string{name_of(cluster)}},
                  {"kind", write ? "write" : "read"},
                  {"result", status == kWell ? "ok" : std::to_string(status)}})
            .Increment(count);
    }
}

void Metrics::request_refused(int status) { families_->refused.Add({{"status", std::to_string(status)}}).Increment(); }

void Metrics::event_recorded() { families_->recorded.Add({}).Increment(); }

void Metrics::event_not_recorded(std::string const& reason) { families_->unrecorded.Add({{"reason", reason}}).Increment(); }

std::string Metrics::text() const { return prometheus::TextSerializer{}.Serialize(families_->registry.Collect()); }

}  // namespace kro
