#include "function/record/redact.hpp"

#include "base/base64.hpp"
#include "base/json.hpp"
#include "events/json_format.hpp"
#include "function/record/recording.hpp"
#include "function/record/redact_bytes.hpp"
#include "function/tenant/kinds.hpp"
#include "function/tenant/pull_secret.hpp"
#include "function/tenant/secret_names.hpp"
#include "k8s/kubeconfig.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>
#include <vector>

namespace {

using base::encode_base64;
using events::CloudEvent;
using k8s::Json;
using kro::Placeholders;
using kro::Redactor;

Placeholders const kPlaceholders{"a key that is long enough for a test"};
Redactor const kRedactor{kPlaceholders};

/// A secret that stands nowhere else, and by which a leak is found.
std::string const kCanary = "cAnAry7-Zq3$xW!";

/// Whether a text shows the secret, or how it begins, as it is or in base64 (which has three forms, as it is aligned).
bool shows(std::string const& text, std::string const& secret) {
    auto const has = [&](std::string const& part) { return text.find(part) != std::string::npos; };
    for (std::size_t aligned = 0; aligned < 3; ++aligned) {
        std::string const encoded = encode_base64(std::string(aligned, 'x') + secret.substr(0, 12 - aligned));
        if (has(encoded.substr(aligned == 0 ? 0 : 4, 8))) return true;
    }
    return has(secret.substr(0, 6));
}

Json json(std::string const& text) { return base::parse_json(text).value(); }

std::string with_canary(std::string text) {
    for (auto at = text.find("@@"); at != std::string::npos; at = text.find("@@", at)) text.replace(at, 2, kCanary);
    return text;
}

Json redacted(Json object, std::string_view kind = {}) {
    kRedactor.redact(object, kind);
    return object;
}

// --- Every place

struct Place {
    char const* name;
    std::string object;  ///< JSON; @@ stands for the canary

    friend void PrintTo(Place const& place, std::ostream* out) { *out << place.name; }
};

class Canary : public testing::TestWithParam<Place> {};

TEST_P(Canary, IsNowhereAfterwards) {
    Json const object = json(with_canary(GetParam().object));
    ASSERT_TRUE(shows(base::dump_json(object), kCanary)) << "the test itself shows none";
    Json const clean = redacted(object);
    EXPECT_FALSE(shows(base::dump_json(clean), kCanary)) << clean.dump(2);
    EXPECT_EQ(redacted(clean), clean) << "not idempotent";
    EXPECT_EQ(redacted(object), clean) << "not the same again";
}

std::string secret(std::string const& members) {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n","uid":"u1","resourceVersion":"7"},)" +
           members + "}";
}

std::string quoted(std::string const& text) { return base::dump_json(text); }

std::string base64_of(std::string const& text) { return quoted(encode_base64(with_canary(text))); }

std::string values(std::string const& members) { return R"({"kind":"HelmRelease","spec":{"values":{)" + members + "}}}"; }

std::string message(std::string const& text) {
    return R"({"kind":"Kro","status":{"conditions":[{"type":"Ready","message":)" + quoted(text) + "}]}}";
}

std::string const kKubeconfigText =
    "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: acme\n  cluster: {server: https://acme.example:6443}\n"
    "contexts:\n- name: c\n  context: {cluster: acme, user: u, namespace: n}\nusers:\n- name: u\n  user: {token: '@@'}\n";

INSTANTIATE_TEST_SUITE_P(
    Secret, Canary,
    testing::Values(
        Place{"Data", secret(R"("data":{"k":)" + base64_of("@@") + "}")},
        Place{"DataInTheMiddle", secret(R"("data":{"k":)" + base64_of("some text\n@@\nmore") + "}")},
        Place{"DataThatIsNoBase64", secret(R"("data":{"k":"@@"})")},
        Place{"DataOfAnotherShape", secret(R"("data":{"k":{"inner":["@@"]}})")},
        Place{"StringData", secret(R"("stringData":{"k":"@@"})")},
        Place{"CaCertificate", secret(R"("data":{"ca.crt":)" +
                                      base64_of("# @@\n-----BEGIN CERTIFICATE-----\n@@\n-----END CERTIFICATE-----\n") + "}")},
        Place{"PullSecret",
              secret(R"("type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":)" +
                     base64_of(R"({"auths":{"ghcr.io":{"username":"@@","password":"@@","email":"@@","auth":")" +
                               encode_base64(with_canary("bob:@@")) + R"("}},"HttpHeaders":{"X":"@@"},"credsStore":"@@"})") +
                     "}")},
        Place{"PullSecretOfTheOldForm",
              secret(R"("type":"kubernetes.io/dockercfg","data":{".dockercfg":)" +
                     base64_of(R"({"https://bob:@@@ghcr.io":{"auth":"@@","identitytoken":"@@"}})") + "}")},
        Place{"Kubeconfig", secret(R"("data":{"kubeconfig":)" + base64_of(kKubeconfigText) + "}")},
        Place{"ServiceAccountKey",
              secret(R"("data":{"key.json":)" + base64_of(R"({"type":"x","private_key":"@@","@@":1})") + "}")},
        Place{"PrivateKey", secret(R"("data":{"tls.key":)" +
                                   base64_of("-----BEGIN EC PRIVATE KEY-----\n@@\n-----END EC PRIVATE KEY-----\n") + "}")},
        Place{"InAList", R"({"kind":"SecretList","items":[{"metadata":{"name":"s"},"data":{"k":)" + base64_of("@@") + "}}]}"},
        Place{"InAListOfAnything", R"({"kind":"List","items":[)" + secret(R"("data":{"k":)" + base64_of("@@") + "}") + "]}"},
        Place{"InAnObject", R"({"kind":"ResourceGraphDefinition","spec":{"resources":[{"template":)" +
                                secret(R"("stringData":{"k":"@@"})") + "}]}}"},
        Place{"LastApplied",
              R"({"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":)" +
                  quoted(with_canary(secret(R"("data":{"k":)" + base64_of("@@") + R"(},"stringData":{"l":"@@"})"))) + "}}}"},
        Place{"ConfigMap", R"({"kind":"ConfigMap","data":{"k":"@@"},"binaryData":{"b":)" + base64_of("@@") + "}}"}),
    [](auto const& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Value, Canary,
    testing::Values(
        Place{"Password", values(R"("db":{"password":"@@"})")}, Place{"CamelCase", values(R"("dbPassword":"@@")")},
        Place{"UpperCase", values(R"("DB_PASSWD":"@@")")}, Place{"ApiKey", values(R"("x-api-key":"@@")")},
        Place{"Token", values(R"("githubToken":"@@")")}, Place{"Credentials", values(R"("credentials":{"a":{"b":["@@"]}})")},
        Place{"Auth", values(R"("auth":{"admin":"@@"})")}, Place{"PrivateKey", values(R"("sshPrivateKey":"@@")")},
        Place{"CertKey", values(R"("cert-key":"@@")")}, Place{"Number", values(R"("pin":{"secret":"@@","x":1})")},
        Place{"Environment", values(R"("env":[{"name":"DB_PASSWORD","value":"@@"}])")},
        Place{"Arguments", values(R"("args":["--user","bob","--password","@@"])")},
        Place{"ArgumentWithSign", values(R"("args":["--token=@@"])")},
        Place{"CommandLine", values(R"("command":"login --password @@ --user bob")")},
        Place{"Url", values(R"("repository":"https://bob:@@@charts.example/kro")")},
        Place{"UrlWithSlashInIt", values(R"("repository":"https://bob:a/@@@charts.example/kro")")},
        Place{"UrlQuery", values(R"("hook":"https://x.example/hook?access_token=@@&a=b")")},
        Place{"TextOfJson", values(R"("config":)" + quoted(with_canary(R"({"password":"@@"})")))},
        Place{"TextOfYaml", values(R"("config":"user: bob\npassword: @@\n")")},
        Place{"TextOfIni", values(R"("config":"[db]\npassword=@@\nx=y")")},
        Place{"TextOfAKubeconfig", values(R"("kubeconfig":)" + quoted(with_canary(kKubeconfigText)))},
        Place{"KubeconfigInBase64", values(R"("file":)" + base64_of(kKubeconfigText))},
        Place{"PemInText", values(R"("file":"x\n-----BEGIN RSA PRIVATE KEY-----\n@@\n-----END RSA PRIVATE KEY-----\n")")},
        Place{"PemWithoutEnd", values(R"("file":"-----BEGIN PRIVATE KEY-----\n@@")")},
        Place{"Offer", R"({"kind":"ProviderConfig","spec":{"versions":[{"version":"1","helmValues":{"password":"@@"}}]}})"},
        Place{"NameOfAMember", values(R"("https://bob:@@@x.example":1)")},
        Place{"Patch", R"([{"op":"replace","path":"/spec/values/auth/admin","value":"@@"}])"},
        Place{"Webhook", values(R"("slack":"Authorization: Basic @@")")}),
    [](auto const& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Message, Canary,
    testing::Values(Place{"Authorization", message("401: sent Authorization: Bearer @@")},
                    Place{"AuthorizationInJson", message(R"(headers {"Authorization":["Bearer @@"]})")},
                    Place{"Cookie", message("Cookie: session=@@; other=x")}, Place{"Bearer", message("token refused: bearer @@")},
                    Place{"Basic", message("sent Basic " + encode_base64(with_canary("bob:@@")))},
                    Place{"XAuthToken", message("X-Auth-Token: @@")},
                    Place{"Url", message("Get \"https://bob:@@@registry.example/v2/\": dial tcp")},
                    Place{"Json", message(R"(body was {"password":"@@","x":1})")},
                    Place{"EscapedJson", message(R"(body was {\"password\":\"@@\"})")},
                    Place{"Assignment", message("login failed password=@@ for bob")},
                    Place{"Pem", message("bad key -----BEGIN PRIVATE KEY-----\n@@\n-----END PRIVATE KEY-----")}),
    [](auto const& row) { return row.param.name; });

TEST(Redaction, TakesTokensOutThatAreKnownByTheirForm) {
    for (std::string const token :
         {"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
          "glpat-AbCdEfGhIjKlMnOpQrSt", "AKIAIOSFODNN7EXAMPLE", "sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg"}) {
        std::string const text = kRedactor.redacted("the server said " + token + ", which is odd");
        EXPECT_EQ(text, "the server said " + kPlaceholders.of(token) + ", which is odd");
    }
}

TEST(Redaction, LeavesWhatPeopleSayAlone) {
    for (std::string const text :
         {"get secrets openmcp-system/kro-token: 404 Not Found: secrets \"kro-token\" not found", "the bearer token has expired",
          "pull secret openmcp-system/pull does not exist", "Access to the control plane was denied",
          "basic authentication is needed", "kubeconfig user entry \"u\": token has control characters in it",
          "token: has control characters in it", "AccessRequest is invalid: spec.token: Required value: must be set",
          "https://ghcr.io/v2/@scope/x", "oci://ghcr.io/kro@sha256:0123",
          "deletion blocked: waiting for 2 kro ResourceGraphDefinition(s)", "2026-11-30T12:00:00Z", "secret=", "---", "eyJ"}) {
        EXPECT_EQ(kRedactor.redacted(text), text);
    }
}

// --- Names

TEST(SecretNames, AreKnownHoweverTheyAreWritten) {
    for (auto const* name :
         {"password", "dbPassword", "DB_PASSWD", "api_key", "apiKey", "x-api-key", "clientSecret", "token", "auth", "credentials",
          "private_key", "privateKey", "tls-cert-key", "AWS_SECRET_ACCESS_KEY", "pwd", "passphrase"}) {
        EXPECT_TRUE(kro::names_secret(name)) << name;
    }
}

TEST(SecretNames, AreNotThoseOfReferences) {
    for (auto const* name : {"secretRef", "certSecretRef", "secretName", "imagePullSecret", "imagePullSecrets", "chartPullSecret",
                             "existingSecret", "tokenRef", "passwordFile", "secretKeyRef", "author", "authority",
                             "certificate-authority-data", "name", "automountServiceAccountToken", "monkey", "key"}) {
        EXPECT_FALSE(kro::names_secret(name)) << name;
    }
}

// --- The same plan

/// Objects that decide about a tenant and have no secret in them.
TEST(Redaction, LeavesAsItIsWhatDecides) {
    for (
        std::string const text :
        {R"({"apiVersion":"clusters.openmcp.cloud/v1alpha1","kind":"AccessRequest","metadata":{"name":"kro--acme--mcp","uid":"u",
             "resourceVersion":"12","finalizers":["clusters.openmcp.cloud/clusteraccess"],"labels":{"openmcp.cloud/managed-by":"kro"}},
             "spec":{"requestRef":{"name":"acme","namespace":"team-a"},"token":{"permissions":[{"rules":[{"apiGroups":["*"],
             "resources":["*"],"verbs":["*"]}]}],"roleRefs":[{"kind":"ClusterRole","name":"cluster-admin"}]}},
             "status":{"phase":"Granted","secretRef":{"name":"kro--acme--mcp.kubeconfig"}}})",
         R"({"apiVersion":"v1alpha1","kind":"ProviderConfig","spec":{"chartURL":"oci://ghcr.io/kro","imagePullSecret":{"name":"pull"},
             "caBundleRef":{"name":"ca","key":"ca.crt"},"values":{"imagePullSecrets":[{"name":"pull"}],"replicas":3},
             "versions":[{"version":"0.9.1","chartPullSecret":"pull"}]}})",
         R"({"kind":"HelmRelease","metadata":{"managedFields":[{"manager":"kro-function","fieldsV1":{"f:spec":{"f:token":{}}}}]},
             "spec":{"kubeConfig":{"secretRef":{"name":"s","key":"kubeconfig"}},"values":{"auth":{"enabled":true,"password":null}}}})"}) {
        Json const object = json(text);
        EXPECT_EQ(redacted(object), object);
    }
}

TEST(Redaction, KeepsWhatTellsOneStateOfASecretFromAnother) {
    Json const clean = redacted(json(secret(R"("type":"Opaque","data":{"k":"aGVsbG8="})")));
    EXPECT_EQ(base::member(clean, "metadata"), json(R"({"name":"s","namespace":"n","uid":"u1","resourceVersion":"7"})"));
    EXPECT_EQ(base::text_of(base::member(clean, "type")), "Opaque");
    EXPECT_EQ(clean["data"].size(), 1U);
}

Json pull_secret(std::string const& bytes, std::string const& type = "kubernetes.io/dockerconfigjson",
                 std::string const& key = ".dockerconfigjson") {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"name", "pull"}, {"namespace", "n"}}},
            {"type", type},
            {"data", {{key, encode_base64(bytes)}}}};
}

TEST(Redaction, LeavesAPullSecretAsGoodAsItWas) {
    using kro::PullSecretTypes;
    for (std::string const bytes :
         {R"({"auths":{"ghcr.io":{"auth":"Ym9iOnNlY3JldA=="}}})", R"({"auths":{}})", "{}", R"({"auths":[]})", "[]", "no JSON", "",
          R"({"auths":{"ghcr.io":{"auth":"Ym9iOnNlY3JldA=="}})", "\"text\""}) {
        Json const object = pull_secret(bytes);
        EXPECT_EQ(kro::pull_secret_fault(redacted(object), PullSecretTypes::DockerConfigJson),
                  kro::pull_secret_fault(object, PullSecretTypes::DockerConfigJson))
            << bytes;
    }
    Json broken = pull_secret("x");
    broken["data"][".dockerconfigjson"] = "no base64!";
    EXPECT_EQ(kro::pull_secret_fault(redacted(broken), PullSecretTypes::DockerConfigJson),
              kro::pull_secret_fault(broken, PullSecretTypes::DockerConfigJson));
    Json const old = pull_secret(R"({"ghcr.io":{"auth":"Ym9iOnNlY3JldA=="}})", "kubernetes.io/dockercfg", ".dockercfg");
    EXPECT_EQ(kro::pull_secret_fault(redacted(old), PullSecretTypes::DockerConfigJsonOrDockerCfg), std::nullopt);
}

TEST(Redaction, KeepsTheNamesOfRegistriesAndAFormThatAKubeletTakes) {
    Json const clean = redacted(pull_secret(R"({"auths":{"ghcr.io":{"auth":"Ym9iOnNlY3JldA==","username":"bob"}}})"));
    Json const config = json(*base::decode_base64(clean["data"][".dockerconfigjson"].get<std::string>()));
    Json const& registry = base::member(config, "auths", "ghcr.io");
    std::string const auth = *base::decode_base64(base::text_of(base::member(registry, "auth")));
    EXPECT_EQ(auth.find(':'), Placeholders::kLength);
    EXPECT_TRUE(Placeholders::is_one(base::text_of(base::member(registry, "username"))));
}

TEST(Redaction, KeepsEqualSecretsEqualAndOthersApart) {
    std::string const bytes = R"({"auths":{"ghcr.io":{"auth":"Ym9iOnNlY3JldA=="}}})";
    Json const source = redacted(pull_secret(bytes));
    Json copy = pull_secret(bytes);
    copy["metadata"]["namespace"] = "elsewhere";
    EXPECT_EQ(redacted(copy)["data"], source["data"]);
    EXPECT_NE(redacted(pull_secret(bytes + " "))["data"], source["data"]);
    EXPECT_NE(redacted(pull_secret(R"({"auths":{"ghcr.io":{"auth":"Ym9iOm90aGVy"}}})"))["data"], source["data"]);

    Json plain = json(secret(R"("stringData":{"k":"hello world"})"));
    Json packed = json(secret(R"("data":{"k":"aGVsbG8gd29ybGQ="})"));
    EXPECT_EQ(redacted(plain)["stringData"]["k"], *base::decode_base64(redacted(packed)["data"]["k"].get<std::string>()));
}

TEST(Redaction, OfACertificateIsTheSameInItsConfigMapAndInTheCopies) {
    std::string const pem = "# ours\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    Json const map = redacted({{"kind", "ConfigMap"}, {"data", {{"bundle", pem}}}});
    Json const copy = redacted({{"kind", "Secret"}, {"data", {{"ca.crt", encode_base64(pem)}}}});
    EXPECT_EQ(copy["data"]["ca.crt"], encode_base64(map["data"]["bundle"].get<std::string>()));
    EXPECT_NE(map["data"]["bundle"].get<std::string>().find("-----BEGIN CERTIFICATE-----"), std::string::npos);
}

TEST(Redaction, OfAWriteIsThatOfTheObjectThatItWrites) {
    Json const object = pull_secret(R"({"auths":{"ghcr.io":{"auth":"Ym9iOnNlY3JldA=="}}})");
    Json const clean = redacted(object);
    Json const patch = {{"data", object["data"]}};
    EXPECT_EQ(redacted(patch, "Secret")["data"], clean["data"]);
    Json const operations = {{{"op", "replace"}, {"path", "/data"}, {"value", object["data"]}},
                             {{"op", "add"}, {"path", "/data/.dockerconfigjson"}, {"value", object["data"][".dockerconfigjson"]}},
                             {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", "7"}}};
    Json const done = redacted(operations, "Secret");
    EXPECT_EQ(done[0]["value"], clean["data"]);
    EXPECT_EQ(done[1]["value"], clean["data"][".dockerconfigjson"]);
    EXPECT_EQ(done[2], operations[2]);
}

// --- Kubeconfigs

std::string kubeconfig(std::string const& user, std::string const& cluster = "server: https://acme.example:6443") {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: acme\n  cluster: {" + cluster +
           "}\ncontexts:\n- name: c\n  context: {cluster: acme, user: u, namespace: n}\nusers:\n- name: u\n  user: {" + user +
           "}\n";
}

std::string data_of(std::string const& pem) { return encode_base64(pem); }

struct Config {
    char const* name;
    std::string text;

    friend void PrintTo(Config const& config, std::ostream* out) { *out << config.name; }
};

class KubeconfigOf : public testing::TestWithParam<Config> {};

TEST_P(KubeconfigOf, IsTakenOrRefusedAsBefore) {
    std::string const clean = kro::redacted_bytes(GetParam().text, kPlaceholders);
    EXPECT_EQ(kro::redacted_bytes(clean, kPlaceholders), clean) << "not idempotent";
    auto const before = k8s::read_kubeconfig(GetParam().text, k8s::KubeconfigTrust::FromSecret);
    auto const after = k8s::read_kubeconfig(clean, k8s::KubeconfigTrust::FromSecret);
    ASSERT_EQ(after.has_value(), before.has_value()) << (after ? before.error().message : after.error().message) << "\n" << clean;
    if (!before) {
        EXPECT_EQ(after.error().message, before.error().message);
        return;
    }
    EXPECT_EQ(after->server.host, before->server.host);
    EXPECT_EQ(after->server.port, before->server.port);
    EXPECT_EQ(after->namespace_, before->namespace_);
    EXPECT_EQ(after->name, before->name);
}

std::string const kCertificatePem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
std::string const kKeyPem = "-----BEGIN RSA PRIVATE KEY-----\nMIIC\n-----END RSA PRIVATE KEY-----\n";

INSTANTIATE_TEST_SUITE_P(
    Form, KubeconfigOf,
    testing::Values(
        Config{"Token", kubeconfig("token: abc")}, Config{"EmptyToken", kubeconfig("token: ''")},
        Config{"BlankToken", kubeconfig("token: '  '")}, Config{"TokenWithLineEnd", kubeconfig("token: \"abc\\n\"")},
        Config{"TokenWithControlCharacter", kubeconfig("token: \"a\\x01c\"")}, Config{"NoUser", kubeconfig("")},
        Config{"TokenOfAnotherType", kubeconfig("token: !!binary YWJj")}, Config{"ListAsToken", kubeconfig("token: [a]")},
        Config{"BasicAuth", kubeconfig("username: bob, password: abc")},
        Config{"ColonInUser", kubeconfig("username: 'b:b', password: abc")}, Config{"PasswordAlone", kubeconfig("password: abc")},
        Config{"ClientCertificate",
               kubeconfig("client-certificate-data: " + data_of(kCertificatePem) + ", client-key-data: " + data_of(kKeyPem))},
        Config{"KeyAlone", kubeconfig("client-key-data: " + data_of(kKeyPem))},
        Config{"KeyTwiceInBase64", kubeconfig("client-certificate-data: " + data_of(kCertificatePem) +
                                              ", client-key-data: " + data_of(data_of(kKeyPem)))},
        Config{"EncryptedKey",
               kubeconfig(
                   "client-certificate-data: " + data_of(kCertificatePem) + ", client-key-data: " +
                   data_of("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIC\n-----END RSA PRIVATE KEY-----\n"))},
        Config{"KeyThatIsNoBase64",
               kubeconfig("client-certificate-data: " + data_of(kCertificatePem) + ", client-key-data: '###'")},
        Config{"EmptyKey", kubeconfig("client-certificate-data: " + data_of(kCertificatePem) + ", client-key-data: ''")},
        Config{"CertificateAsKey", kubeconfig("client-certificate-data: " + data_of(kCertificatePem) +
                                              ", client-key-data: " + data_of(kCertificatePem))},
        Config{"Exec", kubeconfig("exec: {command: aws, args: [x], apiVersion: client.authentication.k8s.io/v1}")},
        Config{"TokenFile", kubeconfig("tokenFile: /x")},
        Config{"AuthProvider", kubeconfig("auth-provider: {name: gcp, config: {a: b}}")},
        Config{"Ca",
               kubeconfig("token: a", "server: https://x.example, certificate-authority-data: " + data_of(kCertificatePem))},
        Config{"BrokenCa", kubeconfig("token: a", "server: https://x.example, certificate-authority-data: " + data_of("nope"))},
        Config{"Insecure", kubeconfig("token: a", "server: https://x.example, insecure-skip-tls-verify: true")},
        Config{"SecureSaidAloud", kubeconfig("token: a", "server: https://x.example, insecure-skip-tls-verify: false")},
        Config{"QuotedFlag", kubeconfig("token: a", "server: https://x.example, insecure-skip-tls-verify: 'false'")},
        Config{"UserInServer", kubeconfig("token: a", "server: 'https://bob:abcdef@x.example'")},
        Config{"Proxy", kubeconfig("token: a", "server: https://x.example, proxy-url: 'http://bob:abcdef@proxy:3128'")},
        Config{"NoContext", "clusters: []\nusers: []\n"}, Config{"MergeKey", kubeconfig("<<: {token: a}")},
        Config{"TwoUsers", kubeconfig("token: a") + "- name: u\n  user: {token: b}\n"},
        Config{"Json",
               R"({"current-context":"c","clusters":[{"name":"a","cluster":{"server":"https://x.example"}}],)"
               R"("contexts":[{"name":"c","context":{"cluster":"a","user":"u"}}],"users":[{"name":"u","user":{"token":"t"}}]})"},
        Config{"Anchors", kubeconfig("token: &t abc") + "extensions: [*t, *t]\n"}),
    [](auto const& row) { return row.param.name; });

TEST(RedactedKubeconfig, ThatIsNoYamlIsStillRefused) {
    std::string const clean = kro::redacted_bytes("current-context: c\nusers: [\nclusters: {token: abcdefgh", kPlaceholders);
    EXPECT_FALSE(k8s::read_kubeconfig(clean, k8s::KubeconfigTrust::FromSecret));
    EXPECT_EQ(clean.find("abcdef"), std::string::npos);
}

TEST(RedactedKubeconfig, DoesNotGrowByAliases) {
    std::string bomb = "current-context: c\nclusters:\n- &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 20; ++i) {
        std::string const last = "*a" + std::to_string(i - 1);
        bomb += "- &a" + std::to_string(i) + " [" + last + "," + last + "," + last + "," + last + "]\n";
    }
    EXPECT_LT(kro::redacted_bytes(bomb, kPlaceholders).size(), std::size_t{1} << 20U);
}

// --- Events

CloudEvent event_about(Json object) {
    CloudEvent event;
    event.id = "7";
    event.source = "https://10.0.0.1:443";
    event.type = "dev.knative.apiserver.resource.update";
    event.datacontenttype = "application/json";
    event.extensions = {{"kind", "Secret"}, {"apiversion", "v1"}, {"name", "s"}, {"namespace", "n"}};
    event.data = std::move(object);
    return event;
}

TEST(Redaction, KnowsASecretByTheEventsAttributes) {
    CloudEvent event = event_about(json(R"({"metadata":{"name":"s"},"data":{"k":)" + base64_of("@@") + "}}"));
    kRedactor.redact(event, nullptr);
    EXPECT_FALSE(shows(base::dump_json(events::to_json(event)), kCanary));
}

TEST(Redaction, LooksIntoAttributesAndDataOfAnyType) {
    CloudEvent event;
    event.id = "Bearer " + kCanary;
    event.source = "https://bob:" + kCanary + "@x.example";
    event.type = "t";
    event.subject = "/x?token=" + kCanary;
    event.dataschema = "https://x.example?password=" + kCanary;
    event.extensions = {{"authtoken", kCanary}, {"note", "Authorization: " + kCanary}};
    event.datacontenttype = "text/plain";
    event.data = events::Bytes{kCanary};
    CloudEvent text = event;
    text.data = Json("password: " + kCanary);
    for (CloudEvent one : {event, text}) {
        kRedactor.redact(one, nullptr);
        EXPECT_FALSE(shows(base::dump_json(events::to_json(one)), kCanary)) << events::to_json(one).dump(2);
        CloudEvent again = one;
        kRedactor.redact(again, nullptr);
        EXPECT_EQ(again, one);
        EXPECT_TRUE(events::from_json(events::to_json(one)));
    }
}

Json exchange(std::string const& kind, std::string const& member, Json value) {
    return {
        {"cluster", "platform"}, {"verb", "get"}, {"resource", {{"version", "v1"}, {"kind", kind}}}, {member, std::move(value)}};
}

CloudEvent observed_with(Json exchange) {
    CloudEvent event;
    event.id = "o";
    event.source = "/x";
    event.type = kro::kObservedType;
    event.data = Json{{"event", {{"id", "7"}, {"source", "/x"}}},
                      {"parts", {{{"tenant", "team-a/acme"}, {"rounds", Json::array({Json::array({std::move(exchange)})})}}}}};
    return event;
}

TEST(Redaction, LooksIntoWhatWasObservedAndWritten) {
    Json const data = {{"k", encode_base64(kCanary)}};
    std::vector<Json> const exchanges{
        exchange("Secret", "object", {{"data", data}}),
        exchange("Secret", "object", {{"items", {{{"data", data}}}}}),
        exchange("Secret", "body", {{"data", data}}),
        exchange("Secret", "body", {{{"op", "add"}, {"path", "/data/k"}, {"value", data["k"]}}}),
        exchange("HelmRelease", "body", {{"spec", {{"values", {{"password", kCanary}}}}}}),
        exchange("HelmRelease", "body", {{{"op", "add"}, {"path", "/spec/values/auth/admin"}, {"value", kCanary}}}),
        exchange("Secret", "error", {{"status", 422}, {"message", "sent with Authorization: Bearer " + kCanary}}),
        exchange("Kro", "why", "the token=" + kCanary + " is refused"),
    };
    for (auto const& one : exchanges) {
        CloudEvent event = event_about({{"metadata", {{"name", "s"}}}});
        CloudEvent observed = observed_with(one);
        ASSERT_TRUE(shows(base::dump_json(events::to_json(observed)), kCanary));
        kRedactor.redact(event, &observed);
        EXPECT_FALSE(shows(base::dump_json(events::to_json(observed)), kCanary)) << events::to_json(observed).dump(2);
    }
}

TEST(Redaction, TakesASecretOutOfMessagesHoweverItIsQuotedThere) {
    CloudEvent event =
        event_about({{"kind", "Secret"}, {"metadata", {{"name", "s"}}}, {"data", {{"k", encode_base64(kCanary)}}}});
    event.extensions["recordedwhy"] = "the server did not like " + kCanary;
    CloudEvent observed =
        observed_with(exchange("Secret", "error", {{"message", "invalid: <" + kCanary + "> in " + encode_base64(kCanary)}}));
    kRedactor.redact(event, &observed);
    EXPECT_FALSE(shows(base::dump_json(events::to_json(event)), kCanary));
    EXPECT_FALSE(shows(base::dump_json(events::to_json(observed)), kCanary)) << events::to_json(observed).dump(2);
}

TEST(Redaction, NeverTakesANameForASecret) {
    CloudEvent event =
        event_about({{"kind", "Secret"}, {"metadata", {{"name", "openmcp-system"}}}, {"stringData", {{"k", "openmcp-system"}}}});
    event.extensions["recordedwhy"] = "pull secret openmcp-system/pull does not exist";
    kRedactor.redact(event, nullptr);
    EXPECT_EQ(events::extension(event, "recordedwhy"), "pull secret openmcp-system/pull does not exist");
}

TEST(Redaction, TakesAnyText) {
    std::mt19937 random{7};
    std::string const letters = "\"'{}[]:=@/ \n\\-abeyJ.TOKENpassword\xc3\xa4\x01";
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (std::size_t i = random() % 60; i > 0; --i) text += letters[random() % letters.size()];
        text = base::valid_utf8(text);
        std::string const once = kRedactor.redacted(text);
        EXPECT_EQ(kRedactor.redacted(once), once) << text;
    }
}

// --- The key

TEST(PlaceholderKey, IsMadeOnceForItsOwnerAlone) {
    support::Folder const folder;
    auto const made = kro::key_in(folder / "key");
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(kro::key_in(folder / "key").value(), *made);
    struct stat status = {};
    ASSERT_EQ(::stat((folder / "key").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_NE(kro::key_in(folder / "other").value(), *made);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder.path()}, {}), 2);
}

TEST(PlaceholderKey, ThatIsNoneOfOursIsNotUsed) {
    support::Folder const folder;
    folder.write("key", "12345\n");
    EXPECT_EQ(kro::key_in(folder / "key").error(),
              (folder / "key").string() + " holds no key of ours; remove it, and a new one is made");
}

TEST(PlaceholderKey, ThatCantBeMadeIsSaidToBeSo) {
    auto const made = kro::key_in("/nonexistent/key");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), "/nonexistent/key can't be made: No such file or directory");
}

TEST(Placeholder, SaysNothingWithoutTheKey) {
    EXPECT_NE(Placeholders{"one key, long enough"}.of("secret"), Placeholders{"another key, long enough"}.of("secret"));
    EXPECT_NE(kPlaceholders.of("secret"), kPlaceholders.of("secret2"));
    EXPECT_EQ(kPlaceholders.of(""), "");
    EXPECT_EQ(kPlaceholders.of(kPlaceholders.of("x")), kPlaceholders.of("x"));
}

}  // namespace
