#include "k8s/kubeconfig.hpp"

#include "base/base64.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace {

using base::encode_base64;
using k8s::ClusterAccess;
using k8s::KubeconfigTrust;

std::string const kPem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
std::string const kKeyPem = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";

std::string replaced(std::string text, std::string const& what, std::string const& with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

std::string repeated(std::string const& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
}

/// A kubeconfig with one of everything, whose cluster and user have these fields.
std::string kubeconfig(std::string const& cluster, std::string const& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: work\n"
           "contexts:\n- name: work\n  context: {cluster: acme, user: robot, namespace: team}\n"
           "clusters:\n- name: acme\n  cluster:\n    server: https://acme.example:6443\n    " +
           cluster + "\n" + "users:\n- name: robot\n  user:\n    " + user + "\n";
}

std::string const kCaData = "certificate-authority-data: " + base::encode_base64(kPem);

k8s::Result<ClusterAccess> from_secret(std::string const& text) {
    return k8s::read_kubeconfig(text, KubeconfigTrust::FromSecret);
}

std::string message_of(k8s::Result<ClusterAccess> const& access) {
    if (access) return "no error";
    EXPECT_EQ(access.error().kind, k8s::Error::Kind::Unusable);
    return access.error().message;
}

std::string refusal_of(std::string const& text) { return message_of(from_secret(text)); }

k8s::Credentials credentials_of(ClusterAccess const& access, k8s::Freshness freshness = k8s::Freshness::Cached) {
    auto const credentials = access.credentials(freshness);
    if (credentials) return **credentials;
    ADD_FAILURE() << credentials.error().message;
    return {};
}

testing::AssertionResult contains(std::string const& text, std::string const& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
}

TEST(Kubeconfig, GivesEverythingThatItsContextLeadsTo) {
    auto const access = from_secret(
        kubeconfig(kCaData + "\n    tls-server-name: api.acme\n    proxy-url: socks5://127.0.0.1:1080", "token: abc"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->name, "cluster \"acme\"");
    EXPECT_EQ(to_string(access->server), "https://acme.example:6443");
    EXPECT_EQ(access->ca, kPem);
    EXPECT_EQ(access->tls_server_name, "api.acme");
    EXPECT_EQ(access->proxy_url, "socks5://127.0.0.1:1080");
    EXPECT_EQ(access->namespace_, "team");
    EXPECT_EQ(access->verification, ClusterAccess::Verification::On);
    EXPECT_EQ(credentials_of(*access).token, "abc");
}

TEST(Kubeconfig, MayBeJson) {
    auto const access = from_secret(R"({"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":
        {"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"https:\/\/10.0.0.1"}}],"users":[{"name":"u","user":
        {"token":"t"}}]})");
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(to_string(access->server), "https://10.0.0.1:443");
    EXPECT_EQ(access->ca, "");
}

TEST(Kubeconfig, TakesAClientCertificateWithItsKey) {
    auto const access = from_secret(kubeconfig(kCaData, "client-certificate-data: " + base::encode_base64(kPem) +
                                                            "\n    client-key-data: " + base::encode_base64(kKeyPem)));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(credentials_of(*access).client_certificate, kPem);
    EXPECT_EQ(credentials_of(*access).client_key, kKeyPem);
}

TEST(Kubeconfig, TakesAUserNameWithAPassword) {
    auto const access = from_secret(kubeconfig(kCaData, "username: Aladdin\n    password: open sesame"));
    ASSERT_TRUE(access) << access.error().message;
    // Source: RFC 7617 section 2.
    EXPECT_EQ(authorization_of(credentials_of(*access)), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

struct Refused {
    char const* name;
    std::string cluster;
    std::string user;
    std::string because;
};
void PrintTo(Refused const& row, std::ostream* out) { *out << row.name; }
auto const row_name = [](auto const& row) { return std::string{row.param.name}; };

class Entry : public testing::TestWithParam<Refused> {};
TEST_P(Entry, IsRefusedByItsNameAndField) {
    std::string const message = refusal_of(kubeconfig(GetParam().cluster, GetParam().user));
    EXPECT_TRUE(contains(message, GetParam().because));
    EXPECT_FALSE(contains(message, "s3cr3t"));
}

INSTANTIATE_TEST_SUITE_P(
    WhatOpensOrRuns, Entry,
    testing::Values(Refused{"CaFile", "certificate-authority: ca.crt", "token: s3cr3t",
                            "cluster entry \"acme\": certificate-authority names a file"},
                    Refused{"Exec", kCaData, "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1}",
                            "user entry \"robot\": exec would run a program"},
                    Refused{"ExecBesideAToken", kCaData, "exec: {command: /bin/sh}\n    token: s3cr3t", "exec"},
                    Refused{"AuthProvider", kCaData, "auth-provider: {name: gcp}", "auth-provider is not supported"},
                    Refused{"TokenFile", kCaData, "tokenFile: /etc/passwd", "tokenFile names a file"},
                    Refused{"TokenFileBesideAToken", kCaData,
                            "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token\n    token: s3cr3t", "tokenFile"},
                    Refused{"ClientKeyFile", kCaData, "client-key: /proc/self/environ", "client-key names a file"},
                    Refused{"ClientCertificateFile", kCaData, "client-certificate: c.crt\n    token: s3cr3t",
                            "client-certificate names a file"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    BrokenCa, Entry,
    testing::Values(
        Refused{"EncodedTwice", "certificate-authority-data: " + base::encode_base64(base::encode_base64(kPem)), "token: s3cr3t",
                "cluster entry \"acme\": certificate-authority-data holds no PEM block but one that is encoded in base64 twice"},
        Refused{"Placeholder", "certificate-authority-data: <base64-encoded-ca-cert>", "token: s3cr3t",
                "certificate-authority-data is not base64 and holds no PEM block"},
        Refused{"EmptyText", "certificate-authority-data: \"\"", "token: s3cr3t",
                "certificate-authority-data is empty and holds no PEM block"},
        Refused{"Nothing", "certificate-authority-data:", "token: s3cr3t",
                "certificate-authority-data is empty and holds no PEM block"},
        Refused{"OtherBytes", "certificate-authority-data: " + base::encode_base64("s3cr3t bytes"), "token: a", "no PEM block"},
        Refused{"AKeyInItsPlace", "certificate-authority-data: " + base::encode_base64(kKeyPem), "token: a",
                "no PEM block of a certificate"},
        Refused{"AMapping", "certificate-authority-data: {a: b}", "token: a", "certificate-authority-data must be a plain text"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(Verification, Entry,
                         testing::Values(Refused{"OffBesideACa", kCaData + "\n    insecure-skip-tls-verify: true", "token: a",
                                                 "insecure-skip-tls-verify contradicts the CA beside it"},
                                         Refused{"Off", "insecure-skip-tls-verify: true", "token: a",
                                                 "cluster entry \"acme\": insecure-skip-tls-verify is not allowed"},
                                         Refused{"OffAsAText", "insecure-skip-tls-verify: \"true\"", "token: a",
                                                 "insecure-skip-tls-verify must be true or false"},
                                         Refused{"OffByAnotherWord", "insecure-skip-tls-verify: yes", "token: a",
                                                 "insecure-skip-tls-verify must be true or false"}),
                         row_name);

INSTANTIATE_TEST_SUITE_P(
    Credentials, Entry,
    testing::Values(
        Refused{"NewlineInTheToken", kCaData, "token: \"s3cr3t\\nX-Evil: 1\"",
                "user entry \"robot\": token has control characters"},
        Refused{"TokenAndPassword", kCaData, "token: s3cr3t\n    username: a\n    password: s3cr3t",
                "username is there beside a token"},
        Refused{"CertificateWithoutKey", kCaData, "client-certificate-data: " + base::encode_base64(kPem),
                "client-key-data is missing"},
        Refused{"KeyWithoutCertificate", kCaData, "client-key-data: " + base::encode_base64(kKeyPem),
                "client-certificate-data is missing"},
        Refused{"BrokenKeyBesideAToken", kCaData, "token: s3cr3t\n    client-key-data: s3cr3t!", "client-key-data is not base64"},
        Refused{"EncryptedKey", kCaData,
                "client-certificate-data: " + base::encode_base64(kPem) + "\n    client-key-data: " +
                    base::encode_base64("-----BEGIN ENCRYPTED PRIVATE KEY-----\ns3cr3t\n-----END ENCRYPTED PRIVATE KEY-----\n"),
                "client-key-data holds an encrypted key"},
        Refused{"SomebodyElse", kCaData, "token: s3cr3t\n    as: admin", "as is not supported"},
        Refused{"NobodyAtAll", kCaData, "{}", "token is missing"},
        Refused{"TokenTwice", kCaData, "token: s3cr3t\n    token: s3cr3t-too", "token is there twice"},
        Refused{"PasswordThatLooksLikeAnAlias", kCaData, "username: a\n    password: *s3cr3t", "is no YAML: line 16, column 15"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Server, Entry,
    testing::Values(Refused{"UnknownProxy", "proxy-url: ftp://proxy", "token: a",
                            "proxy-url must begin with http://, https:// or socks5://"},
                    Refused{"ProxyWithALineBreak", "proxy-url: \"http://proxy\\n\"", "token: a", "proxy-url must begin with"},
                    Refused{"NameThatIsNone", "tls-server-name: \"a b\"", "token: a", "tls-server-name must be a host name"}),
    row_name);

TEST(Kubeconfig, RunsAndOpensNothingWhenItComesFromASecret) {
    support::Folder const folder;
    std::string const marker = folder / "marker";
    std::string const exec =
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: /bin/sh\n      args: [-c, \"touch " + marker +
        "\"]";
    EXPECT_TRUE(contains(refusal_of(kubeconfig(kCaData, exec)), "exec"));
    EXPECT_FALSE(std::filesystem::exists(marker));
}

struct Address {
    char const* name;
    std::string server;
    std::string expected;  ///< the URL, or a part of the refusal
};
void PrintTo(Address const& row, std::ostream* out) { *out << row.name; }

class Server : public testing::TestWithParam<Address> {};
TEST_P(Server, IsAUrlWithHostAndPort) {
    auto const text = replaced(kubeconfig(kCaData, "token: a"), "https://acme.example:6443", GetParam().server);
    auto const access = from_secret(text);
    EXPECT_TRUE(contains(access ? to_string(access->server) : access.error().message, GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    , Server,
    testing::Values(
        Address{"DefaultPort", "https://acme", "https://acme:443"},
        Address{"PlainHttp", "http://127.0.0.1", "http://127.0.0.1:80"},
        Address{"Prefix", "https://acme/clusters/a/", "https://acme:443/clusters/a"},
        Address{"Ipv6", "\"https://[fd00:10:0::1]:6443\"", "https://[fd00:10:0::1]:6443"},
        Address{"Ipv6WithoutBrackets", "https://fd00::1:6443", "server has an IPv6 address without brackets"},
        Address{"NoScheme", "acme:6443", "server must begin with https:// or http://"},
        Address{"OtherScheme", "file:///etc/passwd", "server must begin with https:// or http://"},
        Address{"NoHost", "https://", "server has no host"}, Address{"NoHostButAPort", "https://:6443", "server has no host"},
        Address{"Empty", "\"\"", "server is missing"}, Address{"User", "https://me:pw@acme", "server must have no user in it"},
        Address{"UserBeforeAPort", "https://me@acme:1", "server must have no user in it"},
        Address{"Query", "https://acme?a=b", "server must have no query"},
        Address{"Port", "https://acme:99999", "server has no port"}, Address{"Space", "\"https://acme /\"", "server has no host"},
        Address{"EmptyBrackets", "\"https://[]:1\"", "server has no host"}),
    row_name);

// A name in a list of names is matched by its letters alone.
TEST(Kubeconfig, ReadsScalarsByTheirSourceText) {
    auto const access = from_secret(
        "current-context: 0123\n"
        "contexts:\n- name: 123\n  context: {cluster: wrong, user: wrong}\n- {name: 0123, context: {cluster: yes, user: 1e3, "
        "namespace: 973585995}}\n"
        "clusters: [{name: yes, cluster: {server: 'https://acme'}}, {name: ~, cluster: {server: 'https://nobody'}}, {name: "
        "true}]\n"
        "users: [{name: 1000, user: {token: wrong}}, {name: 1e3, user: {token: 00112233}}]\n");
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->name, "cluster \"yes\"");
    EXPECT_EQ(access->namespace_, "973585995");
    EXPECT_EQ(credentials_of(*access).token, "00112233");
}

TEST(Kubeconfig, TakesANullNameForNone) {
    EXPECT_TRUE(contains(refusal_of("current-context: ~\ncontexts: [{name: ~, context: {cluster: a, user: b}}]"),
                         "has no current-context"));
}

TEST(Kubeconfig, MayStartWithAByteOrderMarkAndEndItsLinesWithCrLf) {
    auto const access = from_secret("\xEF\xBB\xBF" + replaced(kubeconfig(kCaData, "token: s3cr3t-42"), "\n", "\r\n"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(credentials_of(*access).token, "s3cr3t-42");
    EXPECT_EQ(to_string(access->server), "https://acme.example:6443");
    EXPECT_EQ(access->namespace_, "team");
}

TEST(Kubeconfig, LosesTheWhiteSpaceAtTheEndOfATokenOnly) {
    auto const access = from_secret(kubeconfig(kCaData, "token: \" s3cr3t 42 \\r\\n\\t\""));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(credentials_of(*access).token, " s3cr3t 42");
}

struct Text {
    char const* name;
    std::string text;
    std::string because;
};
void PrintTo(Text const& row, std::ostream* out) { *out << row.name; }

std::string utf16(std::string const& text, bool little) {
    std::string wide = little ? "\xFF\xFE" : "\xFE\xFF";
    for (char const c : text) wide += little ? std::string{c, '\0'} : std::string{'\0', c};
    return wide;
}

class Document : public testing::TestWithParam<Text> {};
TEST_P(Document, IsRefusedWithItsCause) { EXPECT_TRUE(contains(refusal_of(GetParam().text), GetParam().because)); }

std::string const kGood = kubeconfig(kCaData, "token: s3cr3t");

INSTANTIATE_TEST_SUITE_P(
    Bytes, Document,
    testing::Values(Text{"Utf16LittleEndian", utf16(kGood, true), "is written in UTF-16"},
                    Text{"Utf16BigEndian", utf16(kGood, false), "is written in UTF-16"},
                    Text{"Utf16WithoutMark", utf16(kGood, true).substr(2), "is written in UTF-16"},
                    Text{"Latin1", replaced(kGood, "work", "w\x80rk"), "not UTF-8"},
                    Text{"Nul", replaced(kGood, "work", std::string{"w\0k", 3}), "not UTF-8"},
                    Text{"Tab", "clusters:\n\t- name: a\n", "is no YAML: line 2, column 2: indented with a tab"},
                    Text{"TabBeforeAField", replaced(kGood, "    token", "\ttoken"), "indented with a tab"},
                    Text{"Empty", "", "is empty"}, Text{"OpenQuote", "current-context: \"s3cr3t", "is no YAML: line 1"},
                    Text{"Large", std::string(1024 * 1024 + 1, '#'), "larger than 1 MiB"},
                    Text{"DeepBrackets", std::string(15'000, '['), "is nested too deep"},
                    Text{"MoreBrackets", std::string(500'000, '['), "has too many values"},
                    Text{"DeepBraces", repeated("{a: ", 15'000), "is nested too deep"},
                    Text{"DeepDashes", repeated("- ", 200'000), "is nested too deep"},
                    Text{"ManyValues", repeated("- a\n", 200'000), "has too many values"},
                    Text{"ManyValuesInOneLine", "a: [" + repeated("a,", 300'000) + "]", "has too many values"},
                    Text{"AliasOfItself", "a: &a [*a]\n", "is no YAML"}, Text{"AliasOfNothing", "a: *b\n", "is no YAML"}),
    row_name);

std::string const kTwoContexts =
    "contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: u}}]\n"
    "clusters: [{name: c, cluster: {server: 'https://acme'}}]\nusers: [{name: u, user: {token: s3cr3t}}]\n";

INSTANTIATE_TEST_SUITE_P(
    References, Document,
    testing::Values(
        Text{"NoCurrentContext", kTwoContexts, "has no current-context"},
        Text{"UnknownContext", "current-context: z\n" + kTwoContexts, "has no context entry \"z\""},
        Text{"NoContexts", "current-context: z\n", "has no context entry \"z\": contexts is empty"},
        Text{"ContextWithoutUser", "current-context: a\n" + replaced(kTwoContexts, ", user: u", ""),
             "context entry \"a\": user is missing"},
        Text{"ContextWithoutCluster", "current-context: a\n" + replaced(kTwoContexts, "cluster: c, ", ""),
             "context entry \"a\": cluster is missing"},
        Text{"NoUserEntry", "current-context: a\n" + replaced(kTwoContexts, "name: u", "name: v"), "has no user entry \"u\""},
        Text{"EmptyUserEntry", "current-context: a\n" + replaced(kTwoContexts, "{token: s3cr3t}", ""),
             "user entry \"u\" is empty"},
        Text{"UserEntryTwice",
             "current-context: a\n" + replaced(kTwoContexts, "users: [", "users: [{name: u, user: {token: x}}, "),
             "has user entry \"u\" twice"},
        Text{"NullClusters", "current-context: a\nclusters: null\n" + replaced(kTwoContexts, "clusters:", "other:"),
             "has no cluster entry \"c\": clusters is empty"},
        Text{"ClustersAreAMapping", "current-context: a\nclusters: {c: d}\n" + replaced(kTwoContexts, "clusters:", "other:"),
             "clusters must be a list"},
        Text{"NoServer", "current-context: a\n" + replaced(kTwoContexts, "server: 'https://acme'", ""),
             "cluster entry \"c\": server is missing"},
        Text{"AList", "- current-context: a\n- " + replaced(kTwoContexts, "\n", "\n  "), "must be a mapping"},
        Text{"AText", "kubeconfig", "must be a mapping"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    MergeKeys, Document,
    testing::Values(
        Text{"InTheUser",
             replaced(kGood, "token: s3cr3t", "<<: *base\n    token: s3cr3t") + "other: &base {client-certificate-data: YQ==}\n",
             "is no YAML"},
        Text{"InTheUserWithItsAnchorBefore",
             "other: &base {client-certificate-data: YQ==}\n" + replaced(kGood, "token: s3cr3t", "<<: *base\n    token: s3cr3t"),
             "user entry \"robot\": merge keys are not supported"},
        Text{"InTheCluster",
             "other: &base {server: 'https://acme'}\n" + replaced(kGood, "server: https://acme.example:6443", "<<: *base"),
             "cluster entry \"acme\": merge keys are not supported"},
        Text{"InAnEntry", "other: &base {name: acme}\n" + replaced(kGood, "- name: acme", "- <<: *base"),
             "merge keys are not supported"},
        Text{"AtTheTop", "<<: {current-context: work}\n" + kGood, "merge keys are not supported"}),
    row_name);

TEST(Kubeconfig, IsNotHurtByWhatNobodyUses) {
    auto const access =
        from_secret(replaced(kGood, "clusters:", "clusters:\n- name: other\n  cluster: {}\n- just a text\n- name: [a]") +
                    "- name: dangerous\n  user: {exec: {command: rm}, <<: {a: b}, token: {}}\n");
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(to_string(access->server), "https://acme.example:6443");
}

TEST(Kubeconfig, SharesWhatAnAnchorNames) {
    auto const access = from_secret("token: &t s3cr3t\n" + replaced(kGood, "token: s3cr3t", "token: *t"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(credentials_of(*access).token, "s3cr3t");
}

TEST(Kubeconfig, DoesNotGrowByAliases) {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        std::string const before = "*a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int j = 0; j < 8; ++j) text += ", " + before;
        text += "]\n";
    }
    EXPECT_TRUE(from_secret(text + kGood));
}

// The files beside an operator's kubeconfig.

k8s::Result<ClusterAccess> from_file(support::Folder const& folder, std::string const& text, base::Clock clock = {}) {
    folder.write("config", text);
    return k8s::read_kubeconfig_file(folder / "config", std::move(clock));
}

TEST(OperatorsKubeconfig, FindsItsFilesBesideItself) {
    support::Folder const folder;
    folder.write("ca.crt", kPem);
    folder.write("pki/me.crt", kPem);
    folder.write("pki/me.key", kKeyPem);
    folder.write("token", "from-file\n");
    auto const access = from_file(
        folder, kubeconfig("certificate-authority: ca.crt", "client-certificate: pki/me.crt\n    client-key: " +
                                                                (folder / "pki/me.key").string() + "\n    tokenFile: token"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->ca, kPem);
    EXPECT_EQ(credentials_of(*access).client_certificate, kPem);
    EXPECT_EQ(credentials_of(*access).client_key, kKeyPem);
    EXPECT_EQ(credentials_of(*access).token, "from-file");
}

TEST(OperatorsKubeconfig, NamesAFileThatCannotBeRead) {
    support::Folder const folder;
    EXPECT_TRUE(contains(message_of(from_file(folder, kubeconfig("certificate-authority: ca.crt", "token: a"))),
                         "certificate-authority names a file that can't be read: " + (folder / "ca.crt").string()));
    EXPECT_TRUE(contains(message_of(k8s::read_kubeconfig_file(folder / "none", {})), "can't be read"));
}

TEST(OperatorsKubeconfig, MaySwitchVerificationOffButNotBesideACa) {
    support::Folder const folder;
    auto const access = from_file(folder, kubeconfig("insecure-skip-tls-verify: true", "token: a"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->verification, ClusterAccess::Verification::Off);
    EXPECT_TRUE(contains(message_of(from_file(folder, kubeconfig(kCaData + "\n    insecure-skip-tls-verify: true", "token: a"))),
                         "contradicts"));
    EXPECT_TRUE(contains(message_of(from_file(folder, kubeconfig("insecure-skip-tls-verify: \"true\"", "token: a"))),
                         "must be true or false"));
}

std::string exec_user(std::string const& script, std::string const& version = "v1") {
    return "exec:\n      apiVersion: client.authentication.k8s.io/" + version +
           "\n      command: ./plugin\n      args: [one, \"2\"]\n      env: [{name: EXTRA, value: more}]\n      "
           "provideClusterInfo: true\n"
           "      interactiveMode: IfAvailable\n# " +
           script;
}

void write_plugin(support::Folder const& folder, std::string const& script) {
    folder.write("plugin", "#!/bin/sh\n" + script);
    ::chmod((folder / "plugin").c_str(), 0700);
}

std::string credential(std::string const& status, std::string const& version = "v1") {
    return R"({"apiVersion":"client.authentication.k8s.io/)" + version + R"(","kind":"ExecCredential","status":)" + status + "}";
}

TEST(OperatorsKubeconfig, RunsItsPluginWhenCredentialsAreWanted) {
    support::Folder const folder;
    write_plugin(folder,
                 "cd \"$(dirname \"$0\")\"; echo run >> runs; echo \"$1 $2 $EXTRA $KUBERNETES_EXEC_INFO\" > seen\n"
                 "echo '" +
                     credential(R"({"token":"t","expirationTimestamp":"2026-11-30T12:00:00Z"})") + "'\n");
    base::Time now = *base::parse_rfc3339("2026-11-30T11:00:00Z");
    auto const access = from_file(folder, kubeconfig(kCaData, exec_user("")), [&now] { return now; });
    ASSERT_TRUE(access) << access.error().message;
    auto const runs = [&] { return k8s::read_file(folder / "runs", 1000).value_or(""); };
    EXPECT_EQ(runs(), "");
    EXPECT_EQ(credentials_of(*access).token, "t");
    EXPECT_EQ(credentials_of(*access).token, "t");
    EXPECT_EQ(runs(), "run\n");
    now = *base::parse_rfc3339("2026-11-30T11:59:51Z");
    EXPECT_EQ(credentials_of(*access).token, "t");
    EXPECT_EQ(runs(), "run\nrun\n");
    now = *base::parse_rfc3339("2026-11-30T11:00:00Z");
    EXPECT_EQ(credentials_of(*access, k8s::Freshness::Anew).token, "t");
    EXPECT_EQ(runs(), "run\nrun\nrun\n");
    std::string const seen = k8s::read_file(folder / "seen", 10000).value_or("");
    EXPECT_TRUE(contains(seen, "one 2 more {"));
    EXPECT_TRUE(contains(seen, R"("server":"https://acme.example:6443")"));
}

struct Plugin {
    char const* name;
    std::string script;
    std::string because;
};
void PrintTo(Plugin const& row, std::ostream* out) { *out << row.name; }

class BrokenPlugin : public testing::TestWithParam<Plugin> {};
TEST_P(BrokenPlugin, IsNamedWithoutItsOutput) {
    support::Folder const folder;
    write_plugin(folder, GetParam().script);
    auto const access = from_file(folder, kubeconfig(kCaData, exec_user("")), [] { return base::Time{}; });
    ASSERT_TRUE(access) << access.error().message;
    auto const credentials = access->credentials(k8s::Freshness::Cached);
    ASSERT_FALSE(credentials);
    EXPECT_EQ(credentials.error().kind, k8s::Error::Kind::Unusable);
    EXPECT_TRUE(contains(credentials.error().message, GetParam().because));
    EXPECT_FALSE(contains(credentials.error().message, "s3cr3t"));
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenPlugin,
    testing::Values(Plugin{"Fails", "echo s3cr3t; exit 3", "ended with status 3"},
                    Plugin{"PrintsText", "echo s3cr3t", "printed no ExecCredential"},
                    Plugin{"PrintsNothing", "true", "printed no ExecCredential"},
                    Plugin{"OtherVersion", "echo '" + credential(R"({"token":"s3cr3t"})", "v1beta1") + "'", "another apiVersion"},
                    Plugin{"NoCredentials", "echo '" + credential("{}") + "'", "neither a token nor a client certificate"},
                    Plugin{"KeyAlone", "echo '" + credential(R"({"clientKeyData":"s3cr3t"})") + "'", "without its certificate"},
                    Plugin{"TooMuch", "yes s3cr3t", "printed too much"}, Plugin{"IsKilled", "kill -9 $$", "was killed"}),
    row_name);

TEST(OperatorsKubeconfig, TakesAClientCertificateFromAnOlderPlugin) {
    support::Folder const folder;
    write_plugin(folder, "echo '" + credential(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})", "v1beta1") + "'");
    auto const access = from_file(folder, kubeconfig(kCaData, exec_user("", "v1beta1")), [] { return base::Time{}; });
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(credentials_of(*access).client_certificate, "CERT");
    EXPECT_EQ(credentials_of(*access).client_key, "KEY");
}

// In a pod.

/// A folder as kubelet mounts it: ..data is a symlink to a folder with the files, and is swapped.
void mount(support::Folder const& folder, std::string const& version, std::string const& token) {
    folder.write(version + "/token", token);
    folder.write(version + "/ca.crt", kPem);
    std::filesystem::create_directory_symlink(version, folder / "..data_tmp");
    std::filesystem::rename(folder / "..data_tmp", folder / "..data");
    for (auto const* name : {"token", "ca.crt"}) {
        if (!std::filesystem::is_symlink(folder / name))
            std::filesystem::create_symlink(std::string{"..data/"} + name, folder / name);
    }
}

TEST(InClusterAccess, UsesANewTokenAtOnceAndTheLastOneWhenTheFileIsGone) {
    support::Folder const folder;
    mount(folder, "first", "one\n");
    auto const access = k8s::in_cluster_access("10.96.0.1", "443", folder.path());
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(to_string(access->server), "https://10.96.0.1:443");
    EXPECT_EQ(access->ca, kPem);
    EXPECT_EQ(credentials_of(*access).token, "one");
    mount(folder, "second", "two\n");
    EXPECT_EQ(credentials_of(*access).token, "two");
    folder.write("second/token", "");
    EXPECT_EQ(credentials_of(*access, k8s::Freshness::Anew).token, "two");
    std::filesystem::remove_all(folder.path());
    EXPECT_EQ(credentials_of(*access, k8s::Freshness::Anew).token, "two");
}

TEST(InClusterAccess, PutsAnIpv6AddressIntoBrackets) {
    support::Folder const folder;
    mount(folder, "first", "one");
    for (auto const* host : {"fd00:10::1", "[fd00:10::1]"}) {
        auto const access = k8s::in_cluster_access(host, "443", folder.path());
        ASSERT_TRUE(access) << access.error().message;
        EXPECT_EQ(to_string(access->server), "https://[fd00:10::1]:443");
    }
}

TEST(InClusterAccess, SaysWhatIsMissing) {
    support::Folder const folder;
    EXPECT_TRUE(contains(message_of(k8s::in_cluster_access("", "", folder.path())), "KUBERNETES_SERVICE_HOST"));
    EXPECT_TRUE(contains(message_of(k8s::in_cluster_access("10.0.0.1", "https", folder.path())), "no port"));
    EXPECT_TRUE(contains(message_of(k8s::in_cluster_access("10.0.0.1", "443", folder.path())), "ca.crt holds no certificate"));
    folder.write("ca.crt", kPem);
    EXPECT_TRUE(contains(message_of(k8s::in_cluster_access("10.0.0.1", "443", folder.path())), "token holds no token"));
}

}  // namespace
