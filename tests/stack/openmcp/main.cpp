// The openMCP platform, played on the API server `platform` of a stack: grants ClusterRequests and AccessRequests with real
// credentials, and takes them back.
//
//   stack-openmcp NAME=KUBECONFIG...     the clusters of the stack by name; says "ready" when it has looked at all requests

#include "function/tenant/kinds.hpp"
#include "k8s/kubeconfig.hpp"
#include "tests/stack/openmcp/platform.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <set>
#include <syncstream>

namespace {

using k8s::Json;

/// Requests that are to be looked at, each once however often it has changed meanwhile.
class Queue {
  public:
    using Item = std::pair<std::string_view, k8s::ObjectKey>;  ///< the plural and which

    void push(Item item) {
        std::lock_guard const lock{mutex_};
        if (waiting_.insert(item).second) items_.push_back(std::move(item));
        changed_.notify_all();
    }

    Item pop() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return !items_.empty(); });
        Item item = std::move(items_.front());
        items_.pop_front();
        waiting_.erase(item);
        return item;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    std::set<Item> waiting_;
};

node::Watch::Listener listener(Queue& queue, std::string_view plural) {
    return {[&queue, plural](std::vector<Json> const& objects) {
                for (auto const& object : objects) queue.push({plural, k8s::key_of(object)});
                std::osyncstream{std::cout} << "ready: " << plural << std::endl;
            },
            [&queue, plural](Json const& object, bool) {
                queue.push({plural, k8s::key_of(object)});
            }};
}

base::Result<void, std::string> react(openmcp::Platform& platform, Queue::Item const& item) {
    bool const access = item.first == kro::kAccessRequests.plural;
    auto const found = platform.home().send(k8s::get(access ? kro::kAccessRequests : kro::kClusterRequests, item.second));
    if (!found && found.error().kind == k8s::Error::Kind::NotFound) return {};
    if (!found) return base::Failure{found.error().message};
    return access ? platform.react_to_access_request(*found) : platform.react_to_cluster_request(*found);
}

base::Result<std::map<std::string, std::unique_ptr<node::Cluster>>, std::string> open_clusters(
    std::vector<std::string> const& all) {
    std::map<std::string, std::unique_ptr<node::Cluster>> clusters;
    for (auto const& one : all) {
        auto const equals = one.find('=');
        if (equals == std::string::npos) return base::Failure{one + " is not NAME=KUBECONFIG"};
        auto const access = k8s::read_kubeconfig_file(one.substr(equals + 1), [] { return std::chrono::system_clock::now(); });
        if (!access) return base::Failure{one + ": " + access.error().message};
        clusters.emplace(one.substr(0, equals), std::make_unique<node::Cluster>(*access));
    }
    if (!clusters.contains("platform")) return base::Failure{std::string{"there is no cluster named platform"}};
    if (clusters.lower_bound("mcp-") == clusters.end()) return base::Failure{std::string{"there is no cluster named mcp-NN"}};
    return clusters;
}

}  // namespace

int main(int count, char** arguments) {
    auto clusters = open_clusters({arguments + 1, arguments + count});
    if (!clusters) {
        std::cerr << "stack-openmcp: " << clusters.error() << "\n";
        return 2;
    }
    openmcp::Platform platform{std::move(clusters).value()};
    Queue queue;
    node::Watch const access{platform.home(), kro::kAccessRequests, listener(queue, kro::kAccessRequests.plural)};
    node::Watch const cluster{platform.home(), kro::kClusterRequests, listener(queue, kro::kClusterRequests.plural)};
    while (true) {
        auto const item = queue.pop();
        auto const done = react(platform, item);
        if (done) continue;
        // Somebody was faster, or a server is starting.
        std::osyncstream{std::cout} << item.first << " " << k8s::to_string(item.second) << ": " << done.error() << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        queue.push(item);
    }
}
