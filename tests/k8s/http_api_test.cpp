#include "k8s/http_api.hpp"

#include "base/base64.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/http_server.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

namespace {

/// Names that end in .blackhole have a resolver that does not answer before the test lets it.
struct Blackhole {
    std::mutex mutex;
    std::condition_variable opened;
    bool is_open = false;
    std::atomic<int> waiting = 0;

    void open() {
        std::lock_guard const lock{mutex};
        is_open = true;
        opened.notify_all();
    }
};
Blackhole& blackhole() {
    static auto* const the_one = new Blackhole;  // a resolver's thread may outlive the test
    return *the_one;
}

}  // namespace

/// Stands before the C library's function for the whole test program, libcurl's threads included.
extern "C" int getaddrinfo(char const* node, char const* service, addrinfo const* hints, addrinfo** result) {
    using Function = int (*)(char const*, char const*, addrinfo const*, addrinfo**);
    if (node != nullptr && std::string_view{node}.ends_with(".blackhole")) {
        auto& hole = blackhole();
        std::unique_lock lock{hole.mutex};
        ++hole.waiting;
        hole.opened.wait(lock, [&] { return hole.is_open; });
        return EAI_AGAIN;
    }
    static auto const next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "getaddrinfo"));
    return next(node, service, hints, result);
}

namespace {

using namespace std::chrono_literals;
using base::Json;
using k8s::Answer;
using k8s::ClusterAccess;
using k8s::Error;
using k8s::HttpApi;
using k8s::HttpOptions;
using k8s::Request;
using support::HttpServer;
using support::Received;
using support::Reply;

base::Time const kNow = *base::parse_rfc3339("1994-11-06T08:49:37Z");

base::Deadline within(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

HttpOptions options() {
    HttpOptions some;
    some.user_agent = "kro-function/1.2.3";
    some.clock = [] { return kNow; };
    return some;
}

ClusterAccess access_to(std::string const& url, k8s::Credentials credentials = {}) {
    ClusterAccess access;
    access.name = "cluster \"acme\"";
    access.server = *k8s::parse_server_address(url);
    access.credentials = k8s::fixed_credentials(std::move(credentials));
    return access;
}

k8s::Credentials token(std::string text) {
    k8s::Credentials credentials;
    credentials.token = std::move(text);
    return credentials;
}

Json secret(std::string const& name, std::string const& value = "x") {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"name", name}, {"namespace", "team"}}},
            {"data", {{"v", value}}}};
}

Request get_secret(std::string name) { return k8s::get(k8s::kSecrets, {"team", std::move(name)}); }
Request apply_secret(std::string const& name) { return k8s::apply(k8s::kSecrets, secret(name), "kro"); }
Request delete_secret(std::string name) { return k8s::remove(k8s::kSecrets, {"team", std::move(name)}, {"u-1", ""}); }
Request patch_secret(std::string name) { return k8s::json_patch(k8s::kSecrets, {"team", std::move(name)}, Json::array(), "kro"); }

std::string status(int code, std::string const& reason, std::string const& message) {
    return base::dump_json({{"kind", "Status"},
                            {"apiVersion", "v1"},
                            {"status", "Failure"},
                            {"code", code},
                            {"reason", reason},
                            {"message", message}});
}

testing::AssertionResult contains(std::string const& text, std::string const& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
}

k8s::Result<Json> ask(k8s::Api& api, Request request, std::chrono::milliseconds time = 5s) {
    return k8s::send_one(api, std::move(request), within(time));
}

/// The error of a request that must fail.
Error refusal(k8s::Api& api, Request request, std::chrono::milliseconds time = 5s) {
    auto const result = ask(api, std::move(request), time);
    if (!result) return result.error();
    ADD_FAILURE() << "no error";
    return {};
}

// What is on the wire.

TEST(HttpApi, SendsWhatARequestSaysAndReadsTheObject) {
    HttpServer server{[](Received const&) { return support::json(R"({"kind":"Secret","n":1.0})"); }};
    HttpApi api{access_to(server.url() + "/clusters/a", token("abc")), options()};
    auto const result = ask(api, apply_secret("pull"));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(base::dump_json(*result), R"({"kind":"Secret","n":1.0})");
    auto const requests = server.requests();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(
        requests[0].head,
        "PATCH /clusters/a/api/v1/namespaces/team/secrets/pull?fieldManager=kro&force=true&fieldValidation=Strict HTTP/1.1\r\n"
        "Host: 127.0.0.1:" +
            std::to_string(server.port()) +
            "\r\n"
            "User-Agent: kro-function/1.2.3\r\n"
            "Accept: application/json\r\n"
            "Content-Type: application/apply-patch+yaml\r\n"
            "Authorization: Bearer abc\r\n"
            "Content-Length: " +
            std::to_string(requests[0].body.size()) + "\r\n\r\n");
    EXPECT_EQ(requests[0].body, base::dump_json(secret("pull")));
}

TEST(HttpApi, AnswersABatchInItsOrderAndKeepsTheConnection) {
    HttpServer server{[](Received const& received) { return support::json(base::dump_json({{"target", received.target}})); }};
    HttpApi api{access_to(server.url()), options()};
    for (int round = 0; round < 3; ++round) {
        std::vector<Request> batch;
        for (int i = 0; i < 40; ++i) batch.push_back(get_secret("s" + std::to_string(i)));
        auto const answers = api.send(batch, within(5s));
        ASSERT_EQ(answers.size(), batch.size());
        for (int i = 0; i < 40; ++i) {
            auto const& answer = answers[static_cast<std::size_t>(i)];
            ASSERT_TRUE(answer.result) << answer.result.error().message;
            EXPECT_EQ(answer.result->at("target"), "/api/v1/namespaces/team/secrets/s" + std::to_string(i));
            EXPECT_GT(answer.duration, 0us);
        }
    }
    EXPECT_LE(server.connections(), 8);
}

TEST(HttpApi, AnswersAnEmptyBatchWithNothing) {
    HttpApi api{access_to("http://127.0.0.1:1"), options()};
    EXPECT_TRUE(api.send({}, within(1s)).empty());
}

TEST(HttpApi, IsSharedByManyThreads) {
    HttpServer server{[](Received const& received) { return support::json(base::dump_json({{"target", received.target}})); }};
    HttpApi api{access_to(server.url()), options()};
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 25; ++i) {
                std::string const name = "s" + std::to_string(t) + "-" + std::to_string(i);
                std::vector<Request> const batch{get_secret(name), apply_secret(name)};
                for (auto const& answer : api.send(batch, within(20s))) {
                    right += answer.result && contains(answer.result->at("target"), "/secrets/" + name) ? 1 : 0;
                }
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 8 * 25 * 2);
    EXPECT_LE(server.connections(), 8);
}

// With Expect, libcurl would wait a second for a 100 Continue that never comes.
TEST(HttpApi, SendsLargeBodiesWithoutExpecting) {
    HttpServer server{[](Received const&) { return Reply{}; }};
    HttpApi api{access_to(server.url()), options()};
    for (std::size_t const size : {30'000U, 3'000'000U}) {
        Request const request = k8s::apply(k8s::kSecrets, secret("large", std::string(size, 'x')), "kro");
        auto const answers = api.send({&request, 1}, within(5s));
        ASSERT_TRUE(answers[0].result) << answers[0].result.error().message;
        EXPECT_LT(answers[0].duration, 900ms);
    }
    for (auto const& received : server.requests()) {
        EXPECT_EQ(support::header_of(received, "Expect"), std::nullopt);
        EXPECT_EQ(support::header_of(received, "Transfer-Encoding"), std::nullopt);
    }
}

void append_little_endian(std::string& out, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

/// Source: RFC 1952, with stored blocks only (RFC 1951 section 3.2.4).
std::string gzipped(std::string const& text) {
    std::string out{"\x1f\x8b\x08\0\0\0\0\0\0\x03", 10};
    for (std::size_t at = 0; at < text.size(); at += 65535) {
        auto const part = text.substr(at, 65535);
        out += at + 65535 < text.size() ? '\0' : '\1';
        append_little_endian(out, static_cast<std::uint32_t>(part.size()), 2);
        append_little_endian(out, ~static_cast<std::uint32_t>(part.size()), 2);
        out += part;
    }
    std::uint32_t crc = ~0U;
    for (char const c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    append_little_endian(out, ~crc, 4);
    append_little_endian(out, static_cast<std::uint32_t>(text.size()), 4);
    return out;
}

TEST(HttpApi, TakesListsCompressedUpToALimit) {
    HttpServer server{[](Received const& received) {
        std::size_t const size = contains(received.target, "limit=1") ? 100'000 : 3'000'000;
        return support::json(gzipped(base::dump_json({{"pad", std::string(size, ' ')}})), 200, "Content-Encoding: gzip\r\n");
    }};
    HttpOptions small = options();
    small.answer_limit = 1'000'000;
    HttpApi api{access_to(server.url()), small};
    Request list = k8s::list(k8s::kSecrets, "team");
    list.limit = 1;
    auto const fits = ask(api, list);
    ASSERT_TRUE(fits) << fits.error().message;
    EXPECT_EQ(fits->at("pad").get<std::string>().size(), 100'000U);
    list.limit = 2;
    Error const error = refusal(api, list);
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_TRUE(contains(error.message, "the answer is larger than 1000000 bytes"));
    EXPECT_EQ(support::header_of(server.requests().at(0), "Accept-Encoding"), "gzip");
}

// Connections that break.

TEST(BrokenConnection, IsReplacedWithoutAWord) {
    HttpServer server{[](Received const&) { return Reply{.body = "{}", .then = Reply::Then::HalfClose}; }};
    HttpApi api{access_to(server.url()), options()};
    for (int i = 0; i < 12; ++i) {
        std::string const name = "s" + std::to_string(i);
        auto const result = ask(api, i % 3 == 0 ? get_secret(name) : i % 3 == 1 ? apply_secret(name) : delete_secret(name));
        ASSERT_TRUE(result) << result.error().message;
    }
    EXPECT_GE(server.connections(), 12);
}

struct Loss {
    char const* name;
    Request request;
    std::size_t sent;  ///< how often the server sees it
    bool maybe_done;
};
void PrintTo(Loss const& row, std::ostream* out) { *out << row.name; }

class LostRequest : public testing::TestWithParam<Loss> {};
TEST_P(LostRequest, IsRepeatedOnceWhereThatIsSafe) {
    HttpServer server{[](Received const& received) {
        // A connection that has already served is where libcurl would repeat by itself, too.
        if (contains(received.target, "warm")) return Reply{};
        return Reply{.status = 0, .then = Reply::Then::Close};
    }};
    HttpApi api{access_to(server.url()), options()};
    ASSERT_TRUE(ask(api, get_secret("warm")));
    Error const error = refusal(api, GetParam().request);
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_EQ(error.http_status, 0);
    EXPECT_EQ(error.maybe_done, GetParam().maybe_done);
    EXPECT_TRUE(contains(error.message, describe(GetParam().request) + " on cluster \"acme\" (" + server.url() + "): "));
    EXPECT_EQ(server.requests().size() - 1, GetParam().sent);
}

INSTANTIATE_TEST_SUITE_P(
    , LostRequest,
    testing::Values(Loss{"Apply", apply_secret("lost"), 2, true}, Loss{"DeleteOfOneUid", delete_secret("lost"), 2, true},
                    Loss{"DeleteByName", k8s::remove(k8s::kSecrets, {"team", "lost"}, {}), 1, true},
                    Loss{"Create", k8s::create(k8s::kSecrets, secret("lost"), "kro"), 1, true},
                    Loss{"JsonPatch", patch_secret("lost"), 1, true},
                    Loss{"MergePatch", k8s::merge_patch(k8s::kSecrets, {"team", "lost"}, Json::object(), "kro"), 1, true}),
    [](auto const& row) { return std::string{row.param.name}; });

TEST(LostAnswer, OfAReadIsNothingThatMightBeDone) {
    HttpServer server{[](Received const&) { return Reply{.status = 0, .then = Reply::Then::Close}; }};
    HttpApi api{access_to(server.url()), options()};
    Error const error = refusal(api, get_secret("lost"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_FALSE(error.maybe_done);
    EXPECT_EQ(server.requests().size(), 2U);
}

/// Loses the first answer, then gives this one.
HttpServer::Script loses_the_first(Reply then) {
    auto const count = std::make_shared<std::atomic<int>>(0);
    return [count, then](Received const&) { return (*count)++ == 0 ? Reply{.status = 0, .then = Reply::Then::Close} : then; };
}

// Source of the words: answers of kube-apiserver 1.34, and its storage layer's (storage.Preconditions).
TEST(LostAnswer, OfADeleteMayBeFoundOutByTheSecond) {
    HttpServer gone{loses_the_first(support::json(status(404, "NotFound", "secrets \"a\" not found"), 404))};
    HttpServer another{loses_the_first(
        support::json(status(409, "Conflict", "the UID in the precondition (u-1) does not match the UID in record (u-2)"), 409))};
    HttpServer stored{loses_the_first(
        support::json(status(409, "Conflict", "Precondition failed: UID in precondition: u-1, UID in object meta: u-2"), 409))};
    for (auto* server : {&gone, &another, &stored}) {
        HttpApi api{access_to(server->url()), options()};
        auto const result = ask(api, delete_secret("a"));
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->at("status"), "Success");
    }
    HttpServer newer{loses_the_first(support::json(
        status(409, "Conflict", "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2)"),
        409))};
    HttpApi api{access_to(newer.url()), options()};
    Error const error = refusal(api, delete_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Conflict);
    EXPECT_TRUE(error.maybe_done);
}

TEST(DeletedObject, IsNotFoundWhereNoAnswerWasLost) {
    HttpServer server{[](Received const&) { return support::json(status(404, "NotFound", "secrets \"a\" not found"), 404); }};
    HttpApi api{access_to(server.url()), options()};
    Error const error = refusal(api, delete_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::NotFound);
    EXPECT_FALSE(error.maybe_done);
}

struct Nonsense {
    char const* name;
    Reply reply;
    std::string because;
};
void PrintTo(Nonsense const& row, std::ostream* out) { *out << row.name; }

class SenselessAnswer : public testing::TestWithParam<Nonsense> {};
TEST_P(SenselessAnswer, IsUnavailable) {
    HttpServer server{[](Received const&) { return GetParam().reply; }};
    HttpApi api{access_to(server.url()), options()};
    Error const error = refusal(api, get_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_TRUE(contains(error.message, GetParam().because));
}

INSTANTIATE_TEST_SUITE_P(
    , SenselessAnswer,
    testing::Values(
        Nonsense{"NoJson", support::json("<html>Welcome</html>"), "the answer with status 200 is not JSON"},
        Nonsense{"Empty", support::json(""), "the answer with status 200 is not JSON"},
        Nonsense{"AList", support::json("[]"), "no JSON object"},
        Nonsense{"DeepJson", support::json(std::string(100'000, '[')), "nested deeper"},
        Nonsense{"NoHttp", Reply{.then = Reply::Then::Close, .raw = "SSH-2.0-OpenSSH_9.2\r\n"}, "get secrets team/a on cluster"},
        Nonsense{"CutShort", Reply{.then = Reply::Then::Close, .raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"},
                 "get secrets"},
        Nonsense{"Status0", Reply{.then = Reply::Then::Close, .raw = "HTTP/1.1 000 Nothing\r\nContent-Length: 2\r\n\r\n{}"},
                 "get secrets"},
        Nonsense{"Redirect", support::json("{}", 302, "Location: http://127.0.0.1:9/elsewhere\r\n"), "302"}),
    [](auto const& row) { return std::string{row.param.name}; });

TEST(Redirect, IsNotFollowed) {
    HttpServer other{[](Received const&) { return Reply{}; }};
    HttpServer server{[&](Received const&) { return support::json("{}", 307, "Location: " + other.url() + "/stolen\r\n"); }};
    HttpApi api{access_to(server.url(), token("s3cr3t-42")), options()};
    EXPECT_EQ(refusal(api, get_secret("a")).kind, Error::Kind::Unavailable);
    EXPECT_TRUE(other.requests().empty());
}

// Time.

// Names that nobody answers for, beside a server that is well.
TEST(Blackhole, OfAResolverEndsWithTheConnectTimeout) {
    ASSERT_EQ(blackhole().waiting.load(), 0);
    HttpOptions quick = options();
    quick.connect_timeout = 200ms;
    auto const started = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int i = 0; i < 20; ++i) {
        threads.emplace_back([&, i] {
            HttpApi api{access_to("https://tenant" + std::to_string(i) + ".blackhole:6443"), quick};
            std::vector<Request> const batch{get_secret("a"), get_secret("b"), apply_secret("c")};
            for (auto const& answer : api.send(batch, within(10s))) {
                bool const unavailable = !answer.result && answer.result.error().kind == Error::Kind::Unavailable;
                right += unavailable && !answer.result.error().maybe_done &&
                                 contains(answer.result.error().message, "tenant" + std::to_string(i))
                             ? 1
                             : 0;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 60);
    EXPECT_LT(std::chrono::steady_clock::now() - started, 2s);
    EXPECT_GT(blackhole().waiting.load(), 0);
    blackhole().open();
}

/// A port where nobody accepts, and whose queue is full: the kernel drops what knocks.
class FullPort {
  public:
    FullPort() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ::bind(listener_, generic, size);
        ::listen(listener_, 0);
        ::getsockname(listener_, generic, &size);
        port_ = ntohs(address.sin_port);
        for (int& knocking : knocking_) {
            knocking = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            ::connect(knocking, generic, size);
        }
    }
    ~FullPort() {
        for (int const knocking : knocking_) ::close(knocking);
        ::close(listener_);
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  private:
    int listener_ = -1;
    std::array<int, 3> knocking_{};
    std::uint16_t port_ = 0;
};

TEST(Blackhole, OfANetworkEndsWithTheConnectTimeout) {
    FullPort const port;
    HttpOptions quick = options();
    quick.connect_timeout = 200ms;
    HttpApi api{access_to(port.url()), quick};
    auto const started = std::chrono::steady_clock::now();
    std::vector<Request> const batch(5, get_secret("a"));
    for (auto const& answer : api.send(batch, within(10s))) {
        ASSERT_FALSE(answer.result);
        EXPECT_EQ(answer.result.error().kind, Error::Kind::Unavailable);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - started, 1s);
}

TEST(Deadline, EndsWhatHasNoAnswerAndNothingElse) {
    HttpServer server{
        [](Received const& received) { return contains(received.target, "slow") ? Reply{.then = Reply::Then::Hang} : Reply{}; }};
    HttpApi api{access_to(server.url()), options()};
    std::vector<Request> const batch{get_secret("a"), apply_secret("slow"), get_secret("b"), get_secret("slow")};
    auto const started = std::chrono::steady_clock::now();
    auto const answers = api.send(batch, within(200ms));
    EXPECT_LT(std::chrono::steady_clock::now() - started, 2s);
    EXPECT_TRUE(answers[0].result);
    EXPECT_TRUE(answers[2].result);
    ASSERT_FALSE(answers[1].result);
    EXPECT_EQ(answers[1].result.error().kind, Error::Kind::Unavailable);
    EXPECT_TRUE(answers[1].result.error().maybe_done);
    EXPECT_TRUE(contains(answers[1].result.error().message,
                         "apply secrets team/slow on cluster \"acme\" (" + server.url() + "): no answer within "));
    ASSERT_FALSE(answers[3].result);
    EXPECT_FALSE(answers[3].result.error().maybe_done);
}

TEST(Deadline, ThatHasPassedSendsNothing) {
    HttpServer server{[](Received const&) { return Reply{}; }};
    HttpApi api{access_to(server.url()), options()};
    Error const error = refusal(api, apply_secret("a"), -1ms);
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_FALSE(error.maybe_done);
    EXPECT_TRUE(server.requests().empty());
}

TEST(CallTimeout, EndsOneCallAndItsConnection) {
    HttpServer server{
        [](Received const& received) { return contains(received.target, "slow") ? Reply{.then = Reply::Then::Hang} : Reply{}; }};
    HttpOptions quick = options();
    quick.call_timeout = 100ms;
    HttpApi api{access_to(server.url()), quick};
    ASSERT_TRUE(ask(api, get_secret("a")));
    EXPECT_TRUE(contains(refusal(api, get_secret("slow")).message, "no answer within"));
    ASSERT_TRUE(ask(api, get_secret("a")));
    EXPECT_EQ(server.connections(), 2);
}

TEST(Refusal, OfTheConnectionIsUnavailableAndNamesTheServer) {
    std::uint16_t port = 0;
    {
        port = HttpServer{[](Received const&) { return Reply{}; }}.port();
    }
    HttpApi api{access_to("http://127.0.0.1:" + std::to_string(port)), options()};
    Error const error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_FALSE(error.maybe_done);
    EXPECT_TRUE(
        contains(error.message, "apply secrets team/a on cluster \"acme\" (http://127.0.0.1:" + std::to_string(port) + "): "));
}

// OpenSSL writes without MSG_NOSIGNAL.
TEST(Reset, InTheMiddleOfABodyIsNoSignal) {
    auto const ca = support::make_ca();
    auto const certificate = support::issue(ca, "server", "IP:127.0.0.1");
    for (bool const tls : {false, true}) {
        HttpServer::Settings settings;
        if (tls) settings.certificate = certificate;
        settings.reset_in_body = [](Received const& received) { return received.method == "PATCH"; };
        HttpServer server{[](Received const&) { return Reply{}; }, settings};
        ClusterAccess access = access_to(server.url());
        access.ca = ca.certificate;
        HttpApi api{access, options()};
        ASSERT_TRUE(ask(api, get_secret("warm")));
        Error const error = refusal(api, k8s::apply(k8s::kSecrets, secret("a", std::string(8'000'000, 'x')), "kro"));
        EXPECT_EQ(error.kind, Error::Kind::Unavailable) << error.message;
        EXPECT_TRUE(error.maybe_done);
        EXPECT_EQ(server.requests().size(), 3U);
        EXPECT_TRUE(ask(api, get_secret("after")));
    }
}

// Answers that say no.

TEST(Throttling, IsHandedOnAndNeverRepeated) {
    std::atomic<int> count = 0;
    HttpServer server{[&](Received const&) {
        switch (count++) {
            case 0: return support::json(status(429, "TooManyRequests", "slow down"), 429, "Retry-After: 2\r\n");
            case 1: return support::json("{}", 429);
            case 2: return support::json("busy", 503, "retry-after:   Sun, 06 Nov 1994 08:49:42 GMT  \r\n");
            default: return support::json("busy", 503);
        }
    }};
    HttpApi api{access_to(server.url()), options()};
    Error error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Throttled);
    EXPECT_EQ(error.retry_after, 2s);
    error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Throttled);
    EXPECT_EQ(error.retry_after, std::nullopt);
    error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_EQ(error.retry_after, 5s);
    EXPECT_FALSE(error.maybe_done);
    error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.retry_after, std::nullopt);
    EXPECT_EQ(count, 4);
}

TEST(ServersWords, BecomeUtf8) {
    HttpServer server{[](Received const& received) {
        return support::json(contains(received.target, "json") ? "{\"kind\":\"Status\",\"message\":\"bad \xFF\"}" : "bad \xFF",
                             500);
    }};
    HttpApi api{access_to(server.url()), options()};
    for (auto const* name : {"json", "text"}) {
        Error const error = refusal(api, get_secret(name));
        EXPECT_EQ(base::valid_utf8(error.message), error.message);
        EXPECT_TRUE(contains(error.message, "bad \xEF\xBF\xBD"));
    }
}

// Credentials.

TEST(MountedToken, IsReadAgainWhenItIsSwapped) {
    std::mutex mutex;
    std::string valid = "one";
    HttpServer server{[&](Received const& received) {
        std::lock_guard const lock{mutex};
        bool const known = support::header_of(received, "Authorization") == "Bearer " + valid;
        return known ? Reply{} : support::json(status(401, "Unauthorized", "Unauthorized"), 401);
    }};
    support::Folder const folder;
    folder.write("token", "one\n");
    ClusterAccess access = access_to(server.url());
    access.credentials = k8s::token_file(folder / "token", {});
    HttpApi api{access, options()};
    ASSERT_TRUE(ask(api, get_secret("a")));

    folder.write("token", "two\n");
    {
        std::lock_guard const lock{mutex};
        valid = "two";
    }
    ASSERT_TRUE(ask(api, get_secret("a")));
    EXPECT_EQ(server.requests().size(), 2U);
    std::filesystem::remove(folder / "token");
    ASSERT_TRUE(ask(api, apply_secret("a")));
}

/// Old credentials until it is asked for new ones.
k8s::CredentialSource renewable(std::string before, std::string after, std::atomic<int>& renewals) {
    return [=, &renewals](k8s::Freshness freshness) -> k8s::Result<std::shared_ptr<k8s::Credentials const>> {
        bool const anew = freshness == k8s::Freshness::Anew;
        renewals += anew ? 1 : 0;
        return std::make_shared<k8s::Credentials const>(token(anew ? after : before));
    };
}

// The cache's owner hands in a source that reads the Secret again.
TEST(Unauthorized, IsRepeatedOnceWithOtherCredentials) {
    HttpServer server{[](Received const& received) {
        return support::header_of(received, "Authorization") == "Bearer token-b" ? Reply{} : support::json("{}", 401);
    }};
    std::atomic<int> renewals = 0;
    ClusterAccess access = access_to(server.url());
    access.credentials = renewable("token-a", "token-b", renewals);
    HttpApi api{access, options()};
    std::vector<Request> const batch{get_secret("a"), k8s::create(k8s::kSecrets, secret("b"), "kro"), patch_secret("c")};
    for (auto const& answer : api.send(batch, within(5s))) EXPECT_TRUE(answer.result);
    EXPECT_EQ(renewals, 1);
    EXPECT_EQ(server.requests().size(), 6U);
}

TEST(Unauthorized, IsFinalWhereTheCredentialsStayTheSameOrAreRefusedAgain) {
    HttpServer server{[](Received const&) { return support::json(status(401, "Unauthorized", "Unauthorized"), 401); }};
    std::atomic<int> renewals = 0;
    for (auto const& [after, sent] : {std::pair{"token-a", 1U}, std::pair{"token-b", 2U}}) {
        std::size_t const before = server.requests().size();
        ClusterAccess access = access_to(server.url());
        access.credentials = renewable("token-a", after, renewals);
        HttpApi api{access, options()};
        EXPECT_EQ(refusal(api, get_secret("a")).kind, Error::Kind::Unauthorized);
        EXPECT_EQ(server.requests().size() - before, sent);
    }
    EXPECT_EQ(renewals, 2);
}

TEST(Credentials, ThatCannotBeHadSendNothing) {
    HttpServer server{[](Received const&) { return Reply{}; }};
    ClusterAccess access = access_to(server.url());
    access.credentials = k8s::token_file("/nonexistent/token", {});
    HttpApi api{access, options()};
    Error const error = refusal(api, get_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unusable);
    EXPECT_TRUE(
        contains(error.message, "get secrets team/a on cluster \"acme\" (" + server.url() + "): token file /nonexistent/token"));
    EXPECT_TRUE(server.requests().empty());
}

TEST(Token, IsInNoMessageWhateverTheServerSays) {
    std::string const encoded = base::encode_base64("Authorization: Bearer s3cr3t-42\r\n");
    std::vector<std::string> const bodies{
        status(401, "Unauthorized", "bad header Authorization: Bearer s3cr3t-42"),
        status(500, "InternalError", encoded),
        "Bearer s3cr3t-42",
        encoded,
        std::string(1019, 'x') + "s3cr3t-42",
        R"({"kind":"Status","message":"s\u0033cr3t-42","details":{"causes":[{"reason":"s3cr3t-42"}]}})"};
    std::atomic<std::size_t> count = 0;
    HttpServer server{[&](Received const&) { return support::json(bodies[count++ % bodies.size()], 401); }};
    HttpApi api{access_to(server.url(), token("s3cr3t-42")), options()};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        Error const error = refusal(api, get_secret("a"));
        EXPECT_FALSE(contains(error.message, "s3cr")) << i;
        EXPECT_FALSE(contains(error.message, "czNjcjN0LTQy")) << i;
        EXPECT_FALSE(contains(error.message, encoded)) << i;
        for (auto const& cause : error.causes) EXPECT_FALSE(contains(cause, "s3cr3t"));
    }
}

// TLS.

struct Tls {
    support::Certificate ca = support::make_ca();
    HttpServer::Settings settings;

    explicit Tls(std::string const& alternative_names = "IP:127.0.0.1", std::string host = "127.0.0.1") {
        settings.certificate = support::issue(ca, "server", alternative_names);
        settings.host = std::move(host);
    }

    ClusterAccess access(HttpServer const& server, k8s::Credentials credentials = token("abc")) const {
        ClusterAccess to_it = access_to(server.url(), std::move(credentials));
        to_it.ca = ca.certificate;
        return to_it;
    }
};

HttpServer::Script always_fine() {
    return [](Received const&) { return Reply{}; };
}

TEST(Certificate, MayBeForAnIpv6Address) {
    Tls const tls{"IP:::1", "::1"};
    HttpServer server{always_fine(), tls.settings};
    HttpApi api{tls.access(server), options()};
    auto const result = ask(api, get_secret("a"));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(support::header_of(server.requests().at(0), "Host"), "[::1]:" + std::to_string(server.port()));
}

TEST(Certificate, OfAnotherHostIsRefusedBeforeAnythingIsSent) {
    Tls const tls{"DNS:other.example,IP:127.0.0.2"};
    HttpServer server{always_fine(), tls.settings};
    HttpApi api{tls.access(server), options()};
    Error const error = refusal(api, apply_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    EXPECT_FALSE(error.maybe_done);
    EXPECT_TRUE(server.requests().empty());
}

TEST(Certificate, OfAnotherCaIsRefused) {
    Tls const tls;
    HttpServer server{always_fine(), tls.settings};
    for (std::string const& ca : {support::make_ca("other").certificate, std::string{}}) {
        ClusterAccess access = tls.access(server);
        access.ca = ca;
        HttpApi api{access, options()};
        EXPECT_EQ(refusal(api, get_secret("a")).kind, Error::Kind::Unavailable);
    }
    EXPECT_TRUE(server.requests().empty());
}

TEST(Certificate, IsNotLookedAtWhereTheOperatorSaysSo) {
    Tls const tls{"DNS:other.example"};
    HttpServer server{always_fine(), tls.settings};
    ClusterAccess access = access_to(server.url());
    access.verification = ClusterAccess::Verification::Off;
    HttpApi api{access, options()};
    EXPECT_TRUE(ask(api, get_secret("a")));
}

TEST(TlsServerName, IsAskedForAndVerifiedWhileTheHostStays) {
    Tls const tls{"DNS:api.acme"};
    HttpServer server{always_fine(), tls.settings};
    ClusterAccess access = tls.access(server);
    access.tls_server_name = "api.acme";
    HttpApi api{access, options()};
    auto const result = ask(api, get_secret("a"));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(server.requests().at(0).server_name, "api.acme");
    EXPECT_EQ(support::header_of(server.requests().at(0), "Host"), "127.0.0.1:" + std::to_string(server.port()));
    access.tls_server_name = "api.other";
    HttpApi other{access, options()};
    EXPECT_EQ(refusal(other, get_secret("a")).kind, Error::Kind::Unavailable);
}

TEST(ClientCertificate, ComesFromMemoryAndMayChange) {
    Tls tls;
    tls.settings.client_ca = tls.ca.certificate;
    HttpServer server{[](Received const& received) { return received.client_name == "new" ? Reply{} : support::json("{}", 401); },
                      tls.settings};
    auto const client = [&](std::string const& name) {
        auto const certificate = support::issue(tls.ca, name);
        k8s::Credentials credentials;
        credentials.client_certificate = certificate.certificate;
        credentials.client_key = certificate.key;
        return std::make_shared<k8s::Credentials const>(credentials);
    };
    ClusterAccess access = tls.access(server);
    access.credentials = [before = client("old"), after = client("new")](
                             k8s::Freshness freshness) -> k8s::Result<std::shared_ptr<k8s::Credentials const>> {
        return freshness == k8s::Freshness::Anew ? after : before;
    };
    HttpApi api{access, options()};
    auto const result = ask(api, get_secret("a"));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(server.requests().at(0).client_name, "old");
    EXPECT_EQ(server.requests().at(1).client_name, "new");
}

TEST(ClientCertificate, ThatIsBrokenIsUnusable) {
    Tls const tls;
    HttpServer server{always_fine(), tls.settings};
    k8s::Credentials credentials;
    credentials.client_certificate = "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n";
    credentials.client_key = "-----BEGIN PRIVATE KEY-----\nbroken\n-----END PRIVATE KEY-----\n";
    HttpApi api{tls.access(server, credentials), options()};
    EXPECT_EQ(refusal(api, get_secret("a")).kind, Error::Kind::Unusable);
    ClusterAccess access = tls.access(server);
    access.ca = credentials.client_certificate;
    HttpApi other{access, options()};
    EXPECT_EQ(refusal(other, get_secret("a")).kind, Error::Kind::Unusable);
    EXPECT_TRUE(server.requests().empty());
}

// Proxies.

class Environment {
  public:
    explicit Environment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {
        for (auto const& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment() {
        for (auto const& [name, value] : variables_) ::unsetenv(name.c_str());
    }

  private:
    std::map<std::string, std::string> variables_;
};

TEST(Proxy, OfTheEnvironmentIsNeverUsed) {
    Tls const tls;
    HttpServer secure{always_fine(), tls.settings};
    HttpServer plain{always_fine()};
    for (auto const& no_proxy : {"10.0.0.0/8,.svc", ""}) {
        std::string const nobody = "http://127.0.0.1:9";
        Environment const environment{{{"HTTPS_PROXY", nobody},
                                       {"https_proxy", nobody},
                                       {"http_proxy", nobody},
                                       {"ALL_PROXY", nobody},
                                       {"NO_PROXY", no_proxy}}};
        HttpApi first{tls.access(secure), options()};
        EXPECT_TRUE(ask(first, get_secret("a")));
        HttpApi second{access_to(plain.url()), options()};
        EXPECT_TRUE(ask(second, get_secret("a")));
    }
}

TEST(Proxy, OfAClusterIsUsedForThatClusterAloneWhateverNoProxySays) {
    HttpServer proxy{[](Received const& received) { return received.method == "CONNECT" ? support::json("", 502) : Reply{}; }};
    HttpServer server{always_fine()};
    Environment const environment{{{"NO_PROXY", "*"}, {"no_proxy", "*"}}};
    ClusterAccess access = access_to("https://api.acme.invalid:6443", token("s3cr3t-42"));
    access.proxy_url = proxy.url();
    HttpApi behind{access, options()};
    Error const error = refusal(behind, get_secret("a"));
    EXPECT_EQ(error.kind, Error::Kind::Unavailable);
    auto const requests = proxy.requests();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].method + " " + requests[0].target, "CONNECT api.acme.invalid:6443");
    EXPECT_EQ(support::header_of(requests[0], "Authorization"), std::nullopt);

    HttpApi direct{access_to(server.url()), options()};
    EXPECT_TRUE(ask(direct, get_secret("a")));
    EXPECT_EQ(proxy.requests().size(), 1U);
}

TEST(Proxy, MaySpeakSocks) {
    // Not HTTP: the server only sees the first bytes, which never make a request.
    HttpServer proxy{always_fine()};
    ClusterAccess access = access_to("http://api.acme.invalid:80");
    access.proxy_url = "socks5://127.0.0.1:" + std::to_string(proxy.port());
    HttpOptions quick = options();
    quick.connect_timeout = 100ms;
    HttpApi api{access, quick};
    EXPECT_EQ(refusal(api, get_secret("a")).kind, Error::Kind::Unavailable);
    EXPECT_EQ(proxy.connections(), 1);
    EXPECT_TRUE(proxy.requests().empty());
}

TEST(Connect, MakesAnApiWithoutSendingAnything) {
    HttpServer server{always_fine()};
    auto const api = k8s::connect(access_to(server.url()), options());
    ASSERT_TRUE(api);
    EXPECT_EQ(server.connections(), 0);
    EXPECT_TRUE(ask(**api, get_secret("a")));
}

}  // namespace
