#include "function/handle/metrics.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using kro::Metrics;
using kro::Report;
using support::kNoon;

Report report_of(kro::Outcome::Kind kind) {
    Report report;
    report.outcome = {kind, "why", std::nullopt};
    kro::Exchange read;
    read.cluster = kro::Cluster::Platform;
    kro::Exchange write = read;
    write.write = true;
    kro::add_round(report, {read, write});
    return report;
}

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Metrics, CountEventsByTypeAndOutcome) {
    Metrics metrics;
    metrics.event_answered("dev.knative.apiserver.resource.add", "Kro", report_of(kro::Outcome::Kind::Waiting),
                           std::chrono::milliseconds{3}, kNoon);
    metrics.event_answered("dev.knative.apiserver.resource.add", "Kro", report_of(kro::Outcome::Kind::Waiting),
                           std::chrono::milliseconds{3}, kNoon);
    std::string const text = metrics.text();
    EXPECT_TRUE(contains(text, R"(kro_function_events_total{outcome="Waiting",type="dev.knative.apiserver.resource.add"} 2)"))
        << text;
    EXPECT_TRUE(contains(text, "kro_function_event_duration_seconds_count 2")) << text;
    EXPECT_TRUE(contains(
        text, "kro_function_last_event_timestamp_seconds{kind=\"Kro\",type=\"dev.knative.apiserver.resource.add\"} 17960"))
        << text;
    EXPECT_TRUE(contains(text, "kro_function_api_requests_total{")) << text;
}

TEST(Metrics, MakeNoTimeSeriesOfTypesThatStrangersMakeUp) {
    Metrics metrics;
    for (int i = 0; i < 3; ++i) {
        metrics.event_answered("evil-" + std::to_string(i), "evil-kind", report_of(kro::Outcome::Kind::Done), {}, kNoon);
        metrics.event_answered("dev.knative.apiserver." + std::string(100, 'x'), "", report_of(kro::Outcome::Kind::Done), {},
                               kNoon);
        metrics.event_answered("dev.knative.apiserver.evil-" + std::to_string(i), "evil-", report_of(kro::Outcome::Kind::Done),
                               {}, kNoon);
    }
    std::string const text = metrics.text();
    EXPECT_FALSE(contains(text, "evil-")) << text;
    EXPECT_TRUE(contains(text, R"(kro_function_events_total{outcome="Done",type="other"} 9)")) << text;
}

TEST(Metrics, CountRequestsThatAreRefused) {
    Metrics metrics;
    metrics.request_refused(413);
    EXPECT_TRUE(contains(metrics.text(), R"(kro_function_requests_refused_total{status="413"} 1)")) << metrics.text();
}

}  // namespace
