#include "conformance.hpp"

#include "k8s/condition.hpp"
#include "k8s/http_api.hpp"
#include "k8s/kubeconfig.hpp"
#include "k8s/memory_api.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace conformance {
namespace {

using base::member;
using base::text_of;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{30};

base::Deadline soon() { return steady_clock::now() + kPatience; }

Json text() { return {{"type", "string"}}; }

Json widget_schema() {
    Json const texts = {{"type", "array"}, {"items", text()}};
    Json set = texts;
    set["x-kubernetes-list-type"] = "set";
    Json const puller = {{"type", "object"}, {"required", {"name"}}, {"properties", {{"name", text()}, {"note", text()}}}};
    Json const pullers = {
        {"type", "array"}, {"items", puller}, {"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"name"}}};
    Json const condition = {{"type", "object"},
                            {"required", {"type", "status"}},
                            {"properties",
                             {{"type", text()},
                              {"status", text()},
                              {"reason", {{"type", "string"}, {"minLength", 1}}},
                              {"message", {{"type", "string"}, {"maxLength", 20}}},
                              {"lastTransitionTime", text()},
                              {"observedGeneration", {{"type", "integer"}}}}}};
    Json const conditions = {
        {"type", "array"}, {"items", condition}, {"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"type"}}};
    Json const fixed = {{"type", "string"},
                        {"x-kubernetes-validations", {{{"rule", "self == oldSelf"}, {"message", "fixed is immutable"}}}}};
    Json const spec = {{"type", "object"},
                       {"properties",
                        {{"size", {{"type", "integer"}}},
                         {"provider", {{"type", "string"}, {"default", "generic"}}},
                         {"color", {{"type", "string"}, {"enum", {"red", "blue"}}}},
                         {"interval", text()},
                         {"period", {{"type", "string"}, {"pattern", "^[0-9]+[smh]$"}}},
                         {"count", {{"type", "integer"}, {"minimum", 1}, {"maximum", 3}}},
                         {"few", {{"type", "array"}, {"minItems", 1}, {"maxItems", 2}, {"items", text()}}},
                         {"maybe", {{"type", "string"}, {"nullable", true}}},
                         {"nested", {{"type", "object"}, {"properties", {{"a", text()}, {"b", text()}}}}},
                         {"fixed", fixed},
                         {"list", texts},
                         {"set", set},
                         {"pullers", pullers},
                         {"labels", {{"type", "object"}, {"additionalProperties", text()}}},
                         {"values", {{"x-kubernetes-preserve-unknown-fields", true}}},
                         {"object", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}};
    Json const status = {
        {"type", "object"},
        {"required", {"phase"}},
        {"properties", {{"phase", text()}, {"observedGeneration", {{"type", "integer"}}}, {"conditions", conditions}}}};
    return {{"type", "object"}, {"properties", {{"spec", spec}, {"status", status}}}};
}

Json definition_of(k8s::Resource const& resource, std::string const& singular, Json schema) {
    bool const namespaced = resource.scope == k8s::Resource::Scope::Namespaced;
    Json version = {
        {"name", resource.version}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", std::move(schema)}}}};
    if (namespaced) version["subresources"] = {{"status", Json::object()}};
    std::string const kind{resource.kind};
    return {{"apiVersion", "apiextensions.k8s.io/v1"},
            {"kind", "CustomResourceDefinition"},
            {"metadata", {{"name", std::string{resource.plural} + "." + std::string{resource.group}}}},
            {"spec",
             {{"group", resource.group},
              {"scope", namespaced ? "Namespaced" : "Cluster"},
              {"names", {{"plural", resource.plural}, {"singular", singular}, {"kind", kind}, {"listKind", kind + "List"}}},
              {"versions", Json::array({std::move(version)})}}}};
}

/// Installs a definition and waits until its path answers. It stays: other tests may be using it.
void install(k8s::Api& api, Json const& definition, k8s::Resource const& resource) {
    auto const until = steady_clock::now() + kPatience;
    auto const written = k8s::send_one(api, k8s::apply(k8s::kCustomResourceDefinitions, definition, "conformance"), soon());
    ASSERT_TRUE(written.has_value()) << written.error().message;
    while (true) {
        auto const found = k8s::send_one(api, k8s::get(k8s::kCustomResourceDefinitions, {"", k8s::name_of(definition)}), soon());
        auto const established = found ? k8s::find_condition(*found, "Established") : std::nullopt;
        if (established && established->status == "True" && k8s::send_one(api, k8s::list(resource, ""), soon())) return;
        ASSERT_LT(steady_clock::now(), until) << "the definition is never established";
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
}

std::unique_ptr<k8s::Api> memory_server() {
    k8s::MemoryOptions options;
    options.namespaces = k8s::MemoryOptions::Namespaces::Left;
    options.respell_numbers = true;
    return std::make_unique<k8s::MemoryApi>([] { return std::chrono::system_clock::now(); }, options);
}

/// Any cluster of the stack will do: the suite brings what it needs.
std::unique_ptr<k8s::Api> real_server(std::string const& stack_file) {
    std::ostringstream content;
    content << std::ifstream{stack_file}.rdbuf();
    auto const stack = base::parse_json(content.str());
    if (!stack || member(*stack, "clusters").empty()) return nullptr;
    auto const& clusters = (*stack)["clusters"];
    auto const& cluster = clusters.contains("platform") ? clusters["platform"] : clusters.front();
    auto const access =
        k8s::read_kubeconfig_file(text_of(member(cluster, "kubeconfig")), [] { return std::chrono::system_clock::now(); });
    if (!access) {
        ADD_FAILURE() << access.error().message;
        return nullptr;
    }
    auto api = k8s::connect(*access, {});
    return api ? std::move(api).value() : nullptr;
}

std::string unique_name() {
    static int counter = 0;
    auto const now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds{1};
    return "conformance-" + std::to_string(now) + "-" + std::to_string(getpid()) + "-" + std::to_string(++counter);
}

}  // namespace

std::string name_of(testing::TestParamInfo<Server> const& info) {
    return info.param == Server::Memory ? "InMemory" : "OnARealServer";
}

void Conformance::SetUp() {
    if (GetParam() == Server::Memory) {
        api_ = memory_server();
    } else {
        char const* const stack = std::getenv("KRO_TEST_STACK");
        if (stack == nullptr) GTEST_SKIP() << "KRO_TEST_STACK names no stack.json";
        api_ = real_server(stack);
        ASSERT_NE(api_, nullptr) << "no cluster in " << stack;
    }
    install(*api_, definition_of(kWidgets, "widget", widget_schema()), kWidgets);
    install(*api_, definition_of(kGadgets, "gadget", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}),
            kGadgets);
    namespace_ = unique_name();
    must(k8s::create(k8s::kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}},
                     "conformance"));
}

void Conformance::TearDown() {
    if (!api_ || namespace_.empty()) return;
    for (auto const& resource : {kWidgets, k8s::kSecrets, k8s::kConfigMaps}) {
        auto const left = ask(k8s::list(resource, namespace_));
        if (!left) continue;
        for (auto const& object : (*left)["items"]) {
            auto const place = k8s::key_of(object);
            if (object["metadata"].contains("finalizers")) {
                static_cast<void>(
                    ask(k8s::merge_patch(resource, place, {{"metadata", {{"finalizers", nullptr}}}}, "conformance")).has_value());
            }
            static_cast<void>(ask(k8s::remove(resource, place, {})).has_value());
        }
    }
    static_cast<void>(ask(k8s::remove(k8s::kNamespaces, {"", namespace_}, {})).has_value());
}

k8s::Result<Json> Conformance::ask(Request request) { return k8s::send_one(*api_, std::move(request), soon()); }

Json Conformance::must(Request request) {
    auto answer = ask(std::move(request));
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer ? std::move(answer).value() : Json();
}

Error Conformance::must_fail(Request request) {
    auto answer = ask(std::move(request));
    EXPECT_FALSE(answer.has_value()) << base::dump_json(*answer);
    return answer ? Error{} : std::move(answer).error();
}

Json Conformance::widget(std::string const& name, Json spec, Json metadata) const {
    Json object = {{"apiVersion", k8s::api_version(kWidgets)}, {"kind", kWidgets.kind}, {"metadata", std::move(metadata)}};
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = namespace_;
    if (!spec.is_null()) object["spec"] = std::move(spec);
    return object;
}

Json Conformance::widget_status(std::string const& name, Json status, Json metadata) const {
    Json object = widget(name, nullptr, std::move(metadata));
    object["status"] = std::move(status);
    return object;
}

Json fields_of(Json const& object, std::string_view manager, std::string_view operation, std::string_view subresource) {
    auto const& entries = member(object, "metadata", "managedFields");
    if (!entries.is_array()) return nullptr;
    for (auto const& entry : entries) {
        bool const is_it = text_of(member(entry, "manager")) == manager && text_of(member(entry, "operation")) == operation &&
                           text_of(member(entry, "subresource")) == subresource;
        if (is_it) return entry["fieldsV1"];
    }
    return nullptr;
}

std::vector<std::string> managers_of(Json const& object) {
    std::vector<std::string> managers;
    auto const& entries = member(object, "metadata", "managedFields");
    if (!entries.is_array()) return managers;
    for (auto const& entry : entries) {
        auto const subresource = text_of(member(entry, "subresource"));
        managers.push_back(text_of(member(entry, "manager")) + " " + text_of(member(entry, "operation")) +
                           (subresource.empty() ? "" : " " + subresource));
    }
    return managers;
}

}  // namespace conformance
