#include "k8s/http_message.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using k8s::HttpMessage;
using k8s::Request;

constexpr k8s::Resource kKros{"kro.services.openmcp.cloud", "v1alpha1", "kros", "Kro"};
std::string const kNamed = "/api/v1/namespaces/team/secrets/pull";

Json secret() { return {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "pull"}, {"namespace", "team"}}}}; }

Request metadata_of(Request request) {
    request.contents = Request::Contents::Metadata;
    return request;
}

Request dry(Request request) {
    request.dry_run = true;
    return request;
}

Request page(Request request, int limit, std::string continue_token) {
    request.limit = limit;
    request.continue_token = std::move(continue_token);
    return request;
}

struct Row {
    char const* name;
    Request request;
    std::string method;
    std::string target;
    std::string accept;
    std::string content_type;
};
void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }

class Message : public testing::TestWithParam<Row> {};
TEST_P(Message, IsWhatTheApiServerReads) {
    HttpMessage const message = http_message(GetParam().request);
    EXPECT_EQ(message.method, GetParam().method);
    EXPECT_EQ(message.target, GetParam().target);
    EXPECT_EQ(message.accept, GetParam().accept);
    EXPECT_EQ(message.content_type, GetParam().content_type);
    EXPECT_EQ(message.body.empty(), GetParam().content_type.empty());
}

std::string const kJson = "application/json";
std::string const kStrict = "?fieldManager=kro&fieldValidation=Strict";

INSTANTIATE_TEST_SUITE_P(
    , Message,
    testing::Values(Row{"Get", k8s::get(k8s::kSecrets, {"team", "pull"}), "GET", kNamed, kJson, ""},
                    Row{"GetMetadata", metadata_of(k8s::get(k8s::kSecrets, {"team", "pull"})), "GET", kNamed,
                        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ""},
                    Row{"List", k8s::list(kKros, "", "a=b,c in (d)"), "GET",
                        "/apis/kro.services.openmcp.cloud/v1alpha1/kros?labelSelector=a%3Db%2Cc%20in%20%28d%29", kJson, ""},
                    Row{"ListPage", page(k8s::list(k8s::kSecrets, "team"), 500, "a+b/c="), "GET",
                        "/api/v1/namespaces/team/secrets?limit=500&continue=a%2Bb%2Fc%3D", kJson, ""},
                    Row{"ListMetadata", metadata_of(page(k8s::list(kKros, "team"), 1, "")), "GET",
                        "/apis/kro.services.openmcp.cloud/v1alpha1/namespaces/team/kros?limit=1",
                        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", ""},
                    Row{"Create", k8s::create(k8s::kSecrets, secret(), "kro"), "POST",
                        "/api/v1/namespaces/team/secrets" + kStrict, kJson, kJson},
                    Row{"Apply", k8s::apply(k8s::kSecrets, secret(), "kro"), "PATCH",
                        kNamed + "?fieldManager=kro&force=true&fieldValidation=Strict", kJson, "application/apply-patch+yaml"},
                    Row{"DryApply", dry(k8s::apply(k8s::kSecrets, secret(), "kro")), "PATCH",
                        kNamed + "?fieldManager=kro&force=true&fieldValidation=Strict&dryRun=All", kJson,
                        "application/apply-patch+yaml"},
                    Row{"ApplyStatus", k8s::apply_status(kKros, secret(), "kro"), "PATCH",
                        "/apis/kro.services.openmcp.cloud/v1alpha1/namespaces/team/kros/pull/"
                        "status?fieldManager=kro&force=true&fieldValidation=Strict",
                        kJson, "application/apply-patch+yaml"},
                    Row{"MergePatch", k8s::merge_patch(k8s::kSecrets, {"team", "pull"}, Json::object(), "kro"), "PATCH",
                        kNamed + kStrict, kJson, "application/merge-patch+json"},
                    Row{"JsonPatch", k8s::json_patch(k8s::kSecrets, {"team", "pull"}, Json::array(), "kro"), "PATCH",
                        kNamed + kStrict, kJson, "application/json-patch+json"},
                    Row{"Delete", k8s::remove(k8s::kSecrets, {"team", "pull"}, {}), "DELETE", kNamed, kJson, kJson},
                    Row{"Discover", k8s::discover(kKros), "GET", "/apis/kro.services.openmcp.cloud/v1alpha1", kJson, ""},
                    Row{"DiscoverCore", k8s::discover(k8s::kSecrets), "GET", "/api/v1", kJson, ""}),
    [](auto const& row) { return std::string{row.param.name}; });

TEST(DeleteMessage, CarriesItsOptionsInTheBody) {
    EXPECT_EQ(http_message(k8s::remove(k8s::kSecrets, {"team", "pull"}, {})).body,
              R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})");
    EXPECT_EQ(http_message(dry(k8s::remove(k8s::kSecrets, {"team", "pull"}, {"u-1", "42"}))).body,
              R"({"apiVersion":"v1","dryRun":["All"],"kind":"DeleteOptions",)"
              R"("preconditions":{"resourceVersion":"42","uid":"u-1"},"propagationPolicy":"Background"})");
}

TEST(WriteMessage, KeepsNumbersAndCharactersAsTheyAre) {
    auto object = secret();
    object["data"] = *base::parse_json("{\"n\":9007199254740993,\"f\":1.0,\"e\":1e3,\"s\":\"\xF0\x9F\x90\xB3/\xC2\x85\"}");
    std::string const body = http_message(k8s::apply(k8s::kSecrets, object, "kro")).body;
    EXPECT_NE(body.find("\"e\":1e3,\"f\":1.0,\"n\":9007199254740993,\"s\":\"\xF0\x9F\x90\xB3/\\u0085\""), std::string::npos)
        << body;
}

TEST(Repeating, IsForReadsAppliesAndDeletesOfOneUid) {
    EXPECT_TRUE(may_be_repeated(k8s::get(k8s::kSecrets, {"a", "b"})));
    EXPECT_TRUE(may_be_repeated(k8s::list(k8s::kSecrets, "a")));
    EXPECT_TRUE(may_be_repeated(k8s::discover(k8s::kSecrets)));
    EXPECT_TRUE(may_be_repeated(k8s::apply(k8s::kSecrets, secret(), "kro")));
    EXPECT_TRUE(may_be_repeated(k8s::remove(k8s::kSecrets, {"a", "b"}, {"u-1", ""})));
    EXPECT_FALSE(may_be_repeated(k8s::remove(k8s::kSecrets, {"a", "b"}, {"", "42"})));
    EXPECT_FALSE(may_be_repeated(k8s::create(k8s::kSecrets, secret(), "kro")));
    EXPECT_FALSE(may_be_repeated(k8s::merge_patch(k8s::kSecrets, {"a", "b"}, {{"metadata", {{"resourceVersion", "1"}}}}, "kro")));
    EXPECT_FALSE(may_be_repeated(k8s::json_patch(k8s::kSecrets, {"a", "b"}, Json::array(), "kro")));
}

}  // namespace
