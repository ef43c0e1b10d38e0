// What the ways of delivery in knative/ cost, on a stack with every part (tests/stack/README.md): the numbers of the table in
// knative/README.md. Each test prints lines of its own; there is nothing that a slow machine could fail.

#include "tests/journeys/installation.hpp"

#include "base/json.hpp"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

namespace journeys {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEvents = 400;
constexpr int kStreams = 16;
constexpr int kWakes = 9;
constexpr std::size_t kCrowd = 200;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Posts events to one place by the stack's proxy, as an adapter does: one after the other.
class Stream {
  public:
    Stream(std::string const& proxy, std::string const& url) {
        auto const path = url.find('/', std::string_view{"http://"}.size());
        path_ = path == std::string::npos ? "/" : url.substr(path);
        client_ = std::make_unique<httplib::Client>(url.substr(0, path));
        auto const colon = proxy.rfind(':');
        client_->set_proxy("127.0.0.1", std::stoi(proxy.substr(colon + 1)));
        client_->set_keep_alive(true);
        client_->set_tcp_nodelay(true);
        client_->set_read_timeout(60, 0);
    }

    /// Whether it was answered 2xx.
    bool send(Json const& object, std::string const& type) {
        static std::atomic<int> number{0};
        httplib::Headers const headers{{"Ce-Specversion", "1.0"},
                                       {"Ce-Id", "bench-" + std::to_string(++number)},
                                       {"Ce-Source", "https://127.0.0.1"},
                                       {"Ce-Type", "dev.knative.apiserver.resource." + type}};
        auto const answer = client_->Post(path_, headers, base::dump_json(object), "application/json");
        return answer && answer->status / 100 == 2;
    }

  private:
    std::unique_ptr<httplib::Client> client_;
    std::string path_;
};

/// What the function did, by its log.
struct Work {
    std::size_t events = 0;
    std::int64_t requests = 0;
    std::int64_t writes = 0;
};

Work work_in(std::string const& log) {
    Work work;
    std::istringstream lines{log};
    for (std::string line; std::getline(lines, line);) {
        auto const entry = base::parse_json(line);
        if (!entry || text_of(member(*entry, "msg")) != "event answered") continue;
        ++work.events;
        work.requests += base::integer_of(member(*entry, "requests"), 0);
        work.writes += base::integer_of(member(*entry, "writes"), 0);
    }
    return work;
}

template <class Overlay>
class Measured : public Overlay {
  protected:
    std::string const way_ = this->overlay();

    /// What a source of this overlay posts to.
    std::string sink() {
        auto const source = this->platform().read(kApiServerSources, {std::string{kNamespace}, "kro-function-config"});
        return text_of(member(source, "status", "sinkUri"));
    }
    std::string proxy() { return text_of(member(this->stack_, "node", "proxy")); }

    void measure_delivery() {
        auto const tenant = this->new_tenant();
        this->install(tenant);
        this->settle();
        Json const release = this->helm_release(tenant);
        measure_rate(release, 1);
        measure_rate(release, kStreams);
        measure_wake(release);
    }

    void measure_rate(Json const& object, int streams) {
        Stream{proxy(), sink()}.send(object, "update");
        std::atomic<int> left{kEvents};
        std::atomic<int> refused{0};
        auto const start = Clock::now();
        std::vector<std::thread> threads;
        for (int i = 0; i < streams; ++i) {
            threads.emplace_back([&] {
                Stream stream{proxy(), sink()};
                while (left-- > 0) refused += stream.send(object, "update") ? 0 : 1;
            });
        }
        for (auto& thread : threads) thread.join();
        std::printf("%s, %d at a time: %.0f events/s, %d not taken\n", way_.c_str(), streams, kEvents / seconds_since(start),
                    refused.load());
    }

    void measure_wake(Json const& object) {
        std::vector<double> times;
        for (int i = 0; i < kWakes; ++i) {
            this->eventually("the function is at zero", [&] { return this->functions().empty(); });
            Stream stream{proxy(), sink()};
            auto const start = Clock::now();
            EXPECT_TRUE(stream.send(object, "update"));
            times.push_back(seconds_since(start));
        }
        std::sort(times.begin(), times.end());
        std::printf("%s, from zero, event to answer: median %.0f ms, worst %.0f ms\n", way_.c_str(),
                    times[times.size() / 2] * 1000, times.back() * 1000);
    }

    void measure_crowd() {
        this->hold_flux();
        this->leave_tenants();
        this->settle();
        auto const tenants = this->many_tenants(kCrowd);
        std::size_t const log = this->log_of("openmcp-system.kro-function.log").size();
        auto const start = Clock::now();
        this->order_all(tenants, "0.9.1");
        std::size_t there = 0;
        auto last = start;
        this->eventually("no more tenants come", [&] {
            std::size_t const now = this->count_with_helm_release(tenants);
            if (now != there) last = Clock::now();
            there = now;
            return now == kCrowd || seconds_since(last) > 20;
        });
        this->settle();
        there = this->count_with_helm_release(tenants);
        Work const work = work_in(this->log_of("openmcp-system.kro-function.log").substr(log));
        std::printf("%s, %zu tenants at once: %zu there by events alone after %.0f s; %zu events, %lld requests, %lld writes\n",
                    way_.c_str(), kCrowd, there, std::chrono::duration<double>(last - start).count(), work.events,
                    static_cast<long long>(work.requests), static_cast<long long>(work.writes));
    }
};

class Straight : public Measured<Direct> {};
class ByBroker : public Measured<Broker> {};
class CrowdByBroker : public Measured<Broker> {};
class CrowdByFixedAdapter : public Measured<FixedAdapter> {};
class CrowdStraight : public Measured<Direct> {};

TEST_F(Straight, Delivery) { measure_delivery(); }
TEST_F(ByBroker, Delivery) { measure_delivery(); }
// These leave their tenants behind.
TEST_F(CrowdStraight, Crowd) { measure_crowd(); }
TEST_F(CrowdByFixedAdapter, Crowd) { measure_crowd(); }
TEST_F(CrowdByBroker, Crowd) { measure_crowd(); }

}  // namespace
}  // namespace journeys
