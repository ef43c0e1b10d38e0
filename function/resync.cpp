#include "function/resync.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace kro {
namespace {

constexpr int kPage = 500;
constexpr int kRestarts = 3;

/// One page of Kros. Names are kept, everything else is let go.
k8s::Result<std::string> take_page(Clusters& clusters, std::string const& token, std::vector<Tenant>& tenants,
                                   base::Deadline deadline, Report& report) {
    k8s::Request request = k8s::list(clusters.kros(), {});
    request.contents = k8s::Request::Contents::Metadata;
    request.limit = kPage;
    request.continue_token = token;
    Addressed const asked{Cluster::Onboarding, request};
    auto answers = clusters.send({&asked, 1}, nullptr, deadline);
    auto& result = answers.front().result;
    add_round(report, {exchange_of(asked, answers.front())});
    if (!result) return base::Failure{std::move(result).error()};
    for (auto const& item : base::member(*result, "items")) tenants.push_back({k8s::namespace_of(item), k8s::name_of(item)});
    return base::text_of(base::member(*result, "metadata", "continue"));
}

}  // namespace

k8s::Result<std::vector<Tenant>> all_tenants(Clusters& clusters, base::Deadline deadline, Report& report) {
    std::vector<Tenant> tenants;
    std::string token;
    int restarts = 0;
    bool first = true;
    while (first || !token.empty()) {
        auto next = take_page(clusters, token, tenants, deadline, report);
        if (next) {
            token = *std::move(next);
            first = false;
            continue;
        }
        k8s::Error const& error = next.error();
        if (first && error.type_not_served && clusters.rediscover_kros(deadline)) continue;
        if (error.kind != k8s::Error::Kind::Expired || restarts++ >= kRestarts) return base::Failure{std::move(next).error()};
        token = error.continue_token;
        first = token.empty();
    }
    std::sort(tenants.begin(), tenants.end());
    tenants.erase(std::unique(tenants.begin(), tenants.end()), tenants.end());
    return tenants;
}

Report resync(std::vector<Tenant> const& tenants, int parallel, std::function<Report(Tenant const&)> const& run) {
    Report all;
    all.outcome = {Outcome::Kind::Done, std::to_string(tenants.size()) + " tenants looked at", std::nullopt};
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
        for (std::size_t i = next++; i < tenants.size(); i = next++) {
            Report one = run(tenants[i]);
            std::lock_guard const lock{mutex};
            all.requests += one.requests;
            all.writes += one.writes;
            if (one.outcome.kind != Outcome::Kind::Retry || all.outcome.kind == Outcome::Kind::Retry) continue;
            all.outcome = std::move(one.outcome);
            all.outcome.why = to_string(tenants[i]) + ": " + all.outcome.why;
        }
    };
    std::vector<std::thread> others;
    auto const threads = std::min<std::size_t>(static_cast<std::size_t>(parallel), tenants.size());
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (auto& thread : others) thread.join();
    return all;
}

}  // namespace kro
