#include "base/base64.hpp"
#include "function/server/http_service.hpp"
#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// From an HTTP message to what is then on the API servers, without a socket.
namespace {

using base::member;
using base::text_of;
using component::Json;
using component::ping_event;
using component::reference_event;
using component::resource_event;
using component::Simulation;
using events::HttpMessage;
using k8s::Change;
using kro::Cluster;
using support::kro_named;
using support::pull_secret;
using support::tenant_named;

kro::Tenant acme() { return tenant_named("acme"); }

/// Acme, brought to Ready; its requests forgotten.
std::unique_ptr<Simulation> ready_acme() {
    auto simulation = std::make_unique<Simulation>();
    simulation->create(kro_named("acme"));
    simulation->settle();
    EXPECT_EQ(simulation->world.phase_of(acme()), "Ready");
    simulation->count_from_here();
    return simulation;
}

/// The latest state of an object, as an update.
Change update_of(k8s::Resource const& resource, Json object) { return {Change::Kind::Updated, resource, std::move(object)}; }
Change kro_update(Simulation const& simulation) { return update_of(kro::kKros, simulation.world.kro(acme())); }
Change deletion_of(k8s::Resource const& resource, Json object) { return {Change::Kind::Deleted, resource, std::move(object)}; }

int status_of(Simulation& simulation, HttpMessage const& message) { return simulation.pod->handle(message).status; }

/// The chart version that Flux is told to install for acme.
std::string installed_version(Simulation const& simulation) {
    return text_of(member(simulation.world.oci_repository_of(acme()), "spec", "ref", "tag"));
}

void ask_for(Simulation& simulation, std::string const& version) {
    simulation.change_kro("acme", {{"spec", {{"version", version}}}});
}

HttpMessage with_header(HttpMessage message, std::string const& name, std::string const& value) {
    std::erase_if(message.headers, [&](auto const& header) { return header.first == name; });
    message.headers.emplace_back(name, value);
    return message;
}

HttpMessage without_header(HttpMessage message, std::string_view name) {
    std::erase_if(message.headers, [&](auto const& header) { return header.first == name; });
    return message;
}

/// The same event in the structured mode.
HttpMessage structured(HttpMessage const& binary, std::string const& content_type = "application/cloudevents+json") {
    HttpMessage message = events::to_structured(events::parse_http(binary).value().at(0));
    for (auto& [name, value] : message.headers) value = content_type;
    return message;
}

HttpMessage structured_body(std::string body) { return {{{"Content-Type", "application/cloudevents+json"}}, std::move(body)}; }

// --- Whom an event reaches

struct Reaching {
    char const* name;
    std::function<HttpMessage(Simulation&)> event;
};

Json old_operators(Json object) {
    object["metadata"].erase("labels");
    object["metadata"].erase("annotations");
    return object;
}

Json labelled_only(Json object) {
    object["metadata"].erase("annotations");
    return object;
}

Json used_secret(Simulation const& simulation) {
    return simulation.world.object(k8s::kSecrets, {std::string{support::kProviderNamespace}, "chart-pull"});
}

class EventsOfATenant : public testing::TestWithParam<Reaching> {};

/// What the event says is a hint: the change that it brings about is one that it does not tell of.
TEST_P(EventsOfATenant, BringItUpToDate) {
    Simulation simulation;
    simulation.create(pull_secret("chart-pull"));
    simulation.create(support::ca_bundle("corporate-ca"));
    simulation.change_provider_config(
        {{"spec",
          {{"imagePullSecret", {{"name", "chart-pull"}}}, {"caBundleRef", {{"name", "corporate-ca"}, {"key", "ca.crt"}}}}}});
    simulation.create(kro_named("acme"));
    simulation.settle();
    HttpMessage const event = GetParam().event(simulation);
    ask_for(simulation, "0.9.2");
    simulation.replace_pod();

    EXPECT_EQ(status_of(simulation, event), 204);
    EXPECT_EQ(installed_version(simulation), "0.9.2");
    EXPECT_TRUE(simulation.wrongs().empty());
}

INSTANTIATE_TEST_SUITE_P(
    , EventsOfATenant,
    testing::Values(
        Reaching{"KroAdded",
                 [](Simulation& one) {
                     return resource_event({Change::Kind::Added, kro::kKros, one.world.kro(acme())});
                 }},
        Reaching{"KroUpdated", [](Simulation& one) { return resource_event(kro_update(one)); }},
        Reaching{"KroDeleted", [](Simulation& one) { return resource_event(deletion_of(kro::kKros, one.world.kro(acme()))); }},
        Reaching{"KroByReference", [](Simulation& one) { return reference_event(kro_update(one)); }},
        Reaching{"KroDeletedByReference",
                 [](Simulation& one) { return reference_event(deletion_of(kro::kKros, one.world.kro(acme()))); }},
        Reaching{"KroStructured", [](Simulation& one) { return structured(resource_event(kro_update(one))); }},
        Reaching{"KroInABatch",
                 [](Simulation& one) {
                     auto const event = events::parse_http(resource_event(kro_update(one))).value().at(0);
                     auto const foreign =
                         events::parse_http(resource_event(update_of(k8s::kNamespaces, {{"metadata", {{"name", "default"}}}})))
                             .value()
                             .at(0);
                     return events::to_batch({foreign, event});
                 }},
        Reaching{"KroWithoutExtensions",
                 [](Simulation& one) {
                     auto message = resource_event(kro_update(one));
                     for (auto const* name : {"Ce-Kind", "Ce-Apiversion", "Ce-Name", "Ce-Namespace", "Ce-Subject"}) {
                         message = without_header(std::move(message), name);
                     }
                     return message;
                 }},
        Reaching{"KroWithoutData",
                 [](Simulation& one) {
                     return HttpMessage{resource_event(kro_update(one)).headers, ""};
                 }},
        Reaching{
            "AccessRequest",
            [](Simulation& one) { return resource_event(update_of(kro::kAccessRequests, one.world.access_request_of(acme()))); }},
        Reaching{"AccessRequestByReference",
                 [](Simulation& one) {
                     return reference_event(update_of(kro::kAccessRequests, one.world.access_request_of(acme())));
                 }},
        Reaching{"OciRepository",
                 [](Simulation& one) {
                     return resource_event(update_of(kro::kOciRepositories, one.world.oci_repository_of(acme())));
                 }},
        Reaching{
            "HelmRelease",
            [](Simulation& one) { return resource_event(update_of(kro::kHelmReleases, one.world.helm_release_of(acme()))); }},
        Reaching{
            "HelmReleaseDeleted",
            [](Simulation& one) { return resource_event(deletion_of(kro::kHelmReleases, one.world.helm_release_of(acme()))); }},
        Reaching{"HelmReleaseByLabels",
                 [](Simulation& one) {
                     return resource_event(update_of(kro::kHelmReleases, labelled_only(one.world.helm_release_of(acme()))));
                 }},
        Reaching{"HelmReleaseOfTheOlderOperator",
                 [](Simulation& one) {
                     return resource_event(update_of(kro::kHelmReleases, old_operators(one.world.helm_release_of(acme()))));
                 }},
        Reaching{
            "HelmReleaseByReference",
            [](Simulation& one) { return reference_event(update_of(kro::kHelmReleases, one.world.helm_release_of(acme()))); }},
        Reaching{"HelmReleaseOfAnotherVersion",
                 [](Simulation& one) {
                     auto message = reference_event(update_of(kro::kHelmReleases, one.world.helm_release_of(acme())));
                     message = with_header(std::move(message), "Ce-Apiversion", "helm.toolkit.fluxcd.io/v3");
                     message.body = "";
                     return message;
                 }},
        Reaching{"CopiedSecret",
                 [](Simulation& one) {
                     return resource_event(
                         update_of(k8s::kSecrets, one.world.object(k8s::kSecrets, support::copy_key(acme(), "chart-pull"))));
                 }},
        Reaching{
            "ProviderConfig",
            [](Simulation& one) {
                return resource_event(update_of(kro::kProviderConfigs, one.world.object(kro::kProviderConfigs, {{}, "kro"})));
            }},
        Reaching{
            "ProviderConfigByReference",
            [](Simulation& one) {
                return reference_event(update_of(kro::kProviderConfigs, one.world.object(kro::kProviderConfigs, {{}, "kro"})));
            }},
        Reaching{"UsedSecret", [](Simulation& one) { return resource_event(update_of(k8s::kSecrets, used_secret(one))); }},
        Reaching{"UsedSecretByReference",
                 [](Simulation& one) { return reference_event(update_of(k8s::kSecrets, used_secret(one))); }},
        Reaching{"UsedConfigMap",
                 [](Simulation& one) {
                     return reference_event(update_of(
                         k8s::kConfigMaps,
                         one.world.object(k8s::kConfigMaps, {std::string{support::kProviderNamespace}, "corporate-ca"})));
                 }},
        Reaching{"Ping", [](Simulation&) { return ping_event(); }},
        Reaching{"PingWithoutBody",
                 [](Simulation&) {
                     return HttpMessage{without_header(ping_event(), "Content-Type").headers, ""};
                 }},
        Reaching{"PingStructured", [](Simulation&) { return structured(ping_event()); }}),
    [](auto const& row) { return row.param.name; });

struct Passing {
    char const* name;
    std::function<HttpMessage(Simulation&)> event;
    std::size_t requests = 0;
};

class EventsOfNobody : public testing::TestWithParam<Passing> {};

TEST_P(EventsOfNobody, AreAnsweredAndLeadToNothing) {
    auto const simulation = ready_acme();
    EXPECT_EQ(status_of(*simulation, GetParam().event(*simulation)), 204);
    EXPECT_EQ(simulation->requests(), GetParam().requests);
    EXPECT_EQ(simulation->traffic(Cluster::Onboarding).requests, 0u);
}

HttpMessage about(k8s::Resource const& resource, std::string const& namespace_, std::string const& name) {
    return resource_event(update_of(resource, {{"metadata", {{"name", name}, {"namespace", namespace_}}}}));
}

INSTANTIATE_TEST_SUITE_P(
    , EventsOfNobody,
    testing::Values(
        Passing{"ProviderConfigOfAnotherName", [](Simulation&) { return about(kro::kProviderConfigs, "", "other"); }},
        Passing{"UnusedSecret", [](Simulation&) { return about(k8s::kSecrets, "openmcp-system", "unused"); }, 1},
        Passing{"UnusedConfigMap", [](Simulation&) { return about(k8s::kConfigMaps, "openmcp-system", "unused"); }, 1},
        Passing{"SecretElsewhere", [](Simulation&) { return about(k8s::kSecrets, "default", "pull"); }},
        Passing{"HelmReleaseElsewhere", [](Simulation&) { return about(kro::kHelmReleases, "monitoring", "grafana"); }},
        Passing{"Namespace", [](Simulation&) { return about(k8s::kNamespaces, "", "default"); }},
        Passing{"KroOfAnotherGroup",
                [](Simulation&) {
                    return about({"example.com", "v1", "kros", "Kro"}, "project-a--ws-b", "acme");
                }},
        Passing{"KindOfAnotherGroup",
                [](Simulation&) {
                    return about({"example.com", "v1", "helmreleases", "HelmRelease"}, "mcp--x", "kro-helm-release");
                }},
        Passing{"AnotherType", [](Simulation&) { return with_header(ping_event(), "Ce-Type", "com.github.push"); }},
        Passing{"TypeThatIsAlmostAPing",
                [](Simulation&) { return with_header(ping_event(), "Ce-Type", "dev.knative.sources.pingx"); }},
        Passing{"EmptyBatch",
                [](Simulation&) {
                    return HttpMessage{{{"Content-Type", "application/cloudevents-batch+json"}}, "[]"};
                }}),
    [](auto const& row) { return row.param.name; });

// --- What is no event

struct Bad {
    char const* name;
    std::function<HttpMessage()> message;
    int status = 400;
};

HttpMessage kro_event() { return resource_event(update_of(kro::kKros, kro_named("acme"))); }

class BadMessages : public testing::TestWithParam<Bad> {};

TEST_P(BadMessages, AreRefusedWithoutARequest) {
    auto const simulation = ready_acme();
    auto const answer = simulation->pod->handle(GetParam().message());
    EXPECT_EQ(answer.status, GetParam().status);
    EXPECT_FALSE(answer.reason.empty());
    EXPECT_EQ(answer.reason.find('\n'), std::string::npos);
    EXPECT_EQ(simulation->requests(), 0u);
}

std::string structured_text(std::string const& rest) {
    return R"({"specversion":"1.0","id":"1","source":"/x","type":"dev.knative.apiserver.resource.update",)" + rest + "}";
}

std::string const kNamed =
    R"("kind":"Kro","apiversion":"kro.services.openmcp.cloud/v1alpha1","name":"acme","namespace":"project-a--ws-b",)";

std::string nested(std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
    return text + "1" + std::string(depth, '}');
}

INSTANTIATE_TEST_SUITE_P(
    , BadMessages,
    testing::Values(
        Bad{"NoSpecversion", [] { return without_header(kro_event(), "Ce-Specversion"); }},
        Bad{"OldSpecversion", [] { return with_header(kro_event(), "Ce-Specversion", "0.3"); }},
        Bad{"SpecversionWithV", [] { return with_header(kro_event(), "Ce-Specversion", "V1"); }},
        Bad{"NoId", [] { return without_header(kro_event(), "Ce-Id"); }},
        Bad{"EmptyType", [] { return with_header(kro_event(), "Ce-Type", ""); }},
        Bad{"NoSource", [] { return without_header(kro_event(), "Ce-Source"); }},
        Bad{"StructuredSpecVersion",
            [] { return structured_body(R"({"specVersion":"1.0","id":"1","source":"/x","type":"dev.knative.sources.ping"})"); }},
        Bad{"AnotherCharset", [] { return with_header(kro_event(), "Content-Type", "application/json; charset=utf-16"); }, 415},
        Bad{"BothKindsOfData", [] { return structured_body(structured_text(kNamed + R"("data":{},"data_base64":"e30=")")); }},
        Bad{"BadBase64", [] { return structured_body(structured_text(kNamed + R"("data_base64":"@@@")")); }},
        Bad{"JsonInAString",
            [] {
                return structured_body(structured_text(R"("datacontenttype":"application/json","data":"{\"kind\":\"Kro\"}")"));
            }},
        Bad{"NullData", [] { return structured_body(structured_text(R"("data":null)")); }},
        Bad{"NumberAsData", [] { return structured_body(structured_text(R"("data":7)")); }},
        Bad{"ListAsData", [] { return structured_body(structured_text(R"("data":[])")); }},
        Bad{"NameAndDataDiffer", [] { return with_header(kro_event(), "Ce-Name", "beta"); }},
        Bad{"NotANumber",
            [] {
                return HttpMessage{kro_event().headers, R"({"metadata":{"name":"acme"},"spec":{"a":NaN}})"};
            }},
        Bad{"Infinity",
            [] {
                return HttpMessage{kro_event().headers, R"({"metadata":{"name":"acme"},"spec":{"a":Infinity}})"};
            }},
        Bad{"CutOff",
            [] {
                return HttpMessage{kro_event().headers, R"({"metadata":{"name":"ac)"};
            }},
        Bad{"ManyBrackets",
            [] {
                return HttpMessage{kro_event().headers, std::string(500'000, '[')};
            }},
        Bad{"DeepObjects",
            [] {
                return HttpMessage{kro_event().headers,
                                   R"({"metadata":{"name":"acme"},"spec":{"values":)" + nested(100'000) + "}}"};
            }},
        Bad{"BadUtf8InSubject", [] { return with_header(kro_event(), "Ce-Subject", "\xEC"); }},
        Bad{"Form", [] { return with_header(kro_event(), "Content-Type", "application/x-www-form-urlencoded"); }, 415}),
    [](auto const& row) { return row.param.name; });

TEST(Events, NeitherBodyNorExtensionsOfAnEventAreParsedTwice) {
    for (auto const* data : {R"("{\"kind\":\"Kro\",\"metadata\":{\"name\":\"beta\"}}")", "null", "7", "[]"}) {
        auto const simulation = ready_acme();
        ask_for(*simulation, "0.9.2");
        EXPECT_EQ(status_of(*simulation, structured_body(structured_text(kNamed + R"("data":)" + data))), 204) << data;
        EXPECT_EQ(installed_version(*simulation), "0.9.2");
    }
}

TEST(Events, AreReadWhateverTheCaseOfHeaderNamesAndMediaTypes) {
    auto const event = [](Simulation const& simulation) { return resource_event(kro_update(simulation)); };
    auto const respelled = [&](Simulation const& simulation, char const* content_type) {
        HttpMessage message = with_header(event(simulation), "Content-Type", content_type);
        bool upper = false;
        for (auto& [name, value] : message.headers) {
            for (auto& c : name) c = (upper = !upper) ? static_cast<char>(std::toupper(c)) : static_cast<char>(std::tolower(c));
        }
        return message;
    };
    std::vector<std::function<HttpMessage(Simulation const&)>> const spellings{
        [&](Simulation const& one) { return respelled(one, "application/json ; charset=\"utf-8\""); },
        [&](Simulation const& one) { return structured(event(one), "Application/CloudEvents+JSON; charset=UTF-8"); },
    };
    for (auto const& spelling : spellings) {
        auto const simulation = ready_acme();
        ask_for(*simulation, "0.9.2");
        EXPECT_EQ(status_of(*simulation, spelling(*simulation)), 204);
        EXPECT_EQ(installed_version(*simulation), "0.9.2");
    }
}

TEST(Events, InStructuredModeHeadersSayNothing) {
    auto const simulation = ready_acme();
    simulation->create(kro_named("beta"));
    simulation->settle();
    for (auto const* name : {"acme", "beta"}) simulation->change_kro(name, {{"spec", {{"version", "0.9.2"}}}});
    HttpMessage message = structured(resource_event(kro_update(*simulation)));
    message.headers.emplace_back("ce-type", "dev.knative.sources.ping");
    message.headers.emplace_back("ce-name", "beta");

    EXPECT_EQ(status_of(*simulation, message), 204);
    EXPECT_EQ(installed_version(*simulation), "0.9.2");
    EXPECT_EQ(simulation->world.oci_repository_of(tenant_named("beta"))["spec"]["ref"]["tag"], "0.9.1");
}

TEST(Events, TakeBase64WithEscapedPlusSignsAsData) {
    auto const simulation = ready_acme();
    Json kro = simulation->world.kro(acme());
    kro["spec"]["note"] = "\xF0\x9F\x98\x80~~~>>>";  // makes plus signs
    ask_for(*simulation, "0.9.2");
    std::string base64 = base::encode_base64(base::dump_json(kro));
    ASSERT_NE(base64.find('+'), std::string::npos);
    simulation->replace_pod();
    for (auto at = base64.find('+'); at != std::string::npos; at = base64.find('+')) base64.replace(at, 1, "\\u002B");

    EXPECT_EQ(status_of(*simulation, structured_body(structured_text(R"("datacontenttype":"application/json","data_base64":")" +
                                                                     base64 + "\""))),
              204);
    EXPECT_EQ(installed_version(*simulation), "0.9.2");
}

// --- What is answered

TEST(Answers, CarryNeitherAnEventNorABodyOnSuccess) {
    auto const simulation = ready_acme();
    kro::HttpService service{{.handle = [&](HttpMessage const& message) { return simulation->pod->handle(message); }},
                             std::size_t{1} << 20U,
                             [] { return false; }};
    auto const bytes_for = [&](HttpMessage message) {
        message.headers.emplace_back("Host", "kro");
        message.headers.emplace_back("ce-foo", "bar");
        kro::HttpRequest request;
        request.method = "POST";
        request.path = "/";
        request.message = std::move(message);
        return service.answer(std::move(request)).bytes;
    };
    simulation->world.onboarding->fail_when(k8s::on(k8s::Request::Verb::Get, kro::kKros), k8s::answer_with(429, {}, "7"));
    std::string const throttled = bytes_for(kro_event());
    std::string const accepted = bytes_for(kro_event());
    std::string const refused = bytes_for(without_header(kro_event(), "Ce-Id"));
    std::string const form = bytes_for(with_header(kro_event(), "Content-Type", "application/x-www-form-urlencoded"));

    EXPECT_TRUE(throttled.starts_with("HTTP/1.1 503 ")) << throttled;
    EXPECT_NE(throttled.find("Retry-After: 7\r\n"), std::string::npos) << throttled;
    EXPECT_TRUE(accepted.starts_with("HTTP/1.1 204 ")) << accepted;
    EXPECT_TRUE(accepted.ends_with("\r\n\r\n")) << accepted;
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
    EXPECT_TRUE(form.starts_with("HTTP/1.1 415 ")) << form;
    for (auto const& answer : {throttled, accepted, refused, form}) {
        std::string lower = answer;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        EXPECT_EQ(lower.find("\r\nce-"), std::string::npos) << answer;
        EXPECT_EQ(lower.find("cloudevents"), std::string::npos) << answer;
    }
}

// --- What comes again, late, or in another order

TEST(Repeats, OfAnUpdateCostNoWrite) {
    auto const simulation = ready_acme();
    ask_for(*simulation, "0.9.2");
    HttpMessage event = resource_event(kro_update(*simulation));
    simulation->deliver(event);
    simulation->settle();
    simulation->count_from_here();
    for (auto const* id : {"1", "2", "3", "4", "5"}) {
        event = with_header(std::move(event), "Ce-Id", id);
        simulation->deliver(event);
    }
    EXPECT_EQ(simulation->writes(), 0u);
}

TEST(Repeats, OfTheFirstUpdateCostNoWriteBeforeAnythingElseHappens) {
    auto const simulation = ready_acme();
    ask_for(*simulation, "0.9.2");
    HttpMessage const event = resource_event(kro_update(*simulation));
    simulation->deliver(event);
    EXPECT_EQ(installed_version(*simulation), "0.9.2");
    simulation->count_from_here();
    for (int i = 0; i < 4; ++i) simulation->deliver(event);
    EXPECT_EQ(simulation->writes(), 0u);
}

TEST(Repeats, HundredEventsOfASettledTenantLeaveItAsItIs) {
    auto const simulation = ready_acme();
    Json const before = simulation->world.kro(acme());
    for (int i = 0; i < 100; ++i) {
        simulation->deliver(resource_event(kro_update(*simulation)));
        simulation->settle();
    }
    EXPECT_EQ(simulation->writes(), 0u);
    EXPECT_EQ(simulation->world.kro(acme()), before);
}

TEST(Repeats, OurOwnWritesComeBackAndCostNoRequest) {
    Simulation simulation;
    simulation.create(kro_named("acme"));
    std::size_t echoes = 0;
    for (auto events = simulation.take_events(); !events.empty(); events = simulation.take_events()) {
        for (auto const& event : events) {
            auto const kind = events::parse_http(event).value().at(0).extensions.at("kind");
            std::size_t const requests = simulation.requests();
            simulation.deliver(event);
            bool const after_the_first = kind == "Kro" && echoes > 0;
            if (kind == "Kro") ++echoes;
            // The user's own event comes first; every other one about the Kro is of our making.
            if (after_the_first) {
                EXPECT_EQ(simulation.requests(), requests);
            }
        }
    }
    EXPECT_EQ(simulation.world.phase_of(acme()), "Ready");
    EXPECT_GT(echoes, 2u);
}

TEST(Repeats, OldEventsNeverWin) {
    Simulation simulation;
    simulation.create(kro_named("acme"));
    Json const first = simulation.world.kro(acme());
    simulation.settle();
    ask_for(simulation, "0.9.2");
    Json const second = simulation.world.kro(acme());
    simulation.settle();
    ASSERT_EQ(installed_version(simulation), "0.9.2");
    simulation.replace_pod();
    simulation.count_from_here();

    HttpMessage const add = resource_event({Change::Kind::Added, kro::kKros, first});
    HttpMessage const update = resource_event(update_of(kro::kKros, second));
    for (auto const& event : {add, update, add}) simulation.deliver(event);
    EXPECT_EQ(simulation.writes(), 0u);
    EXPECT_EQ(installed_version(simulation), "0.9.2");
}

// --- The plural

constexpr k8s::Resource kKroes{"kro.services.openmcp.cloud", "v1alpha1", "kroes", "Kro"};

TEST(OlderPlural, IsFoundByAnEventAndByATick) {
    for (auto const event : {true, false}) {
        Simulation simulation;
        simulation.world.onboarding->stop_serving(kro::kKros);
        simulation.world.onboarding->serve(kKroes);
        Json const kro = simulation.world.onboarding->put(kKroes, kro_named("acme"));
        simulation.deliver(event ? resource_event({Change::Kind::Added, kKroes, kro}) : ping_event());
        simulation.settle();
        Json const after =
            simulation.world.onboarding->find(kKroes, {std::string{support::kOnboardingNamespace}, "acme"}).value();
        EXPECT_EQ(member(after, "status", "phase"), "Ready");
        EXPECT_TRUE(k8s::has_finalizer(after, kro::kFinalizer));
    }
}

// --- Deletion

TEST(DeletionByEvents, NeverMakesAnythingAnew) {
    auto const simulation = ready_acme();
    simulation->world.platform->hold_deletion_of(kro::kHelmReleases);
    HttpMessage const repository =
        resource_event(deletion_of(kro::kOciRepositories, simulation->world.oci_repository_of(acme())));
    HttpMessage const release = resource_event(deletion_of(kro::kHelmReleases, simulation->world.helm_release_of(acme())));
    Json copy = support::ours(support::in_namespace(pull_secret("chart-pull"), kro::tenant_namespace(acme())), acme());
    HttpMessage const secret = resource_event(update_of(k8s::kSecrets, simulation->world.put(std::move(copy))));
    simulation->remove_kro("acme");
    simulation->settle();
    EXPECT_EQ(simulation->world.phase_of(acme()), "Terminating");
    for (auto const& event : {repository, release, secret, ping_event()}) simulation->deliver(event);
    EXPECT_TRUE(simulation->world.oci_repository_of(acme()).is_null());
    EXPECT_FALSE(simulation->world.access_request_of(acme()).is_null());

    simulation->world.platform->release_deletion_of(kro::kHelmReleases);
    simulation->settle();
    for (auto const& event : {repository, release, secret, ping_event()}) simulation->deliver(event);
    EXPECT_TRUE(simulation->world.kro(acme()).is_null());
    EXPECT_TRUE(simulation->orphans().empty());
    EXPECT_TRUE(simulation->wrongs().empty());
}

class KroThatVanishes : public testing::TestWithParam<bool> {};

TEST_P(KroThatVanishes, IsNoFailure) {
    bool const in_deletion = GetParam();
    Simulation simulation{spdlog::level::debug};
    simulation.create(kro_named("acme"));
    simulation.settle();
    if (in_deletion) {
        simulation.remove_kro("acme");
    } else {
        ask_for(simulation, "not a tag");  // a status has to be written
    }
    auto const status_write = [](k8s::Request const& request) {
        return request.resource == kro::kKros && request.verb == k8s::Request::Verb::Apply && request.subresource == "status";
    };
    simulation.world.onboarding->before(status_write, [](k8s::MemoryApi& other) {
        other.erase(kro::kKros, {std::string{support::kOnboardingNamespace}, "acme"});
    });
    EXPECT_EQ(status_of(simulation, resource_event(kro_update(simulation))), 204);
    EXPECT_TRUE(simulation.world.kro(acme()).is_null());
    for (auto const& line : simulation.pod->lines()) EXPECT_EQ(line.find(R"("level":"error")"), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(, KroThatVanishes, testing::Bool(),
                         [](auto const& row) { return row.param ? "InDeletion" : "InAnUpdate"; });

// --- Ticks

/// Four changes of which no event tells.
void change_unseen(Simulation& simulation) {
    simulation.create(kro_named("new"));
    simulation.remove_kro("old");
    simulation.change_provider_config({{"spec", {{"values", {{"replicas", 3}}}}}});
    simulation.change(k8s::kSecrets, {std::string{support::kProviderNamespace}, "chart-pull"},
                      {{"data", pull_secret("chart-pull", "other.test")["data"]}});
    simulation.take_events();
}

std::unique_ptr<Simulation> before_unseen_changes() {
    auto simulation = std::make_unique<Simulation>();
    simulation->create(pull_secret("chart-pull"));
    simulation->change_provider_config({{"spec", {{"imagePullSecret", {{"name", "chart-pull"}}}}}});
    for (auto const* name : {"acme", "old"}) simulation->create(kro_named(name));
    simulation->settle();
    return simulation;
}

void expect_seen(Simulation const& simulation) {
    EXPECT_EQ(simulation.world.phase_of(tenant_named("new")), "Ready");
    EXPECT_TRUE(simulation.world.kro(tenant_named("old")).is_null());
    EXPECT_EQ(simulation.world.helm_release_of(acme())["spec"]["values"], (Json{{"replicas", 3}}));
    EXPECT_EQ(simulation.world.object(k8s::kSecrets, support::copy_key(acme(), "chart-pull"))["data"],
              pull_secret("chart-pull", "other.test")["data"]);
    EXPECT_TRUE(simulation.orphans().empty());
    EXPECT_TRUE(simulation.wrongs().empty());
}

TEST(Tick, AloneMendsWhatNoEventTold) {
    auto const simulation = before_unseen_changes();
    change_unseen(*simulation);
    simulation->ping();
    expect_seen(*simulation);
}

TEST(Tick, AfterTickBringsEverythingAboutWhereEveryEventIsLost) {
    auto const simulation = before_unseen_changes();
    change_unseen(*simulation);
    for (int i = 0; i < 6; ++i) {
        simulation->deliver(ping_event());
        while (!simulation->take_events().empty()) {
        }
    }
    expect_seen(*simulation);
}

TEST(Tick, OfASettledWorldWritesNothing) {
    auto const simulation = before_unseen_changes();
    simulation->count_from_here();
    for (int i = 0; i < 3; ++i) simulation->ping();
    EXPECT_EQ(simulation->writes(), 0u);
    EXPECT_TRUE(simulation->world.event_messages().empty());
}

TEST(ProviderConfigEvent, ReachesEveryTenant) {
    Simulation simulation;
    for (int i = 0; i < 8; ++i) simulation.create(kro_named("t" + std::to_string(i)));
    simulation.settle();
    simulation.change_provider_config({{"spec", {{"chartURL", "oci://mirror.test/charts/kro"}}}});
    simulation.settle();
    for (int i = 0; i < 8; ++i) {
        kro::Tenant const tenant = tenant_named("t" + std::to_string(i));
        EXPECT_EQ(simulation.world.oci_repository_of(tenant)["spec"]["url"], "oci://mirror.test/charts/kro");
        EXPECT_EQ(simulation.world.phase_of(tenant), "Ready");
    }
}

// --- Values and texts from strangers

TEST(Values, PassThroughAsTheyAreSpelled) {
    std::string const text =
        R"({"a":9007199254740993,"b":18446744073709551616,"c":1e3,"d":1.0,"e":-0,"f":0.1,"g":1E+2,"h":1e400,"i":-1e400,"j":4.9e-324,"k":null})";
    Simulation simulation;
    simulation.change_provider_config({{"spec", {{"values", base::parse_json(text).value()}}}});
    simulation.create(kro_named("acme"));
    simulation.settle();
    EXPECT_EQ(simulation.world.phase_of(acme()), "Ready");
    auto release = simulation.world.helm_release_of(acme());
    EXPECT_EQ(
        base::dump_json(release["spec"]["values"]),
        base::dump_json(
            base::parse_json(
                R"({"a":9007199254740993,"b":18446744073709551616,"c":1e3,"d":1.0,"e":-0,"f":0.1,"g":1E+2,"h":1e400,"i":-1e400,"j":4.9e-324})")
                .value()));
}

TEST(Values, MayBeNestedDeeply) {
    Simulation simulation;
    Json const values = base::parse_json(nested(200)).value();
    simulation.change_provider_config({{"spec", {{"values", values}}}});
    simulation.create(kro_named("acme"));
    simulation.settle();
    EXPECT_EQ(simulation.world.helm_release_of(acme())["spec"]["values"], values);
    EXPECT_EQ(status_of(simulation, resource_event(update_of(kro::kHelmReleases, simulation.world.helm_release_of(acme())))),
              204);
}

void expect_json_lines(std::vector<std::string> const& lines) {
    EXPECT_FALSE(lines.empty());
    for (auto const& line : lines) {
        EXPECT_TRUE(base::parse_json(line).has_value()) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos);
    }
}

TEST(TextsFromStrangers, StayValidUtf8InLogsAndStatus) {
    Simulation simulation{spdlog::level::debug};
    simulation.create(kro_named("acme"));
    simulation.settle();
    simulation.world.platform->fail_when(k8s::on(k8s::Request::Verb::Get, kro::kProviderConfigs),
                                         k8s::answer_with(403, "no \xFF way"));
    EXPECT_EQ(status_of(simulation, ping_event()), 204);
    std::string const message = simulation.world.ready_of(acme()).message;
    EXPECT_NE(message.find("no \xEF\xBF\xBD way"), std::string::npos) << message;

    Json release = support::not_ready(simulation.world.helm_release_of(acme()), "InstallFailed", "cut here: \xE2\x82");
    simulation.world.put(std::move(release));
    EXPECT_EQ(status_of(simulation, ping_event()), 204);
    std::string const status = base::dump_json(simulation.world.status_of(acme()));
    EXPECT_NE(status.find("cut here: "), std::string::npos) << status;
    EXPECT_EQ(status, base::valid_utf8(status));
    Json const resources = simulation.world.status_of(acme())["resources"];
    for (auto const& resource : resources) {
        std::string const text = text_of(member(resource, "message"));
        EXPECT_EQ(text, base::valid_utf8(text));
    }
    expect_json_lines(simulation.pod->lines());
}

// --- Secrets stay secret

struct Credential {
    char const* name;
    std::string kubeconfig;  ///< what is in the Secret, not yet in base64
};

std::string kubeconfig_with(std::string const& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: mcp\n"
           "clusters:\n- name: mcp\n  cluster: {server: \"https://mcp.invalid:6443\"}\n"
           "contexts:\n- name: mcp\n  context: {cluster: mcp, user: kro}\n"
           "users:\n- name: kro\n  user: " +
           user + "\n";
}

class Token : public testing::TestWithParam<Credential> {};

constexpr char kToken[] = "s3cr3t-42";

/// The text neither as it is nor in base64, whatever stands before it.
void expect_untold(std::string const& text) {
    EXPECT_EQ(text.find(kToken), std::string::npos) << text;
    for (std::size_t before = 0; before < 3; ++before) {
        std::string encoded = base::encode_base64(std::string(before, 'x') + kToken);
        encoded = encoded.substr(before == 0 ? 0 : 4, 8);
        EXPECT_EQ(text.find(encoded), std::string::npos) << text;
    }
}

TEST_P(Token, IsNeverTold) {
    Simulation simulation{spdlog::level::debug};
    simulation.create(pull_secret("image-pull"));
    simulation.change_provider_config({{"spec", {{"values", {{"imagePullSecrets", {{{"name", "image-pull"}}}}}}}}});
    simulation.create(kro_named("acme"));
    simulation.settle();
    Json secret = simulation.world.object(k8s::kSecrets, support::kubeconfig_key(acme()));
    ASSERT_FALSE(secret.is_null());
    std::string const text = GetParam().kubeconfig;
    secret["data"]["kubeconfig"] = text == "not base64" ? "%%%" + std::string{kToken} : base::encode_base64(text);
    secret["metadata"].erase("resourceVersion");
    secret = simulation.world.put(std::move(secret));
    simulation.settle();
    simulation.deliver(resource_event(update_of(k8s::kSecrets, secret)));
    simulation.deliver(ping_event());
    simulation.remove_kro("acme");
    simulation.settle();
    simulation.deliver(ping_event());

    for (auto const& line : simulation.pod->lines()) expect_untold(line);
    expect_json_lines(simulation.pod->lines());
    expect_untold(simulation.pod->metrics());
    for (auto const& answer : simulation.answers) expect_untold(answer.reason);
    for (auto const& kro : simulation.world.onboarding->all(kro::kKros)) expect_untold(base::dump_json(kro));
    for (auto const& event : simulation.world.onboarding->all(k8s::kEvents)) expect_untold(base::dump_json(event));
}

INSTANTIATE_TEST_SUITE_P(
    , Token,
    testing::Values(Credential{"WithNewline", kubeconfig_with("{token: \"s3cr3t-42\\n\"}")},
                    Credential{"BesideBrokenBase64",
                               kubeconfig_with("{token: s3cr3t-42, client-certificate-data: \"@@s3cr3t-42\"}")},
                    Credential{"InBrokenYaml", "users: [{name: kro, user: {token: s3cr3t-42"},
                    Credential{"InAnUnknownPlace", kubeconfig_with("{exec: {command: s3cr3t-42}}")},
                    Credential{"InNoYaml", "s3cr3t-42: s3cr3t-42: s3cr3t-42"}, Credential{"InNoBase64", "not base64"}),
    [](auto const& row) { return row.param.name; });

}  // namespace
