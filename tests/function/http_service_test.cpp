#include "function/server/http_service.hpp"

#include "tests/support/gzip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <stdexcept>
#include <string>

namespace {

using kro::HttpAnswer;
using kro::HttpRequest;
using kro::HttpService;
using kro::Service;
using kro::WrittenAnswer;
using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = 1000;

HttpRequest request(std::string method, std::string path, events::HttpMessage message = {}) {
    return {.method = std::move(method), .path = std::move(path), .wants_close = false, .message = std::move(message)};
}

HttpService service(Service service, bool draining = false) {
    return HttpService{std::move(service), kMaxBody, [draining] { return draining; }};
}

HttpService service_that_says(HttpAnswer const& answer) {
    return service({.handle = [answer](auto const&) { return answer; }});
}

bool has(WrittenAnswer const& answer, std::string const& text) { return answer.bytes.find(text) != std::string::npos; }

std::string body_of(WrittenAnswer const& answer) { return answer.bytes.substr(answer.bytes.find("\r\n\r\n") + 4); }

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

struct Row {
    std::string name;
    HttpAnswer answer;
    int status;
};

std::ostream& operator<<(std::ostream& out, Row const& row) { return out << row.name; }

class AnswerOnTheWire : public testing::TestWithParam<Row> {};

TEST_P(AnswerOnTheWire, NeverLooksLikeAnEventNorHasAForbiddenStatus) {
    auto http = service_that_says(GetParam().answer);
    auto const answer =
        http.answer(request("POST", "/", {{{"ce-foo", "bar"}, {"Content-Type", "application/cloudevents+json"}}, "{}"}));
    EXPECT_EQ(answer.status, GetParam().status);
    EXPECT_TRUE(answer.bytes.starts_with("HTTP/1.1 " + std::to_string(GetParam().status) + " ")) << answer.bytes;
    EXPECT_EQ(lower(answer.bytes).find("\r\nce-"), std::string::npos) << answer.bytes;
    EXPECT_EQ(lower(answer.bytes).find("cloudevents"), std::string::npos) << answer.bytes;
    EXPECT_FALSE(answer.close);
    EXPECT_EQ(answer.refused, "");
}

// Source: Knative Eventing's retry rules.
INSTANTIATE_TEST_SUITE_P(, AnswerOnTheWire,
                         testing::Values(Row{"Ok", {200, {}, "done"}, 200}, Row{"Accepted", {202}, 202},
                                         Row{"NoContent", {204}, 204}, Row{"BadRequest", {400, {}, "no subject"}, 400},
                                         Row{"NotFound", {404, {}, "no tenant"}, 400},
                                         Row{"TooLarge", {413, {}, "too large"}, 413}, Row{"MediaType", {415, {}, "form"}, 415},
                                         Row{"TooMany", {429, 2s, "full"}, 429}, Row{"InternalError", {500, {}, "oops"}, 503},
                                         Row{"Unavailable", {503, 5s, "later"}, 503}, Row{"Redirect", {302, {}, "there"}, 503},
                                         Row{"Continue", {100}, 503}, Row{"Nothing", {0}, 503}, Row{"Beyond", {700}, 503}),
                         [](auto const& row) { return row.param.name; });

TEST(SuccessOnTheWire, HasNoBody) {
    for (int const status : {200, 202, 204}) {
        auto http = service_that_says({status, std::nullopt, "all is well"});
        auto const answer = http.answer(request("POST", "/"));
        EXPECT_EQ(body_of(answer), "");
        EXPECT_FALSE(has(answer, "Content-Type"));
        EXPECT_EQ(has(answer, "\r\nContent-Length: 0\r\n"), status != 204) << "RFC 9110 section 8.6\n" << answer.bytes;
    }
}

TEST(FailureOnTheWire, HasOneLineOfTextAndSaysWhenToTryAgain) {
    auto http = service_that_says({503, 7s, "first\r\nce-id: x\nlast\xEC"});
    auto const answer = http.answer(request("POST", "/"));
    EXPECT_EQ(body_of(answer), "first  ce-id: x last\xEF\xBF\xBD\n");
    EXPECT_TRUE(has(answer, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    EXPECT_TRUE(has(answer, "\r\nRetry-After: 7\r\n"));
}

TEST(FailureOnTheWire, AsksForAtLeastOneSecond) {
    auto http = service_that_says({503, 0s, "now"});
    EXPECT_TRUE(has(http.answer(request("POST", "/")), "\r\nRetry-After: 1\r\n"));
}

TEST(EventHandler, ThatThrowsIsAnsweredWith503AndNothingOfItIsTold) {
    for (bool const with_standard_exception : {true, false}) {
        auto http = service({.handle = [=](auto const&) -> HttpAnswer {
            if (with_standard_exception) throw std::runtime_error{"s3cr3t"};
            throw 42;
        }});
        auto const answer = http.answer(request("POST", "/"));
        EXPECT_EQ(answer.status, 503);
        EXPECT_FALSE(has(answer, "s3cr3t"));
        EXPECT_NE(answer.refused, "");
    }
}

TEST(EventHandler, GetsHeadersAndBodyAsTheyWereSent) {
    events::HttpMessage const sent = {
        {{"ce-subject", "a%2525%00"}, {"X", "1"}, {"x", "2"}, {"Range", "bytes=9-1"}, {"Expect", "x"}}, std::string{"a\0b", 3}};
    events::HttpMessage got;
    auto http = service({.handle = [&](auto const& message) {
        got = message;
        return HttpAnswer{};
    }});
    EXPECT_EQ(http.answer(request("POST", "/", sent)).status, 204);
    EXPECT_EQ(got, sent);
}

struct Coding {
    std::string name;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    int status;
};

std::ostream& operator<<(std::ostream& out, Coding const& row) { return out << row.name; }

class ContentCoding : public testing::TestWithParam<Coding> {};

TEST_P(ContentCoding, IsUndoneOrRefused) {
    events::HttpMessage got;
    auto http = service({.handle = [&](auto const& message) {
        got = message;
        return HttpAnswer{};
    }});
    auto const answer = http.answer(request("POST", "/", {GetParam().headers, GetParam().body}));
    EXPECT_EQ(answer.status, GetParam().status);
    EXPECT_EQ(answer.close, answer.status == 413);
    EXPECT_EQ(has(answer, "\r\nAccept-Encoding: gzip\r\n"), answer.status == 415);
    if (answer.status == 204) {
        EXPECT_EQ(got, (events::HttpMessage{{}, "hello"}));
    }
}

// Source: RFC 9110 section 8.4.
INSTANTIATE_TEST_SUITE_P(
    , ContentCoding,
    testing::Values(
        Coding{"Gzip", {{"Content-Encoding", "gzip"}}, support::gzip("hello"), 204},
        Coding{"XGzip", {{"content-encoding", "X-GZIP"}}, support::gzip("hello"), 204},
        Coding{"Identity", {{"Content-Encoding", "identity"}}, "hello", 204},
        Coding{"GzipBomb", {{"Content-Encoding", "gzip"}}, support::gzip(std::string(std::size_t{64} << 20U, '\0')), 413},
        Coding{"NotGzip", {{"Content-Encoding", "gzip"}}, "hello", 400},
        Coding{"Brotli", {{"Content-Encoding", "br"}}, "hello", 415},
        Coding{"Twice", {{"Content-Encoding", "gzip"}, {"Content-Encoding", "gzip"}}, support::gzip("hello"), 415},
        Coding{"List", {{"Content-Encoding", "gzip, gzip"}}, support::gzip("hello"), 415}),
    [](auto const& row) { return row.param.name; });

struct Path {
    std::string name;
    std::string method;
    std::string path;
    int status;
    std::string allow = "";
};

std::ostream& operator<<(std::ostream& out, Path const& row) { return out << row.name; }

class HttpRoute : public testing::TestWithParam<Path> {};

TEST_P(HttpRoute, HasItsStatus) {
    auto http = service({.handle = [](auto const&) { return HttpAnswer{}; }, .metrics = [] { return std::string{"up 1\n"}; }});
    auto const answer = http.answer(request(GetParam().method, GetParam().path));
    EXPECT_EQ(answer.status, GetParam().status) << answer.bytes;
    EXPECT_EQ(has(answer, "\r\nAllow: " + GetParam().allow + "\r\n"), !GetParam().allow.empty()) << answer.bytes;
    EXPECT_EQ(answer.refused.empty(), answer.status < 300);
}

INSTANTIATE_TEST_SUITE_P(
    , HttpRoute,
    testing::Values(Path{"Event", "POST", "/", 204}, Path{"Health", "GET", "/healthz", 200},
                    Path{"HealthHead", "HEAD", "/healthz", 200}, Path{"Ready", "GET", "/readyz", 200},
                    Path{"Metrics", "GET", "/metrics", 200}, Path{"GetRoot", "GET", "/", 405, "POST"},
                    Path{"HeadRoot", "HEAD", "/", 405, "POST"}, Path{"PutRoot", "PUT", "/", 405, "POST"},
                    Path{"DeleteRoot", "DELETE", "/", 405, "POST"}, Path{"OptionsRoot", "OPTIONS", "/", 405, "POST"},
                    Path{"UnknownMethod", "BREW", "/", 405, "POST"}, Path{"GetElsewhere", "GET", "/favicon.ico", 404},
                    Path{"PostElsewhere", "POST", "/events", 400}, Path{"PostToHealth", "POST", "/healthz", 400},
                    Path{"PutToHealth", "PUT", "/healthz", 405, "GET, HEAD"}, Path{"OptionsOfAll", "OPTIONS", "*", 400},
                    Path{"PostToTwoSlashes", "POST", "//", 400}, Path{"PostToEncodedNul", "POST", "/%00", 400}),
    [](auto const& row) { return row.param.name; });

TEST(HttpRoutes, AreMissingWithTheirFunction) {
    auto only_metrics = service({.handle = nullptr, .metrics = [] { return std::string{"up 1\n"}; }});
    EXPECT_FALSE(only_metrics.is_event(request("POST", "/")));
    EXPECT_EQ(only_metrics.answer(request("POST", "/")).status, 400);
    EXPECT_EQ(only_metrics.answer(request("GET", "/")).status, 404);
    EXPECT_EQ(body_of(only_metrics.answer(request("GET", "/metrics"))), "up 1\n");
    auto only_events = service_that_says({});
    EXPECT_EQ(only_events.answer(request("GET", "/metrics")).status, 404);
}

TEST(Readiness, IsWhatTheFunctionSays) {
    bool ready = false;
    auto http = service({.handle = nullptr, .ready = [&] { return ready; }});
    EXPECT_EQ(http.answer(request("GET", "/readyz")).status, 503);
    EXPECT_EQ(http.answer(request("GET", "/healthz")).status, 200);
    ready = true;
    EXPECT_EQ(http.answer(request("GET", "/readyz")).status, 200);
}

TEST(Readiness, ThatThrowsIs503) {
    auto http = service({.handle = nullptr, .ready = []() -> bool { throw std::runtime_error{"s3cr3t"}; }});
    auto const answer = http.answer(request("GET", "/readyz"));
    EXPECT_EQ(answer.status, 503);
    EXPECT_FALSE(has(answer, "s3cr3t"));
}

TEST(Readiness, EndsWithTheDrainAndSoDoConnections) {
    auto http = service({.handle = [](auto const&) { return HttpAnswer{}; }}, true);
    EXPECT_EQ(http.answer(request("GET", "/readyz")).status, 503);
    auto const answer = http.answer(request("POST", "/"));
    EXPECT_EQ(answer.status, 204);
    EXPECT_TRUE(answer.close);
    EXPECT_TRUE(has(answer, "\r\nConnection: close\r\n"));
}

TEST(HttpConnections, AreClosedAsTheClientWants) {
    auto http = service_that_says({});
    auto last = request("POST", "/");
    last.wants_close = true;
    EXPECT_TRUE(http.answer(last).close);
    auto const next = http.answer(request("POST", "/"));
    EXPECT_FALSE(next.close);
    EXPECT_FALSE(has(next, "Connection:"));
    EXPECT_FALSE(has(next, "Keep-Alive:"));
}

TEST(HttpRefusals, AreWrittenForTheFramingToo) {
    auto http = service_that_says({});
    auto const answer = http.refuse({431, "the header is too large"}, HttpService::Connection::Close);
    EXPECT_TRUE(answer.bytes.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n")) << answer.bytes;
    EXPECT_TRUE(has(answer, "\r\nConnection: close\r\n"));
    EXPECT_EQ(body_of(answer), "the header is too large\n");
    EXPECT_EQ(answer.refused, "the header is too large");
    EXPECT_TRUE(has(http.refuse({429, "full"}, HttpService::Connection::Keep), "\r\nRetry-After: 1\r\n"));
}

}  // namespace
