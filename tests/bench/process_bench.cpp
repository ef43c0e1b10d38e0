// What the program costs as a process, on a real API server that plays platform and onboarding cluster at once.
//
//   process_bench PROGRAM KUBECONFIG CONTROL_PLANE_KUBECONFIG [TENANTS]
//
// Prints a flat JSON object: times in milliseconds, memory in MiB, ratios to a bare libcurl client in the same run.

#include "bare_client.hpp"
#include "base/json.hpp"
#include "function/embedded/stand_in.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/http_api.hpp"
#include "process.hpp"
#include "tests/support/world.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

namespace {

using base::Json;
using Steady = std::chrono::steady_clock;

constexpr int kStarts = 31;
constexpr int kWarmUps = 50;
constexpr int kPairs = 400;
constexpr int kSenders = 8;
constexpr std::string_view kBenchNamespace = "bench";

[[noreturn]] void give_up(std::string const& message) {
    std::cerr << "bench: " << message << std::endl;
    std::exit(EXIT_FAILURE);
}

template <class T, class E>
T must(base::Result<T, E> result) {
    if (result) return std::move(result).value();
    if constexpr (requires { result.error().message; }) {
        give_up(result.error().message);
    } else {
        give_up(result.error());
    }
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double ms_since(Steady::time_point start) { return std::chrono::duration<double, std::milli>(Steady::now() - start).count(); }

std::string read_text(std::string const& file) {
    std::ifstream stream{file};
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

base::Deadline soon() { return Steady::now() + std::chrono::seconds{30}; }

kro::Tenant tenant(int number) { return {std::string{kBenchNamespace}, "tenant-" + std::to_string(number)}; }

/// The event that an ApiServerSource sends about an object, in structured mode.
std::string event_about(k8s::Resource const& resource, Json const& object, std::string const& change) {
    return base::dump_json({{"specversion", "1.0"},
                            {"id", k8s::uid_of(object) + k8s::resource_version_of(object)},
                            {"source", "https://bench.invalid"},
                            {"type", "dev.knative.apiserver.resource." + change},
                            {"kind", resource.kind},
                            {"apiversion", k8s::api_version(resource)},
                            {"name", k8s::name_of(object)},
                            {"namespace", k8s::namespace_of(object)},
                            {"datacontenttype", "application/json"},
                            {"data", object}});
}

/// A cluster on which one API server plays platform and onboarding cluster, with a stand-in for openMCP and Flux.
class Bench {
  public:
    Bench(std::string const& kubeconfig, std::string const& control_plane_kubeconfig)
        : access_(must(k8s::read_kubeconfig_file(kubeconfig, clock()))),
          api_(must(k8s::connect(access_, {}))),
          stand_in_(*api_, clock(), [text = read_text(control_plane_kubeconfig)](Json const&) { return text; }) {
        for (std::string_view name : {kBenchNamespace, std::string_view{"openmcp-system"}}) {
            static_cast<void>(k8s::send_one(*api_, k8s::create(k8s::kNamespaces, namespace_named(name), "bench"), soon()));
        }
        Json const config = {{"apiVersion", k8s::api_version(kro::kProviderConfigs)},
                             {"kind", kro::kProviderConfigs.kind},
                             {"metadata", {{"name", "kro"}}},
                             {"spec", Json::object()}};
        must(k8s::send_one(*api_, k8s::apply(kro::kProviderConfigs, config, "bench"), soon()));
    }

    static base::Clock clock() {
        return [] { return std::chrono::system_clock::now(); };
    }

    k8s::ClusterAccess const& access() const { return access_; }

    Json create_kro(kro::Tenant const& whom) {
        Json const kro = {{"apiVersion", k8s::api_version(kro::kKros)},
                          {"kind", "Kro"},
                          {"metadata", {{"name", whom.name}, {"namespace", whom.namespace_}}},
                          {"spec", {{"version", "0.9.1"}}}};
        return must(k8s::send_one(*api_, k8s::apply(kro::kKros, kro, "bench"), soon()));
    }

    Json read(k8s::Resource const& resource, k8s::ObjectKey key) {
        return must(k8s::send_one(*api_, k8s::get(resource, std::move(key)), soon()));
    }

    /// The platform and Flux do their part about an object until it no longer changes; the event about it is posted.
    void react_and_tell(bench::Connection& function, k8s::Resource const& resource, k8s::ObjectKey const& key) {
        for (int i = 0; i < 3; ++i) stand_in_.react({k8s::Change::Kind::Updated, resource, read(resource, key)});
        expect_done(function.post(event_about(resource, read(resource, key), "update")));
    }

    /// One tenant from nothing to Ready, by the events that the sources would send.
    void bring_up(bench::Connection& function, kro::Tenant const& whom) {
        std::string const namespace_ = kro::tenant_namespace(whom);
        expect_done(function.post(event_about(kro::kKros, create_kro(whom), "add")));
        react_and_tell(function, kro::kAccessRequests, {namespace_, kro::request_name(whom)});
        react_and_tell(function, kro::kOciRepositories, {namespace_, std::string{kro::kOciRepositoryName}});
        react_and_tell(function, kro::kHelmReleases, {namespace_, std::string{kro::kHelmReleaseName}});
        Json const kro = read(kro::kKros, {whom.namespace_, whom.name});
        std::string const phase = base::text_of(base::member(kro, "status", "phase"));
        if (phase != "Ready") give_up(kro::to_string(whom) + " is " + phase + ", not Ready: " + base::dump_json(kro["status"]));
    }

    static void expect_done(int status) {
        if (status != 204) give_up("an event was answered " + std::to_string(status));
    }

  private:
    static Json namespace_named(std::string_view name) {
        return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
    }

    k8s::ClusterAccess access_;
    std::unique_ptr<k8s::Api> api_;
    kro::StandIn stand_in_;
};

/// exec → ready, and exec → first event answered (one that concerns nobody's cluster).
void measure_start(std::string const& program, std::vector<std::string> const& arguments, Json& figures) {
    std::vector<double> ready;
    for (int i = 0; i < kStarts; ++i) {
        auto const port = bench::free_port();
        bench::Process const process{program, arguments, port};
        ready.push_back(process.wait_until_ready());
    }
    figures["cold_start_ms"] = median(std::move(ready));
}

/// A settled tenant's event, and the same requests in the same rounds by the bare client, in turn.
void measure_steady_event(Bench& world, bench::Connection& function, Json& figures) {
    kro::Tenant const whom = tenant(0);
    std::string const namespace_ = kro::tenant_namespace(whom);
    auto const path = [](k8s::Resource const& resource, k8s::ObjectKey const& key) { return k8s::path_of(resource, key); };
    std::vector<std::string> const first{path(kro::kKros, {whom.namespace_, whom.name}), path(kro::kProviderConfigs, {{}, "kro"}),
                                         path(kro::kAccessRequests, {namespace_, kro::request_name(whom)})};
    Json const access = world.read(kro::kAccessRequests, {namespace_, kro::request_name(whom)});
    std::string const kubeconfig = base::text_of(base::member(access, "status", "secretRef", "name"));
    std::vector<std::string> const second{
        path(kro::kOciRepositories, {namespace_, std::string{kro::kOciRepositoryName}}),
        path(kro::kHelmReleases, {namespace_, std::string{kro::kHelmReleaseName}}),
        path(k8s::kSecrets, {namespace_, {}}) + "?labelSelector=openmcp.cloud%2Fmanaged-by%3Dkro.services.openmcp.cloud",
        path(k8s::kSecrets, {namespace_, kubeconfig})};
    // An old state, so that it is no echo of the function's last write.
    Json kro = world.read(kro::kKros, {whom.namespace_, whom.name});
    kro["metadata"]["resourceVersion"] = "1";
    std::string const event = event_about(kro::kKros, kro, "update");

    bench::BareClient bare{world.access()};
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    for (int i = 0; i < kWarmUps + kPairs; ++i) {
        auto start = Steady::now();
        Bench::expect_done(function.post(event));
        double const event_ms = ms_since(start);
        start = Steady::now();
        bare.round(first);
        bare.round(second);
        double const bare_ms = ms_since(start);
        if (i < kWarmUps) continue;
        ours.push_back(event_ms);
        theirs.push_back(bare_ms);
        ratios.push_back(event_ms / bare_ms);
    }
    figures["steady_event_ms"] = median(std::move(ours));
    figures["steady_event_curl_ms"] = median(std::move(theirs));
    figures["steady_event_vs_curl"] = median(std::move(ratios));
}

/// What the same event asks for, counted in memory.
void count_steady_event(Json& figures) {
    support::World world;
    world.install(support::kro_named("acme"));
    auto const report = world.reconcile(support::tenant_named("acme"));
    figures["steady_event_rounds"] = report.rounds.size();
    figures["steady_event_requests"] = report.requests;
    figures["steady_event_writes"] = report.writes;

    support::World fresh;
    fresh.put_kro(support::kro_named("acme"));
    figures["create_to_ready_requests"] = fresh.settle().requests;
}

void bring_up_all(Bench& world, std::uint16_t port, int tenants) {
    std::atomic<int> next{1};
    std::vector<std::thread> senders;
    for (int i = 0; i < kSenders; ++i) {
        senders.emplace_back([&] {
            bench::Connection function{port};
            for (int number = next++; number < tenants; number = next++) world.bring_up(function, tenant(number));
        });
    }
    for (auto& sender : senders) sender.join();
}

double size_mb(std::string const& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) give_up("there is no " + file);
    return static_cast<double>(found.st_size) / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) give_up("usage: process_bench PROGRAM KUBECONFIG CONTROL_PLANE_KUBECONFIG [TENANTS]");
    std::string const program = argv[1];
    std::string const kubeconfig = argv[2];
    int const tenants = argc > 4 ? std::atoi(argv[4]) : 1000;
    std::vector<std::string> const arguments{"serve", "--kubeconfig=" + kubeconfig, "--onboarding=platform", "--verbosity=ERROR"};

    Json figures;
    figures["binary_mb"] = size_mb(program);
    measure_start(program, arguments, figures);
    count_steady_event(figures);

    Bench world{kubeconfig, argv[3]};
    auto const port = bench::free_port();
    bench::Process const process{program, arguments, port};
    process.wait_until_ready();
    auto const idle = process.memory();
    figures["rss_idle_mb"] = idle.resident_mb;
    figures["rss_anon_mb"] = idle.anonymous_mb;

    bench::Connection function{port};
    world.bring_up(function, tenant(0));
    measure_steady_event(world, function, figures);

    double const cpu_before = process.cpu_ms();
    auto const start = Steady::now();
    bring_up_all(world, port, tenants);
    figures["tenants"] = tenants;
    figures["tenants_ready_s"] = ms_since(start) / 1000;
    figures["cpu_per_tenant_ms"] = (process.cpu_ms() - cpu_before) / std::max(1, tenants - 1);
    // What it keeps; what its threads had freed a moment ago goes back when they have had nothing to do for a while.
    std::this_thread::sleep_for(std::chrono::seconds{1});
    figures["rss_1000_tenants_mb"] = process.memory().resident_mb;
    std::cout << figures.dump(2) << std::endl;
}
