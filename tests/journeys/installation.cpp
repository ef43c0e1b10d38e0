#include "tests/journeys/installation.hpp"

#include "base/base64.hpp"
#include "k8s/condition.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace journeys {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 120s;
constexpr auto kLook = 100ms;
/// How long nothing may change before it counts as settled; longer than a watch, the Broker and a start of the function take.
constexpr auto kQuiet = 1500ms;
constexpr std::array kOurSources{kPingSources, kApiServerSources, kContainerSources, kTriggers, kBrokers};
/// As long as the adapter needs to take in a new schedule.
constexpr auto kUntilTick = 2s;
/// After this, a tick was missed by an adapter that was not at work yet.
constexpr auto kTickPatience = 15s;
/// Never, within the life of a stack.
constexpr std::string_view kNever = "0 0 29 2 *";
constexpr std::string_view kLogin = "chart-login";
constexpr char kFunctionLog[] = "openmcp-system.kro-function.log";

/// What is installed now; tests run one after the other.
std::string& installed_overlay() {
    static std::string name;
    return name;
}

base::Deadline soon() { return steady_clock::now() + 30s; }

std::string content_of(std::filesystem::path const& file) {
    std::ostringstream content;
    content << std::ifstream{file}.rdbuf();
    return content.str();
}

std::string unique_word() {
    static int counter = 0;
    auto const now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds{1};
    return std::to_string(now) + "-" + std::to_string(++counter);
}

/// A schedule with seconds that fires at this moment, and next in a year.
std::string once_at(std::chrono::system_clock::time_point moment) {
    std::time_t const seconds = std::chrono::system_clock::to_time_t(moment);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%S %M %H %d %m *", &utc);
    return text.data();
}

std::string quoted(std::string const& text) { return "'" + text + "'"; }

}  // namespace

// --- a cluster ---

Cluster::Cluster(std::string kubeconfig) : kubeconfig_(std::move(kubeconfig)) {
    auto const access = k8s::read_kubeconfig_file(kubeconfig_, [] { return std::chrono::system_clock::now(); });
    EXPECT_TRUE(access.has_value()) << access.error().message;
    auto api = k8s::connect(*access, {});
    EXPECT_TRUE(api.has_value()) << api.error().message;
    api_ = std::move(api).value();
}

Json Cluster::read(k8s::Resource const& resource, k8s::ObjectKey const& key) const {
    auto found = k8s::send_one(*api_, k8s::get(resource, key), soon());
    if (found) return std::move(found).value();
    EXPECT_EQ(found.error().kind, k8s::Error::Kind::NotFound) << found.error().message;
    return nullptr;
}

std::vector<Json> Cluster::list(k8s::Resource const& resource, std::string const& namespace_, std::string const& selector) const {
    auto const found = k8s::send_one(*api_, k8s::list(resource, namespace_, selector), soon());
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found ? k8s::items_of(*found).get<std::vector<Json>>() : std::vector<Json>{};
}

Json Cluster::apply(k8s::Resource const& resource, Json object) const {
    object["apiVersion"] = k8s::api_version(resource);
    object["kind"] = resource.kind;
    auto const written = k8s::send_one(*api_, k8s::apply(resource, std::move(object), "somebody"), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return written ? *written : Json{};
}

Json Cluster::patch(k8s::Resource const& resource, k8s::ObjectKey const& key, Json patch, std::string const& subresource) const {
    k8s::Request request = k8s::merge_patch(resource, key, std::move(patch), "somebody");
    request.subresource = subresource;
    auto const written = k8s::send_one(*api_, std::move(request), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return written ? *written : Json{};
}

std::size_t Cluster::patch_all(k8s::Resource const& resource, std::vector<k8s::ObjectKey> const& keys, Json const& patch) const {
    std::vector<k8s::Request> requests;
    for (auto const& key : keys) requests.push_back(k8s::merge_patch(resource, key, patch, "somebody"));
    auto const answers = api_->send(requests, soon());
    return static_cast<std::size_t>(
        std::count_if(answers.begin(), answers.end(), [](k8s::Answer const& answer) { return answer.result.has_value(); }));
}

void Cluster::remove(k8s::Resource const& resource, k8s::ObjectKey const& key) const {
    auto const removed = k8s::send_one(*api_, k8s::remove(resource, key, {}), soon());
    bool const gone = removed || removed.error().kind == k8s::Error::Kind::NotFound;
    EXPECT_TRUE(gone) << removed.error().message;
}

std::size_t Cluster::create_all(k8s::Resource const& resource, std::vector<Json> objects) const {
    std::vector<k8s::Request> requests;
    for (auto& object : objects) {
        object["apiVersion"] = k8s::api_version(resource);
        object["kind"] = resource.kind;
        requests.push_back(k8s::create(resource, std::move(object), "somebody"));
    }
    std::size_t made = 0;
    for (auto const& answer : api_->send(requests, soon())) {
        EXPECT_TRUE(answer.result.has_value()) << answer.result.error().message;
        made += answer.result.has_value() ? 1U : 0U;
    }
    return made;
}

// --- the stack ---

void Installation::SetUp() {
    char const* const file = std::getenv("KRO_TEST_STACK");
    if (file == nullptr) GTEST_SKIP() << "KRO_TEST_STACK names no stack.json";
    auto stack = base::parse_json(content_of(file));
    ASSERT_TRUE(stack.has_value()) << file << ": " << stack.error();
    stack_ = *std::move(stack);
    stack_["folder"] = std::filesystem::path{file}.parent_path().string();
    for (auto const& part : {"registry", "node"}) {
        ASSERT_TRUE(stack_.contains(part)) << "the stack was started without a part: tests/stack/up DIR --with " << part;
    }
    for (auto const& [name, cluster] : member(stack_, "clusters").items()) {
        clusters_.emplace(name, std::make_unique<Cluster>(text_of(member(cluster, "kubeconfig"))));
    }
    password_ = text_of(member(stack_, "registry", "password"));
    if (installed_overlay() != overlay()) {
        remove_overlay();
        install_overlay();
        installed_overlay() = overlay();
    }
    put_login(password_);
    configure();
    settle();
}

void Installation::TearDown() {
    if (clusters_.empty()) return;
    if (HasFailure()) ADD_FAILURE() << story();
    if (link_is_cut_) restore_link();
    if (tenants_stay_) return;
    for (auto const& tenant : tenants_) remove_kro(tenant);
    // What no event announces, as that a control plane's last ResourceGraphDefinition has gone, waits for a tick.
    std::size_t left = 0;
    auto changed = steady_clock::now();
    eventually("the tenants are gone", [&] {
        std::size_t const now = count_left();
        if (now != left) changed = steady_clock::now();
        left = now;
        if (left > 0 && steady_clock::now() - changed > kUntilTick) tick();
        return left == 0;
    });
    if (flux_is_held_) signal_flux(SIGCONT);
    for (auto const& tenant : tenants_) {
        onboarding().remove(k8s::kNamespaces, {{}, tenant.namespace_});
        platform().remove(k8s::kNamespaces, {{}, kro::tenant_namespace(tenant)});
    }
}

std::size_t Installation::count_left() {
    auto const left = onboarding().list(kro::kKros);
    return static_cast<std::size_t>(std::count_if(left.begin(), left.end(), [&](Json const& one) {
        return std::any_of(tenants_.begin(), tenants_.end(), [&](kro::Tenant const& tenant) {
            return k8s::key_of(one) == k8s::ObjectKey{tenant.namespace_, tenant.name};
        });
    }));
}

void Installation::install_overlay() {
    std::string const definition = std::string{KRO_SOURCE_DIR} + "/crds/kros.yaml";
    kubectl(onboarding(), "apply --server-side --filename=" + quoted(definition));
    kubectl(onboarding(), "wait --for=condition=Established --filename=" + quoted(definition));
    std::string const folder = std::string{KRO_SOURCE_DIR} + "/knative/overlays/" + overlay();
    kubectl(platform(), "apply --server-side --force-conflicts --kustomize=" + quoted(folder));
    set_schedule(std::string{kNever});
    // The adapter of the onboarding cluster starts with the access to it, which the function asks for when it is first called.
    if (overlay() == "split") tick();
    eventually("every source of " + overlay() + " is Ready", [&] { return sources_are_ready(); });
}

void Installation::remove_overlay() {
    for (auto const& resource : kOurSources) {
        for (auto const& object : platform().list(resource, std::string{kNamespace})) {
            platform().remove(resource, k8s::key_of(object));
        }
    }
    eventually("the sources of before are gone", [&] {
        return std::all_of(kOurSources.begin(), kOurSources.end(), [&](k8s::Resource const& resource) {
            return platform().list(resource, std::string{kNamespace}).empty();
        });
    });
}

bool Installation::sources_are_ready() {
    std::size_t count = 0;
    for (auto const& resource : kOurSources) {
        for (auto const& object : platform().list(resource, std::string{kNamespace})) {
            auto const ready = k8s::find_condition(object, "Ready");
            bool const current = base::integer_of(member(object, "status", "observedGeneration")) == k8s::generation_of(object);
            if (!ready || ready->status != "True" || !current) return false;
            ++count;
        }
    }
    return count > 0;
}

bool Installation::adapters_are_settled(std::string const& namespace_) {
    for (auto const& deployment : platform().list(kDeployments, std::string{kNamespace})) {
        Json const& status = member(deployment, "status");
        Json const& replicas = member(deployment, "spec", "replicas");
        bool const current = base::integer_of(member(status, "observedGeneration")) == k8s::generation_of(deployment);
        if (!current || member(status, "readyReplicas") != replicas || member(status, "updatedReplicas") != replicas ||
            member(status, "replicas") != replicas) {
            return false;
        }
        std::string const settings = base::dump_json(member(deployment, "spec", "template"));
        bool const names_namespaces = settings.find(R"(\"allNamespaces\":true)") != std::string::npos;
        if (names_namespaces && settings.find(R"(\")" + namespace_ + R"(\")") == std::string::npos) return false;
    }
    return true;
}

// --- people ---

void Installation::configure(Json spec) {
    if (!spec.contains("pollInterval")) spec["pollInterval"] = "24h";
    if (!spec.contains("chartURL")) spec["chartURL"] = member(stack_, "registry", "chart");
    if (!spec.contains("imagePullSecret")) spec["imagePullSecret"] = {{"name", kLogin}};
    platform().apply(kro::kProviderConfigs, {{"metadata", {{"name", "kro"}}}, {"spec", std::move(spec)}});
}

kro::Tenant Installation::new_tenant(std::string const& name) {
    kro::Tenant const tenant{"project-x--ws-" + unique_word(), name};
    onboarding().apply(k8s::kNamespaces, {{"metadata", {{"name", tenant.namespace_}}}});
    tenants_.push_back(tenant);
    eventually("the adapters run", [&] { return adapters_are_settled(tenant.namespace_); });
    return tenant;
}

void Installation::order(kro::Tenant const& tenant, std::string const& version) {
    onboarding().apply(
        kro::kKros, {{"metadata", {{"name", tenant.name}, {"namespace", tenant.namespace_}}}, {"spec", {{"version", version}}}});
}

void Installation::install(kro::Tenant const& tenant, std::string const& version) {
    order(tenant, version);
    eventually("the Kro is Ready", [&] {
        if (is_ready(tenant)) return true;
        if (overlay() == "direct") tick();
        return false;
    });
}

void Installation::remove_kro(kro::Tenant const& tenant) { onboarding().remove(kro::kKros, {tenant.namespace_, tenant.name}); }

void Installation::put_login(std::string const& password) {
    std::string const user = text_of(member(stack_, "registry", "username"));
    Json auths;
    auths[text_of(member(stack_, "registry", "server"))] = {
        {"username", user}, {"password", password}, {"auth", base::encode_base64(user + ":" + password)}};
    platform().apply(k8s::kSecrets,
                     {{"metadata", {{"name", kLogin}, {"namespace", kNamespace}}},
                      {"type", "kubernetes.io/dockerconfigjson"},
                      {"data", {{".dockerconfigjson", base::encode_base64(base::dump_json({{"auths", auths}}))}}}});
}

void Installation::change_password(std::string const& password) {
    std::string const file = text_of(member(stack_, "registry", "htpasswd"));
    run("htpasswd -bBc " + quoted(file) + " " + text_of(member(stack_, "registry", "username")) + " " + quoted(password));
}

std::vector<kro::Tenant> Installation::many_tenants(std::size_t count) {
    std::vector<kro::Tenant> tenants;
    std::vector<Json> namespaces;
    for (std::size_t i = 0; i < count; ++i) {
        tenants.push_back({"project-x--ws-" + unique_word(), "acme"});
        namespaces.push_back({{"metadata", {{"name", tenants.back().namespace_}}}});
    }
    EXPECT_EQ(onboarding().create_all(k8s::kNamespaces, std::move(namespaces)), count);
    tenants_.insert(tenants_.end(), tenants.begin(), tenants.end());
    return tenants;
}

void Installation::order_all(std::vector<kro::Tenant> const& tenants, std::string const& version) {
    std::vector<Json> kros;
    for (auto const& tenant : tenants) {
        kros.push_back(
            {{"metadata", {{"name", tenant.name}, {"namespace", tenant.namespace_}}}, {"spec", {{"version", version}}}});
    }
    EXPECT_EQ(onboarding().create_all(kro::kKros, std::move(kros)), tenants.size());
}

// --- the machines ---

void Installation::process(std::string const& action, std::string const& name) {
    run(std::string{KRO_SOURCE_DIR} + "/tests/stack/process " + action + " " + quoted(text_of(member(stack_, "folder"))) + " " +
        name);
}

void Installation::signal_process(std::string const& name, int signal) {
    std::ifstream processes{text_of(member(stack_, "folder")) + "/processes"};
    std::string one, started;
    pid_t id = 0, found = 0;
    while (processes >> one >> id >> started) found = one == name ? id : found;
    ASSERT_NE(found, 0) << "the stack has no process " << name;
    EXPECT_EQ(::kill(found, signal), 0);
}

void Installation::hold_flux() {
    flux_is_held_ = true;
    signal_flux(SIGSTOP);
}

void Installation::signal_flux(int signal) {
    for (auto const* const name : {"source-controller", "helm-controller"}) signal_process(name, signal);
}

void Installation::cut_link() {
    link_is_cut_ = true;
    process("stop", "link");
}

void Installation::restore_link() {
    process("start", "link");
    link_is_cut_ = false;
}

void Installation::restart_api_server() {
    process("stop", "kube-apiserver-platform");
    process("start", "kube-apiserver-platform");
    std::string const ready =
        "curl --silent --insecure --fail " + text_of(member(stack_, "clusters", "platform", "server")) + "/readyz";
    eventually("the API server is ready", [&] { return std::system((ready + " >/dev/null").c_str()) == 0; });
}

// --- Knative ---

std::string Installation::schedule() {
    return text_of(member(platform().read(kPingSources, {std::string{kNamespace}, "kro-function-resync"}), "spec", "schedule"));
}

void Installation::signal_ping_adapter(int signal) {
    Json const report = pods();
    for (auto const& [name, pod] : report.at("pods").items()) {
        if (name.find("pingsource-mt-adapter") == std::string::npos) continue;
        EXPECT_EQ(::kill(pod.at("pid"), signal), 0);
    }
}

void Installation::set_schedule(std::string const& cron) {
    platform().patch(kPingSources, {std::string{kNamespace}, "kro-function-resync"},
                     {{"spec", {{"schedule", cron}, {"timezone", "UTC"}}}});
}

std::size_t Installation::answered_ticks() { return count_in_log(kFunctionLog, R"("type":"dev.knative.sources.ping")"); }

void Installation::tick() {
    std::size_t const before = answered_ticks();
    auto asked = steady_clock::time_point{};
    eventually("the function has answered a tick", [&] {
        if (answered_ticks() > before) return true;
        if (steady_clock::now() - asked > kTickPatience) {
            set_schedule(once_at(std::chrono::system_clock::now() + kUntilTick));
            asked = steady_clock::now();
        }
        return false;
    });
}

void Installation::scale_adapters(int replicas) {
    for (auto const& deployment : platform().list(kDeployments, std::string{kNamespace})) {
        std::string const name = k8s::name_of(deployment);
        if (name.find("dead-letter") != std::string::npos) continue;
        platform().patch(kDeployments, k8s::key_of(deployment), {{"spec", {{"replicas", replicas}}}});
        eventually(name + " has " + std::to_string(replicas) + " replicas", [&] {
            auto const running = pods()["deployments"].value(std::string{kNamespace} + "/" + name, Json::object());
            return running.value("ready", 0) == replicas;
        });
    }
}

// --- what can be seen ---

std::string Installation::chart_tag(kro::Tenant const& tenant) {
    return text_of(member(oci_repository(tenant), "spec", "ref", "tag"));
}

std::string Installation::message(kro::Tenant const& tenant) {
    auto const ready = k8s::find_condition(kro(tenant), "Ready");
    return ready ? ready->message : "";
}

bool Installation::is_ready(kro::Tenant const& tenant) {
    Json const now = kro(tenant);
    return text_of(member(now, "status", "phase")) == "Ready" &&
           base::integer_of(member(now, "status", "observedGeneration")) == k8s::generation_of(now);
}

Json Installation::helm_release(kro::Tenant const& tenant) {
    return platform().read(kro::kHelmReleases, in_tenant(tenant, std::string{kro::kHelmReleaseName}));
}

Json Installation::oci_repository(kro::Tenant const& tenant) {
    return platform().read(kro::kOciRepositories, in_tenant(tenant, std::string{kro::kOciRepositoryName}));
}

std::size_t Installation::count_with_helm_release(std::vector<kro::Tenant> const& tenants) {
    std::set<std::string> namespaces;
    for (auto const& release : platform().list(kro::kHelmReleases)) namespaces.insert(k8s::namespace_of(release));
    return static_cast<std::size_t>(std::count_if(tenants.begin(), tenants.end(), [&](kro::Tenant const& tenant) {
        return namespaces.contains(kro::tenant_namespace(tenant));
    }));
}

std::string Installation::installed(std::string const& control_plane_name) {
    for (auto const& deployment :
         control_plane(control_plane_name).list(kDeployments, std::string{kro::kControlPlaneNamespace})) {
        return k8s::label_of(deployment, "app.kubernetes.io/version");
    }
    return "";
}

std::string Installation::run(std::string const& command) {
    std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen((command + " 2>&1").c_str(), "r"), ::pclose};
    std::string output;
    std::array<char, 4096> buffer{};
    while (std::size_t const size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) output.append(buffer.data(), size);
    EXPECT_EQ(::pclose(pipe.release()), 0) << command << ": " << output;
    return output;
}

std::string Installation::kubectl(Cluster const& cluster, std::string const& arguments) {
    return run(text_of(member(stack_, "kubectl")) + " --kubeconfig=" + quoted(cluster.kubeconfig()) + " " + arguments);
}

Json Installation::pods() {
    auto report = base::parse_json(content_of(text_of(member(stack_, "node", "state"))));
    EXPECT_TRUE(report.has_value()) << report.error();
    return report ? *std::move(report) : Json::object();
}

std::vector<pid_t> Installation::functions() {
    std::vector<pid_t> running;
    Json const report = pods();
    for (auto const& pod : report.at("pods")) {
        if (text_of(member(pod, "service")) == std::string{kNamespace} + "/kro-function") running.push_back(pod.at("pid"));
    }
    return running;
}

int Installation::function_starts() {
    return pods()["services"].value(std::string{kNamespace} + "/kro-function", Json::object()).value("starts", 0);
}

std::string Installation::log_of(std::string const& name) {
    std::string all;
    for (auto const& file : std::filesystem::directory_iterator{text_of(member(stack_, "folder")) + "/logs"}) {
        if (file.path().filename().string().find(name) != std::string::npos) all += content_of(file.path());
    }
    return all;
}

std::size_t Installation::count_in_log(std::string const& name, std::string const& words) {
    std::istringstream lines{log_of(name)};
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos ? 1U : 0U;
    return count;
}

void Installation::eventually(std::string const& what, std::function<bool()> const& it_is_so) {
    auto const deadline = steady_clock::now() + kPatience;
    while (!it_is_so()) {
        if (steady_clock::now() > deadline) {
            ADD_FAILURE() << "still not so: " << what;
            return;
        }
        std::this_thread::sleep_for(kLook);
    }
}

void Installation::settle() {
    auto const state = [&] {
        std::string all = std::to_string(log_of(kFunctionLog).size());
        for (auto const& one : onboarding().list(kro::kKros)) all += k8s::resource_version_of(one);
        for (auto const& resource : {kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases}) {
            for (auto const& one : platform().list(resource)) all += k8s::resource_version_of(one);
        }
        return all;
    };
    std::string last = state();
    auto quiet_since = steady_clock::now();
    eventually("nothing changes", [&] {
        std::string now = state();
        if (now != last) quiet_since = steady_clock::now();
        last = std::move(now);
        return steady_clock::now() - quiet_since > kQuiet;
    });
}

std::string Installation::story() {
    std::ostringstream out;
    for (auto const& tenant : tenants_) {
        for (auto const& object : {kro(tenant), oci_repository(tenant), helm_release(tenant)})
            out << base::dump_json(object) << "\n";
    }
    std::string const log = log_of(kFunctionLog);
    out << "the end of the function's log:\n" << log.substr(log.size() - std::min<std::size_t>(log.size(), 12'000));
    return out.str();
}

}  // namespace journeys
