// What a resync costs: `scripts/bench resync`. Tenants are loaded as they are when everything is settled, on a real API server that plays
// platform and onboarding cluster; a tick of the program as a process is then held against bare curl fetching the same pages.

#include "bare_client.hpp"
#include "process.hpp"
#include "settled.hpp"

#include "function/handle/resync.hpp"
#include "function/tenant/desired.hpp"
#include "function/tenant/kinds.hpp"
#include "k8s/http_api.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <sstream>
#include <thread>

namespace {

using k8s::Json;
using Steady = std::chrono::steady_clock;

constexpr std::string_view kOnboarding = "bench";
constexpr int kLoaders = 8;
constexpr int kTogether = 16;  ///< tenants of a loader on their way at once
constexpr int kTicks = 3;
/// Twice scripts/bench's interval, and a little: then the storage is compacted up to what was loaded. Before that the API server has every page
/// in its memory, which on a cluster that has been up for five minutes is the case for what has just been changed alone.
constexpr std::chrono::seconds kUntilCompacted{40};
constexpr int kDrifted = 1000;

[[noreturn]] void give_up(std::string const& message) {
    std::cerr << "bench: " << message << std::endl;
    std::exit(EXIT_FAILURE);
}

double seconds_since(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

base::Deadline later() { return Steady::now() + std::chrono::minutes{10}; }

kro::Tenant tenant(int number) { return {std::string{kOnboarding}, "tenant-" + std::to_string(100'000 + number)}; }

Json namespace_named(std::string_view name) { return kro::bare_namespace(name); }

Json provider_config() {
    Json config = support::provider_config();
    // Long, so that no pass but the first has the time to tell.
    config["spec"] = {{"pollInterval", "24h"}};
    return config;
}

/// An object of one settled tenant, and its status.
struct Part {
    k8s::Resource resource;
    Json object;
    std::function<Json(Json const& stored)> status;
};

std::vector<Part> parts_of(kro::Tenant const& whom) {
    auto const flux = [](Json const& stored) {
        Json status = support::ready(stored)["status"];
        // What the kind's schema asks for beside the revision.
        if (status.contains("artifact")) {
            status["artifact"].update({{"digest", "sha256:" + std::string(64, '0')},
                                       {"lastUpdateTime", base::rfc3339(support::kNoon)},
                                       {"path", "ocirepository/kro.tgz"},
                                       {"url", "http://source-controller/kro.tgz"}});
        }
        return status;
    };
    auto const access = [whom](Json const& stored) {
        return Json{{"phase", "Granted"},
                    {"observedGeneration", k8s::generation_of(stored)},
                    {"secretRef", {{"name", bench::kubeconfig_name(whom)}}}};
    };
    return {{kro::kKros, bench::kro_of(whom), [whom](Json const& stored) { return bench::settled_status(stored, whom); }},
            {kro::kAccessRequests, kro::desired_access_request(whom).object, access},
            {kro::kOciRepositories, kro::desired_oci_repository(whom, bench::chart(), "").object, flux},
            {kro::kHelmReleases, kro::desired_helm_release(whom, bench::chart(), bench::kubeconfig_name(whom)).object, flux}};
}

std::vector<Json> send_all(k8s::HttpApi& api, std::vector<k8s::Request> const& requests) {
    std::vector<Json> stored;
    for (auto& answer : api.send(requests, later())) {
        if (!answer.result) give_up(answer.result.error().message);
        stored.push_back(std::move(answer.result).value());
    }
    return stored;
}

/// Loads tenants from..to, many at a time.
void load(k8s::ClusterAccess const& access, int from, int to) {
    std::atomic<int> next{from};
    auto const loader = [&] {
        k8s::HttpApi api{access, {}};
        auto const send = [&](std::vector<k8s::Request> const& requests) {
            auto answers = api.send(requests, later());
            for (auto const& answer : answers) {
                bool const there = !answer.result && answer.result.error().kind == k8s::Error::Kind::AlreadyExists;
                if (!answer.result && !there) give_up(answer.result.error().message);
            }
            return answers;
        };
        for (int first = next.fetch_add(kTogether); first < to; first = next.fetch_add(kTogether)) {
            std::vector<k8s::Request> namespaces;
            std::vector<k8s::Request> objects;
            std::vector<Part> parts;
            for (int number = first; number < std::min(first + kTogether, to); ++number) {
                namespaces.push_back(
                    k8s::create(k8s::kNamespaces, namespace_named(kro::tenant_namespace(tenant(number))), "bench"));
                for (auto& part : parts_of(tenant(number))) {
                    objects.push_back(k8s::apply(part.resource, part.object, kro::kFieldManager));
                    parts.push_back(std::move(part));
                }
            }
            send(namespaces);
            auto const stored = send(objects);
            std::vector<k8s::Request> statuses;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                Json const& object = stored[i].result.value();
                Json body = {{"apiVersion", object["apiVersion"]},
                             {"kind", object["kind"]},
                             {"metadata", {{"name", k8s::name_of(object)}, {"namespace", k8s::namespace_of(object)}}},
                             {"status", parts[i].status(object)}};
                bool const ours = parts[i].resource == kro::kKros;
                statuses.push_back(k8s::apply_status(parts[i].resource, std::move(body), ours ? kro::kFieldManager : "flux"));
            }
            send(statuses);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kLoaders; ++i) threads.emplace_back(loader);
    for (auto& thread : threads) thread.join();
}

/// The same pages as a resync asks for, each list by a thread and a connection of its own.
double fetch_pages(k8s::ClusterAccess const& access) {
    struct List {
        k8s::Resource resource;
        bool labelled;
        int limit;
        char const* accept;
    };
    constexpr char const* kJson = "application/json";
    std::vector<List> const lists{{kro::kKros, false, 500, kJson},
                                  {kro::kAccessRequests, true, 250, kJson},
                                  {kro::kOciRepositories, true, 250, kJson},
                                  {kro::kHelmReleases, true, 250, kJson},
                                  {k8s::kSecrets, true, 500, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}};
    auto const start = Steady::now();
    std::vector<std::thread> threads;
    for (auto const& list : lists) {
        threads.emplace_back([&access, list] {
            bench::PageClient client{access, list.accept};
            std::string const path =
                k8s::path_of(list.resource, {}) + "?limit=" + std::to_string(list.limit) +
                (list.labelled ? "&labelSelector=openmcp.cloud%2Fmanaged-by%3Dkro.services.openmcp.cloud" : "");
            client.fetch_all(path);
        });
    }
    for (auto& thread : threads) thread.join();
    return seconds_since(start);
}

std::string ping() {
    return base::dump_json({{"specversion", "1.0"}, {"id", "tick"}, {"source", "/bench"}, {"type", "dev.knative.sources.ping"}});
}

double tick(std::uint16_t port) {
    bench::Connection function{port};
    auto const start = Steady::now();
    int const status = function.post(ping());
    if (status != 204) give_up("a tick was answered " + std::to_string(status));
    return seconds_since(start);
}

/// The program's own count of its requests.
struct Requests {
    double reads = 0;
    double writes = 0;
};

Requests requests_of(std::uint16_t port) {
    Requests sum;
    std::istringstream lines{bench::get_text(port, "/metrics")};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("kro_function_api_requests_total{")) continue;
        double const count = std::atof(line.substr(line.rfind(' ') + 1).c_str());
        (line.find("kind=\"write\"") == std::string::npos ? sum.reads : sum.writes) += count;
    }
    return sum;
}

struct Settled {
    double seconds = 0;
    double cpu_ms = 0;  ///< the program's own, of one tick
    double curl_seconds = 0;
    double ratio = 0;
    double peak_mb = 0;
    double requests_per_tenant = 0;
    double writes = 0;
};

Settled measure_settled(std::string const& program, std::vector<std::string> const& arguments, k8s::ClusterAccess const& access,
                        int tenants) {
    std::this_thread::sleep_for(kUntilCompacted);
    auto const port = bench::free_port();
    bench::Process const process{program, arguments, port};
    process.wait_until_ready();
    tick(port);
    Settled settled;
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    std::vector<double> cpu;
    for (int i = 0; i < kTicks; ++i) {
        double const cpu_before = process.cpu_ms();
        Requests const before = requests_of(port);
        ours.push_back(tick(port));
        cpu.push_back(process.cpu_ms() - cpu_before);
        Requests const after = requests_of(port);
        settled.requests_per_tenant = (after.reads + after.writes - before.reads - before.writes) / tenants;
        settled.writes += after.writes - before.writes;
        theirs.push_back(fetch_pages(access));
        ratios.push_back(ours.back() / theirs.back());
    }
    settled.seconds = median(ours);
    settled.cpu_ms = median(cpu);
    settled.curl_seconds = median(theirs);
    settled.ratio = median(ratios);
    settled.peak_mb = process.peak_mb();
    return settled;
}

/// Changes `count` HelmReleases by hand; as they are then.
std::vector<Json> drift(k8s::HttpApi& api, int count) {
    std::vector<k8s::Request> patches;
    for (int number = 0; number < count; ++number) {
        k8s::ObjectKey const key{kro::tenant_namespace(tenant(number)), std::string{kro::kHelmReleaseName}};
        patches.push_back(k8s::merge_patch(kro::kHelmReleases, key, {{"spec", {{"values", {{"by", "hand"}}}}}}, "hand"));
    }
    return send_all(api, patches);
}

/// How long the API server takes for what a repair writes, as many at once as the client allows: each HelmRelease, and then each status.
double seconds_of_writes(k8s::HttpApi& api, int count) {
    auto const drifted = drift(api, count);
    std::vector<k8s::Request> releases;
    std::vector<k8s::Request> statuses;
    for (int number = 0; number < count; ++number) {
        kro::Tenant const whom = tenant(number);
        Json const& release = drifted[static_cast<std::size_t>(number)];
        auto const desired = kro::desired_helm_release(whom, bench::chart(), bench::kubeconfig_name(whom));
        releases.push_back(
            k8s::json_patch(kro::kHelmReleases, k8s::key_of(release), kro::correction(release, desired), kro::kFieldManager));
        Json kro = bench::kro_of(whom);
        kro["metadata"].erase("finalizers");
        kro["status"] = bench::settled_status(kro, whom);
        kro["status"]["phase"] = "Terminating";
        kro.erase("spec");
        statuses.push_back(k8s::apply_status(kro::kKros, std::move(kro), kro::kFieldManager));
    }
    auto const start = Steady::now();
    send_all(api, releases);
    send_all(api, statuses);
    return seconds_since(start);
}

/// Lets one tick repair `count` HelmReleases that were changed by hand.
void measure_repair(std::string const& program, std::vector<std::string> const& arguments, k8s::ClusterAccess const& access,
                    int count, double settled_s, Json& figures) {
    k8s::HttpApi api{access, {}};
    drift(api, count);
    // As when settled_s was measured.
    std::this_thread::sleep_for(kUntilCompacted);

    auto const port = bench::free_port();
    bench::Process const process{program, arguments, port};
    process.wait_until_ready();
    Requests const before = requests_of(port);
    double const repaired_s = tick(port);
    Requests const after = requests_of(port);
    tick(port);
    Requests const settled = requests_of(port);
    // A tick's own: the pages, and the ProviderConfig's status, which counts the tenants that are no longer ready.
    double const own = settled.reads + settled.writes - after.reads - after.writes + 1;
    double const all = after.reads + after.writes - before.reads - before.writes;
    for (int number = 0; number < count; ++number) {
        k8s::ObjectKey const key{kro::tenant_namespace(tenant(number)), std::string{kro::kHelmReleaseName}};
        auto const release = k8s::send_one(api, k8s::get(kro::kHelmReleases, key), later());
        if (!release) give_up(release.error().message);
        if (!base::member(*release, "spec", "values").is_null()) give_up(kro::to_string(tenant(number)) + " was not repaired");
    }
    figures["resync_drifted"] = count;
    figures["resync_repair_requests_per_tenant"] = (all - own) / count;
    figures["resync_repair_s"] = repaired_s;
    figures["resync_repair_without_reading_s"] = repaired_s - settled_s;
    double const round_s = seconds_of_writes(api, count) / 2;
    figures["resync_repair_writes_of_one_round_s"] = round_s;
    figures["resync_repair_in_rounds_of_writes"] = (repaired_s - settled_s) / round_s;
}

/// The same decisions on a control plane in memory: what is left is the program's own time.
void in_memory(int tenants, Json& figures, std::string const& name) {
    support::World world{{.kept_requests = 0, .keep_changes = false, .show_managed_fields = false}};
    world.put(provider_config());
    for (int number = 0; number < tenants; ++number) {
        for (auto const& part : parts_of(tenant(number))) {
            Json object = part.object;
            object["metadata"]["generation"] = 1;
            object["status"] = part.status(object);
            world.put(std::move(object), part.resource == kro::kKros ? kro::Cluster::Onboarding : kro::Cluster::Platform);
        }
    }
    kro::Context const context{world.clusters, world.provider};
    kro::Resync::Hooks hooks;
    hooks.reconcile = [&](kro::Observed observed, base::Deadline until) {
        return kro::reconcile(context, std::move(observed), world.now, until);
    };
    kro::Resync resync{context, {}, hooks};
    resync.run(kro::Resync::Cause::Tick, world.now, later());
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < kTicks; ++i) {
        auto const start = Steady::now();
        kro::Report const report = resync.run(kro::Resync::Cause::Tick, world.now, later());
        fastest = std::min(fastest, seconds_since(start));
        if (report.outcome.kind != kro::Outcome::Kind::Done) give_up(report.outcome.why);
        if (report.writes > 0) give_up("in memory: " + report.outcome.why);
        figures["resync_" + name + "_in_memory_requests"] = report.requests;
    }
    figures["resync_" + name + "_in_memory_s"] = fastest;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) give_up("usage: resync_bench PROGRAM KUBECONFIG [TENANTS]");
    std::string const program = argv[1];
    std::string const kubeconfig = argv[2];
    int const many = argc > 3 ? std::atoi(argv[3]) : 10'000;
    int const few = std::max(1, many / 10);
    std::vector<std::string> const arguments{"serve", "--kubeconfig=" + kubeconfig, "--onboarding=platform", "--verbosity=ERROR",
                                             "--event-budget=10m"};
    Json figures;
    in_memory(few, figures, "few");
    in_memory(many, figures, "many");

    auto access = k8s::read_kubeconfig_file(kubeconfig, [] { return std::chrono::system_clock::now(); });
    if (!access) give_up(access.error().message);
    k8s::HttpApi api{*access, {}};
    for (std::string_view name : {kOnboarding, std::string_view{"openmcp-system"}}) {
        static_cast<void>(k8s::send_one(api, k8s::create(k8s::kNamespaces, namespace_named(name), "bench"), later()).has_value());
    }
    auto const configured = k8s::send_one(api, k8s::apply(kro::kProviderConfigs, provider_config(), "bench"), later());
    if (!configured) give_up(configured.error().message);

    auto const start = Steady::now();
    load(*access, 0, few);
    Settled const small = measure_settled(program, arguments, *access, few);
    load(*access, few, many);
    std::cerr << "bench: " << many << " tenants loaded, " << seconds_since(start) << " s" << std::endl;
    Settled const large = measure_settled(program, arguments, *access, many);

    figures["resync_tenants"] = many;
    figures["resync_requests_per_tenant"] = large.requests_per_tenant;
    figures["resync_writes_settled"] = large.writes;
    figures["resync_s"] = large.seconds;
    figures["resync_curl_s"] = large.curl_seconds;
    figures["resync_vs_curl"] = large.ratio;
    figures["resync_peak_rss_mb"] = large.peak_mb;
    figures["resync_few_s"] = small.seconds;
    figures["resync_few_curl_s"] = small.curl_seconds;
    figures["resync_few_vs_curl"] = small.ratio;
    figures["resync_few_peak_rss_mb"] = small.peak_mb;
    // Of the program's own time: what the API server takes for the pages grows faster than their number, whoever asks for them.
    figures["resync_cpu_ms"] = large.cpu_ms;
    figures["resync_few_cpu_ms"] = small.cpu_ms;
    figures["resync_growth_time"] = large.cpu_ms / small.cpu_ms;
    figures["resync_growth_elapsed"] = large.seconds / small.seconds;
    figures["resync_growth_elapsed_of_curl"] = large.curl_seconds / small.curl_seconds;
    figures["resync_growth_memory"] = large.peak_mb / small.peak_mb;
    measure_repair(program, arguments, *access, std::min(kDrifted, many), large.seconds, figures);
    std::cout << figures.dump(2) << std::endl;
}
