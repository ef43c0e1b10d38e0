// What a replay costs: `scripts/bench replay`. Two hundred settled tenants, and a hundred thousand events about their objects, whole ones of
// 4 KB and references, replayed by the program as a process.

#include "settled.hpp"

#include "function/tenant/desired.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/folder.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using k8s::Json;
using Steady = std::chrono::steady_clock;

constexpr int kTenants = 200;
constexpr std::size_t kWholeSize = 4096;

[[noreturn]] void give_up(std::string const& message) {
    std::cerr << "bench: " << message << std::endl;
    std::exit(EXIT_FAILURE);
}

kro::Tenant tenant(int number) { return {"bench", "tenant-" + std::to_string(1000 + number)}; }

Json settled_kro(kro::Tenant const& whom) {
    Json kro = bench::kro_of(whom);
    kro["metadata"]["generation"] = 1;
    kro["status"] = bench::settled_status(kro, whom);
    return kro;
}

/// What is there of one settled tenant, and changes now and then.
std::vector<Json> objects_of(kro::Tenant const& whom) {
    Json request = kro::desired_access_request(whom).object;
    request["metadata"]["generation"] = 1;
    request["status"] = {
        {"phase", "Granted"}, {"observedGeneration", 1}, {"secretRef", {{"name", bench::kubeconfig_name(whom)}}}};
    Json repository = kro::desired_oci_repository(whom, bench::chart(), "").object;
    Json release = kro::desired_helm_release(whom, bench::chart(), bench::kubeconfig_name(whom)).object;
    repository["metadata"]["generation"] = 1;
    release["metadata"]["generation"] = 1;
    return {settled_kro(whom), std::move(request), support::ready(std::move(repository)), support::ready(std::move(release))};
}

/// As large as the objects of a real cluster, which have their managedFields and what kubectl applied last with them.
Json grown(Json object) {
    std::size_t const size = base::dump_json(object).size();
    std::string filler;
    while (size + filler.size() + 70 < kWholeSize) filler += "filler ";
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = std::move(filler);
    return object;
}

Json reference_to(Json const& object) {
    return {{"apiVersion", object["apiVersion"]},
            {"kind", object["kind"]},
            {"name", k8s::name_of(object)},
            {"namespace", k8s::namespace_of(object)},
            {"resourceVersion", object["metadata"]["resourceVersion"]}};
}

Json event_about(Json const& object, std::string const& mode, int number, Json data) {
    return {{"specversion", "1.0"},
            {"id", "event-" + std::to_string(number)},
            {"source", "https://10.96.0.1:443"},
            {"type", "dev.knative.apiserver." + mode + ".update"},
            {"time", base::rfc3339_nano(support::kNoon + std::chrono::milliseconds{10} * number)},
            {"datacontenttype", "application/json"},
            {"apiversion", object["apiVersion"]},
            {"kind", object["kind"]},
            {"name", k8s::name_of(object)},
            {"namespace", k8s::namespace_of(object)},
            {"data", std::move(data)}};
}

/// One tenant after the other, one object after the other, each in a newer version.
void write_archive(std::filesystem::path const& file, std::string const& mode, int count) {
    std::vector<Json> objects;
    for (int number = 0; number < kTenants; ++number) {
        for (auto& object : objects_of(tenant(number)))
            objects.push_back(mode == "ref" ? std::move(object) : grown(std::move(object)));
    }
    std::ofstream out{file};
    for (int number = 0; number < count; ++number) {
        Json& object = objects[static_cast<std::size_t>(number) % objects.size()];
        object["metadata"]["resourceVersion"] = std::to_string(1'000'000 + number);
        out << base::dump_json(event_about(object, mode, number, mode == "ref" ? reference_to(object) : object)) << "\n";
    }
    if (!out.flush()) give_up(file.string() + " can't be written");
}

void write_state(std::filesystem::path const& file) {
    Json config = support::provider_config();
    config["spec"] = {{"pollInterval", "1m"}};
    Json items = Json::array({std::move(config)});
    for (int number = 0; number < kTenants; ++number) {
        for (auto& object : objects_of(tenant(number))) items.push_back(std::move(object));
    }
    int version = 1000;
    for (auto& item : items) item["metadata"]["resourceVersion"] = std::to_string(++version);
    std::ofstream{file} << base::dump_json({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

struct Run {
    double seconds = 0;
    double peak_mb = 0;
    Json summary;
};

/// The program, with what it wrote last to `out`.
Run run(std::vector<std::string> arguments, std::filesystem::path const& out) {
    std::vector<char*> raw;
    for (auto& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    auto const start = Steady::now();
    pid_t const child = ::fork();
    if (child == 0) {
        if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(127);
        ::execv(raw[0], raw.data());
        ::_exit(127);
    }
    int status = 0;
    rusage used = {};
    if (::wait4(child, &status, 0, &used) != child || status != 0) give_up(arguments[0] + " failed");
    Run run;
    run.seconds = std::chrono::duration<double>(Steady::now() - start).count();
    run.peak_mb = static_cast<double>(used.ru_maxrss) / 1024;
    std::ifstream in{out};
    for (std::string line; std::getline(in, line);) run.summary = base::parse_json(line).value();
    return run;
}

Run replay(std::string const& program, support::Folder const& folder, std::string const& mode, int count) {
    std::filesystem::path const archive = folder / (mode + ".jsonl");
    write_archive(archive, mode, count);
    Run const done =
        run({program, "replay", archive.string(), "--state", (folder / "state.json").string(), "--summary", "--output", "json"},
            folder / "out");
    std::filesystem::remove(archive);
    Json const& summary = base::member(done.summary, "summary");
    if (base::member(summary, "events") != count) give_up("not every event was replayed: " + summary.dump());
    if (base::member(summary, "writes") != 0) give_up("a settled tenant was written: " + summary.dump());
    if (base::member(summary, "tenants").size() != kTenants) give_up("not every tenant was reached: " + summary.dump());
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) give_up("usage: replay_bench PROGRAM [EVENTS]");
    std::string const program = argv[1];
    int const count = argc > 2 ? std::atoi(argv[2]) : 100'000;
    support::Folder const folder;
    write_state(folder / "state.json");
    Run const whole = replay(program, folder, "resource", count);
    Run const references = replay(program, folder, "ref", count);
    Json figures;
    figures["replay_events"] = count;
    figures["replay_tenants"] = kTenants;
    figures["replay_resource_events_per_s"] = count / whole.seconds;
    figures["replay_reference_events_per_s"] = count / references.seconds;
    figures["replay_peak_rss_mb"] = std::max(whole.peak_mb, references.peak_mb);
    std::cout << figures.dump(2) << std::endl;
}
