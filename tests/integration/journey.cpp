#include "journey.hpp"

#include "base/base64.hpp"
#include "function/reconcile/onboarding.hpp"
#include "k8s/condition.hpp"
#include "tests/component/source.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace integration {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kLook{50};
/// How long nothing may change before it counts as settled; longer than a watch takes to tell a change.
constexpr std::chrono::milliseconds kQuiet{300};
constexpr std::size_t kLinesOfStory = 40;

base::Deadline soon() { return steady_clock::now() + kPatience; }

base::Clock system_clock() {
    return [] { return std::chrono::system_clock::now(); };
}

std::string content_of(std::string const& file) {
    std::ostringstream content;
    content << std::ifstream{file}.rdbuf();
    return content.str();
}

std::string unique_word() {
    static int counter = 0;
    auto const now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds{1};
    return std::to_string(now) + "-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

std::shared_ptr<k8s::Api> open(k8s::ClusterAccess const& access) {
    auto api = k8s::connect(access, {});
    return api ? std::shared_ptr<k8s::Api>{std::move(api).value()} : nullptr;
}

/// Whom an ApiServerSource of an installation tells of this change: everything but the tenants' Secrets.
bool is_an_event(k8s::Change const& change, std::string const& provider_namespace) {
    bool const core = change.resource == k8s::kSecrets || change.resource == k8s::kConfigMaps;
    return !core || k8s::namespace_of(change.object) == provider_namespace;
}

bool concerns_platform(k8s::Change const& change) {
    constexpr std::array kTheirs{kro::kClusterRequests, kro::kAccessRequests, kro::kOciRepositories, kro::kHelmReleases};
    return std::find(kTheirs.begin(), kTheirs.end(), change.resource) != kTheirs.end();
}

}  // namespace

void Journey::SetUp() {
    char const* const file = std::getenv("KRO_TEST_STACK");
    if (file == nullptr) GTEST_SKIP() << "KRO_TEST_STACK names no stack.json";
    auto stack = base::parse_json(content_of(file));
    ASSERT_TRUE(stack.has_value()) << file << ": " << stack.error();
    stack_ = *std::move(stack);
    std::string const word = unique_word();
    tenant_ = {"project-it--ws-" + word, "acme"};
    provider_ = "kro-" + word;
    provider_namespace_ = "openmcp-system-" + word;
    platform_ = open(access_to("platform"));
    control_plane_ = open(access_to("mcp-01"));
    make_namespace(*platform_, provider_namespace_);
}

void Journey::start(int programs) {
    onboarding_ = open(access_to(onboarding_cluster_));
    make_namespace(*onboarding_, tenant_.namespace_);
    std::string const tenants_cluster = kubeconfig_of("mcp-01");
    std::string const onboarding = kubeconfig_of(onboarding_cluster_);
    stand_in_ = std::make_unique<kro::StandIn>(*platform_, system_clock(), [=](Json const& request) {
        return content_of(k8s::name_of(request) == kro::onboarding_request_name() ? onboarding : tenants_cluster);
    });
    stand_in_worker_ = std::make_unique<Worker<k8s::Change>>([this](k8s::Change const& change) { stand_in_->react(change); });

    std::vector<std::string> const arguments{"serve",
                                             "--port",
                                             "0",
                                             "--kubeconfig",
                                             kubeconfig_of("platform"),
                                             "--onboarding",
                                             onboarding_is_requested_ ? "requested" : onboarding,
                                             "--provider-name",
                                             provider_,
                                             "--verbosity",
                                             "DEBUG"};
    for (int i = 0; i < programs; ++i) {
        programs_.push_back(std::make_unique<Program>(arguments, provider_namespace_));
        auto const port = programs_.back()->port();
        ASSERT_TRUE(port) << "kro-function does not serve\n" << story();
        sources_.push_back(std::make_unique<EventSource>(*port));
    }
    std::vector<Watched> const all{watched(*onboarding_, onboarding_cluster_, kros_),
                                   watched(*platform_, "platform", kro::kProviderConfigs),
                                   watched(*platform_, "platform", kro::kClusterRequests),
                                   watched(*platform_, "platform", kro::kAccessRequests),
                                   watched(*platform_, "platform", kro::kOciRepositories),
                                   watched(*platform_, "platform", kro::kHelmReleases),
                                   watched(*platform_, "platform", k8s::kSecrets),
                                   watched(*platform_, "platform", k8s::kConfigMaps),
                                   watched(*control_plane_, "mcp-01", k8s::kSecrets, std::string{kro::kControlPlaneNamespace})};
    watcher_ = std::make_unique<Watcher>(all, [this](k8s::Change change) { take(std::move(change)); });
}

void Journey::TearDown() {
    if (programs_.empty()) return;
    EXPECT_EQ(watcher_ ? watcher_->broken() : "", "");
    for (auto const& source : sources_) EXPECT_EQ(source->lost(), std::vector<std::string>{});
    if (HasFailure()) ADD_FAILURE() << story();
    watcher_ = nullptr;
    sources_.clear();
    for (auto const& program : programs_) EXPECT_EQ(program->stop(), 0) << "of a program that was asked to end";
    programs_.clear();
    stand_in_worker_ = nullptr;
    std::string const mine = std::string{kro::kManagedByLabel} + "=" + std::string{kro::kGroup};
    remove_left(*onboarding_, kros_, tenant_.namespace_);
    for (auto const& resource : {kro::kHelmReleases, kro::kOciRepositories, kro::kAccessRequests, k8s::kSecrets}) {
        remove_left(*platform_, resource, kro::tenant_namespace(tenant_));
    }
    for (auto const& resource : {kro::kAccessRequests, kro::kClusterRequests, k8s::kSecrets, k8s::kConfigMaps}) {
        remove_left(*platform_, resource, provider_namespace_);
    }
    for (auto const& resource : {k8s::kSecrets, k8s::kConfigMaps}) {
        remove_left(*control_plane_, resource, std::string{kro::kControlPlaneNamespace}, mine);
    }
    static_cast<void>(k8s::send_one(*platform_, k8s::remove(kro::kProviderConfigs, {{}, provider_}, {}), soon()));
}

void Journey::remove_left(k8s::Api& api, k8s::Resource const& resource, std::string const& namespace_,
                          std::string const& selector) {
    auto const left = k8s::send_one(api, k8s::list(resource, namespace_, selector), soon());
    if (!left) return;
    for (auto const& object : member(*left, "items")) {
        k8s::ObjectKey const key = k8s::key_of(object);
        if (!k8s::finalizers_of(object).empty()) {
            static_cast<void>(
                k8s::send_one(api, k8s::merge_patch(resource, key, {{"metadata", {{"finalizers", nullptr}}}}, "test"), soon()));
        }
        static_cast<void>(k8s::send_one(api, k8s::remove(resource, key, {}), soon()));
    }
}

// --- the stack ---

std::string Journey::kubeconfig_of(std::string const& cluster) const {
    return text_of(member(stack_, "clusters", cluster, "kubeconfig"));
}

k8s::ClusterAccess Journey::access_to(std::string const& cluster) const {
    auto const access = k8s::read_kubeconfig_file(kubeconfig_of(cluster), system_clock());
    EXPECT_TRUE(access.has_value()) << "no cluster " << cluster << " in the stack: " << access.error().message;
    return access ? *access : k8s::ClusterAccess{};
}

Watched Journey::watched(k8s::Api& api, std::string const& cluster, k8s::Resource const& resource,
                         std::string const& namespace_) {
    k8s::Request request = k8s::list(resource, namespace_);
    request.contents = k8s::Request::Contents::Metadata;
    auto const now = k8s::send_one(api, request, soon());
    EXPECT_TRUE(now.has_value()) << now.error().message;
    return {access_to(cluster), resource, namespace_, now ? text_of(member(*now, "metadata", "resourceVersion")) : ""};
}

void Journey::make_namespace(k8s::Api& api, std::string const& name) {
    create(api, k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
}

void Journey::kubectl(std::string const& cluster, std::string const& arguments) {
    std::string const command =
        text_of(member(stack_, "kubectl")) + " --kubeconfig=" + kubeconfig_of(cluster) + " " + arguments + " >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

void Journey::take(k8s::Change change) {
    if (is_an_event(change, provider_namespace_)) {
        for (auto const& source : sources_) source->offer(change);
    }
    std::lock_guard const lock{mutex_};
    if (held_plurals_.contains(change.resource.plural)) {
        held_.push_back(change);
    } else if (concerns_platform(change)) {
        stand_in_worker_->offer(change);
    }
    changes_.push_back(std::move(change));
    changed_.notify_all();
}

Json Journey::definition_of_kros() {
    return read(*open(access_to("onboarding")), k8s::kCustomResourceDefinitions, {{}, "kros.kro.services.openmcp.cloud"});
}

void Journey::install_definition(Json definition) {
    auto const cluster = open(access_to(onboarding_cluster_));
    k8s::ObjectKey const key = k8s::key_of(definition);
    auto const written =
        k8s::send_one(*cluster, k8s::apply(k8s::kCustomResourceDefinitions, std::move(definition), "test"), soon());
    ASSERT_TRUE(written.has_value()) << written.error().message;
    EXPECT_TRUE(eventually([&] { return k8s::send_one(*cluster, k8s::list(kros_, {}), soon()).has_value(); }));
}

// --- what people do ---

void Journey::configure(Json spec) {
    Json const object = {{"apiVersion", k8s::api_version(kro::kProviderConfigs)},
                         {"kind", kro::kProviderConfigs.kind},
                         {"metadata", {{"name", provider_}}},
                         {"spec", std::move(spec)}};
    auto const written = k8s::send_one(*platform_, k8s::apply(kro::kProviderConfigs, object, "operator"), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
}

void Journey::order(std::string const& version) {
    Json const object = {{"apiVersion", k8s::api_version(kros_)},
                         {"kind", kros_.kind},
                         {"metadata", {{"name", tenant_.name}, {"namespace", tenant_.namespace_}}},
                         {"spec", {{"version", version}}}};
    auto const written = k8s::send_one(*onboarding_, k8s::apply(kros_, object, "user"), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
}

void Journey::annotate_kro(std::string const& annotation, Json value) {
    change(*onboarding_, kros_, kro_key(), {{"metadata", {{"annotations", {{annotation, std::move(value)}}}}}});
}

void Journey::delete_kro() { destroy(*onboarding_, kros_, kro_key()); }

void Journey::put_pull_secret(std::string const& name, std::string const& password) {
    Json const login = {{"auths", {{"registry.example.com", {{"username", "robot"}, {"password", password}}}}}};
    Json const object = {{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", {{"name", name}, {"namespace", provider_namespace_}}},
                         {"type", "kubernetes.io/dockerconfigjson"},
                         {"data", {{".dockerconfigjson", base::encode_base64(base::dump_json(login))}}}};
    auto const written = k8s::send_one(*platform_, k8s::apply(k8s::kSecrets, object, "operator"), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
}

Json Journey::create(k8s::Api& api, k8s::Resource const& resource, Json object, std::string_view manager) {
    auto const written = k8s::send_one(api, k8s::create(resource, std::move(object), manager), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return written ? *written : Json{};
}

Json Journey::change(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key, Json patch, std::string_view manager) {
    auto const written = k8s::send_one(api, k8s::merge_patch(resource, std::move(key), std::move(patch), manager), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return written ? *written : Json{};
}

void Journey::destroy(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key) {
    auto const removed = k8s::send_one(api, k8s::remove(resource, std::move(key), {}), soon());
    EXPECT_TRUE(removed.has_value()) << removed.error().message;
}

// --- the platform and Flux ---

void Journey::hold(k8s::Resource const& resource) {
    std::lock_guard const lock{mutex_};
    held_plurals_.insert(resource.plural);
}

void Journey::release(k8s::Resource const& resource) {
    std::lock_guard const lock{mutex_};
    held_plurals_.erase(resource.plural);
    for (auto const& change : held_) {
        if (change.resource == resource) stand_in_worker_->offer(change);
    }
    std::erase_if(held_, [&](k8s::Change const& change) { return change.resource == resource; });
}

void Journey::deny_access(std::string const& message) {
    Json const request = access_request();
    k8s::Condition const refusal{"Granted", "False", "Refused", message, k8s::generation_of(request)};
    Json const status = {{"phase", "Denied"},
                         {"observedGeneration", k8s::generation_of(request)},
                         {"conditions", k8s::with_condition(Json::array(), refusal, std::chrono::system_clock::now())}};
    Json object = {{"apiVersion", k8s::api_version(kro::kAccessRequests)},
                   {"kind", kro::kAccessRequests.kind},
                   {"metadata", {{"name", k8s::name_of(request)}, {"namespace", k8s::namespace_of(request)}}},
                   {"status", status}};
    auto const written = k8s::send_one(*platform_, k8s::apply_status(kro::kAccessRequests, object, "platform"), soon());
    EXPECT_TRUE(written.has_value()) << written.error().message;
}

// --- the function ---

int Journey::tick() { return post(port(), component::ping_event()); }

// --- what can be seen ---

Json Journey::read(k8s::Api& api, k8s::Resource const& resource, k8s::ObjectKey key) {
    auto found = k8s::send_one(api, k8s::get(resource, std::move(key)), soon());
    if (found) return std::move(found).value();
    EXPECT_EQ(found.error().kind, k8s::Error::Kind::NotFound) << found.error().message;
    return nullptr;
}

Journey::Condition Journey::ready_condition() {
    auto const ready = k8s::find_condition(kro(), "Ready");
    return ready ? Condition{ready->reason, ready->message} : Condition{};
}

bool Journey::is_ready() {
    Json const now = kro();
    return text_of(member(now, "status", "phase")) == "Ready" &&
           base::integer_of(member(now, "status", "observedGeneration")) == k8s::generation_of(now);
}

std::vector<k8s::Change> Journey::history_of(k8s::Resource const& resource, k8s::ObjectKey const& key) const {
    std::lock_guard const lock{mutex_};
    std::vector<k8s::Change> history;
    std::copy_if(changes_.begin(), changes_.end(), std::back_inserter(history),
                 [&](k8s::Change const& change) { return change.resource == resource && k8s::key_of(change.object) == key; });
    return history;
}

std::int64_t Journey::revision_of_deletion(k8s::Resource const& resource, k8s::ObjectKey const& key) const {
    auto const history = history_of(resource, key);
    if (history.empty() || history.back().kind != k8s::Change::Kind::Deleted) {
        ADD_FAILURE() << resource.plural << " " << k8s::to_string(key) << " is not gone";
        return 0;
    }
    return std::stoll(k8s::resource_version_of(history.back().object));
}

std::set<std::string> Journey::reasons_so_far() const {
    std::set<std::string> reasons;
    for (auto const& change : history_of(kros_, kro_key())) {
        if (auto const ready = k8s::find_condition(change.object, "Ready")) reasons.insert(ready->reason);
    }
    return reasons;
}

std::map<std::string, std::string> Journey::versions() {
    auto versions = all_versions();
    versions.erase(k8s::path_of(kro::kProviderConfigs, {{}, provider_}));
    return versions;
}

std::map<std::string, std::string> Journey::all_versions() {
    struct Place {
        k8s::Api& api;
        k8s::Resource resource;
        std::string namespace_;
    };
    std::string const namespace_ = kro::tenant_namespace(tenant_);
    std::string const remote{kro::kControlPlaneNamespace};
    std::array const places{
        Place{*onboarding_, kros_, tenant_.namespace_},       Place{*onboarding_, k8s::kEvents, tenant_.namespace_},
        Place{*platform_, kro::kProviderConfigs, {}},         Place{*platform_, kro::kAccessRequests, namespace_},
        Place{*platform_, kro::kOciRepositories, namespace_}, Place{*platform_, kro::kHelmReleases, namespace_},
        Place{*platform_, k8s::kSecrets, namespace_},         Place{*platform_, k8s::kSecrets, provider_namespace_},
        Place{*control_plane_, k8s::kSecrets, remote},        Place{*control_plane_, k8s::kConfigMaps, remote}};
    std::map<std::string, std::string> versions;
    for (auto const& place : places) {
        auto const objects = k8s::send_one(place.api, k8s::list(place.resource, place.namespace_), soon());
        EXPECT_TRUE(objects.has_value()) << objects.error().message;
        if (!objects) continue;
        for (auto const& object : member(*objects, "items")) {
            versions[k8s::path_of(place.resource, k8s::key_of(object))] = k8s::resource_version_of(object);
        }
    }
    return versions;
}

// --- waiting ---

bool Journey::eventually(std::function<bool()> const& it_is_so) {
    auto const deadline = soon();
    while (!it_is_so()) {
        std::unique_lock lock{mutex_};
        if (steady_clock::now() > deadline) return false;
        changed_.wait_for(lock, kLook);
    }
    return true;
}

bool Journey::settled() {
    auto quiet_since = steady_clock::now();
    std::size_t known = 0;
    return eventually([&] {
        bool const idle = stand_in_worker_->is_idle() &&
                          std::all_of(sources_.begin(), sources_.end(), [](auto const& source) { return source->is_idle(); });
        std::unique_lock lock{mutex_};
        if (!idle || changes_.size() != known) quiet_since = steady_clock::now();
        known = changes_.size();
        lock.unlock();
        return steady_clock::now() - quiet_since > kQuiet && watches_are_current();
    });
}

bool Journey::watches_are_current() {
    std::map<std::string, std::string> told;
    {
        std::lock_guard const lock{mutex_};
        for (auto const& change : changes_) {
            told[k8s::path_of(change.resource, k8s::key_of(change.object))] = k8s::resource_version_of(change.object);
        }
    }
    auto const there = all_versions();
    return std::all_of(there.begin(), there.end(), [&](auto const& object) {
        auto const last = told.find(object.first);
        return last == told.end() || last->second == object.second;
    });
}

std::string Journey::story() {
    std::ostringstream out;
    if (onboarding_) out << "the Kro: " << base::dump_json(kro()) << "\n";
    {
        std::lock_guard const lock{mutex_};
        for (auto const& change : changes_) {
            constexpr std::array kWords{"added", "updated", "deleted"};
            out << k8s::resource_version_of(change.object) << " " << change.resource.plural << " "
                << k8s::to_string(k8s::key_of(change.object)) << " " << kWords.at(static_cast<std::size_t>(change.kind)) << "\n";
        }
    }
    for (auto const& program : programs_) {
        auto const lines = program->output();
        out << "the last lines of kro-function's log:\n";
        for (std::size_t i = lines.size() - std::min(lines.size(), kLinesOfStory); i < lines.size(); ++i) out << lines[i] << "\n";
    }
    return out.str();
}

}  // namespace integration
