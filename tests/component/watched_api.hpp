#pragma once

#include "function/tenant/kinds.hpp"
#include "k8s/memory_api.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace component {

/// What the pods under test asked of one cluster, and which of their requests is to fail.
struct Traffic {
    std::atomic<std::size_t> requests{0};
    std::atomic<std::size_t> writes{0};  ///< but for the ProviderConfig's status
    std::size_t fails_at = 0;  ///< the request of that number, counted from 1; 0: none. Only where one thread at a time asks.
    k8s::Fault fault;
};

/// What stands between the pods under test and an API server. What users, the platform and Flux do goes past it.
class WatchedApi final : public k8s::Api {
  public:
    /// Sees every request before any of its batch is carried out.
    using Inspect = std::function<void(k8s::Request const&)>;

    WatchedApi(std::shared_ptr<k8s::MemoryApi> server, Traffic& traffic, Inspect inspect)
        : server_(std::move(server)), api_(server_->connect()), traffic_(traffic), inspect_(std::move(inspect)) {}

    std::vector<k8s::Answer> send(std::span<k8s::Request const> batch, base::Deadline deadline) override {
        for (auto const& request : batch) inspect_(request);
        std::vector<k8s::Answer> answers;
        answers.reserve(batch.size());
        for (auto const& request : batch) {
            if (++traffic_.requests == traffic_.fails_at) server_->fail(1, traffic_.fault);
            if (k8s::is_write(request) && !is_about_provider(request)) ++traffic_.writes;
            answers.push_back(std::move(api_->send({&request, 1}, deadline).front()));
        }
        return answers;
    }

  private:
    /// The ProviderConfig's status tells the time of the last resync; that is news once an interval, however settled all tenants are.
    static bool is_about_provider(k8s::Request const& request) { return request.resource == kro::kProviderConfigs; }

    std::shared_ptr<k8s::MemoryApi> server_;
    std::unique_ptr<k8s::Api> api_;
    Traffic& traffic_;
    Inspect inspect_;
};

}  // namespace component
