#include "function/handle/pages.hpp"

#include <algorithm>

namespace kro {
namespace {

constexpr int kRestarts = 3;

/// Whether the same page may be there in a moment: the answer broke off, and nobody asked us to wait.
bool broke_off(k8s::Error const& error) {
    return error.kind == k8s::Error::Kind::Unavailable && error.http_status == 0 && !error.retry_after;
}

k8s::Result<std::string> read_page(Clusters& clusters, Addressed const& list, base::Deadline deadline, Report& report) {
    auto answers = clusters.send({&list, 1}, nullptr, deadline);
    auto& result = answers.front().result;
    add_round(report, {exchange_of(list, answers.front())});
    if (!result) return base::Failure{std::move(result).error()};
    return base::text_of(base::member(*result, "metadata", "continue"));
}

}  // namespace

k8s::Result<void> read_pages(Clusters& clusters, Addressed const& list, int page_size, base::Deadline deadline, Report& report,
                             std::function<void(k8s::Json&)> const& visit, std::function<bool()> const& stop) {
    Addressed page = list;
    k8s::Resource const resource = list.request.resource;
    page.request.limit = page_size;
    page.request.visit = [&](k8s::Json& item) {
        item["apiVersion"] = k8s::api_version(resource);
        item["kind"] = resource.kind;
        visit(item);
    };
    for (int restarts = 0; !stop();) {
        auto next = read_page(clusters, page, deadline, report);
        if (next) {
            if (next->empty()) return {};
            page.request.continue_token = *std::move(next);
            continue;
        }
        k8s::Error const& error = next.error();
        bool const expired = error.kind == k8s::Error::Kind::Expired;
        bool const in_time = std::chrono::steady_clock::now() < deadline;
        if ((!expired && !broke_off(error)) || !in_time || restarts++ >= kRestarts) return base::Failure{std::move(next).error()};
        if (expired) page.request.continue_token = error.continue_token;
    }
    return {};
}

k8s::Result<void> read_kros(Clusters& clusters, k8s::Request::Contents contents, int page_size, base::Deadline deadline,
                            Report& report, std::function<void(k8s::Json&)> const& visit) {
    auto const read = [&] {
        Addressed list{Cluster::Onboarding, k8s::list(clusters.kros(), {})};
        list.request.contents = contents;
        return read_pages(clusters, list, page_size, deadline, report, visit);
    };
    auto first = read();
    bool const other_plural = !first && first.error().type_not_served && clusters.rediscover_kros(deadline);
    return other_plural ? read() : first;
}

k8s::Result<std::vector<Tenant>> all_tenants(Clusters& clusters, base::Deadline deadline, Report& report) {
    std::vector<Tenant> tenants;
    auto const read =
        read_kros(clusters, k8s::Request::Contents::Metadata, kKrosInAPage, deadline, report, [&](k8s::Json const& item) {
            tenants.push_back({k8s::namespace_of(item), k8s::name_of(item)});
        });
    if (!read) return base::Failure{read.error()};
    std::sort(tenants.begin(), tenants.end());
    tenants.erase(std::unique(tenants.begin(), tenants.end()), tenants.end());
    return tenants;
}

}  // namespace kro
