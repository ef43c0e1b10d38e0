#include "function/server/server.hpp"

#include "tests/support/raw_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kro::HttpAnswer;
using kro::Server;
using kro::ServerOptions;
using kro::Service;
using support::get;
using support::post;
using support::RawClient;
using namespace std::chrono_literals;

using SteadyClock = std::chrono::steady_clock;

/// Free port, and waits that a test can afford; a wait that a test is about is set by the test.
ServerOptions quick() {
    return {.port = 0, .workers = 2, .queue = 4, .drain_idle = 0ms, .drain_grace = 20ms, .drain_quiet = 10ms};
}

HttpAnswer accept(events::HttpMessage const&) { return {}; }

/// A server that runs until the end of its test.
class Running {
  public:
    explicit Running(ServerOptions const& options = quick(), Service service = {.handle = accept})
        : server_(Server::listen(options, std::move(service)).value()),
          ended_(std::async(std::launch::async, [this] { return server_->run(); })) {}
    ~Running() { server_->drain(); }
    Running(Running const&) = delete;
    Running& operator=(Running const&) = delete;

    std::uint16_t port() const { return server_->port(); }
    std::uint16_t metrics_port() const { return server_->metrics_port().value(); }
    void drain() { server_->drain(); }
    bool ends_within(std::chrono::milliseconds time) const { return ended_.wait_for(time) == std::future_status::ready; }
    Server::Ended ended() { return ended_.get(); }

  private:
    std::unique_ptr<Server> server_;
    std::future<Server::Ended> ended_;
};

/// A handler that holds every event until it is opened.
class Gate {
  public:
    ~Gate() { open(); }

    HttpAnswer pass() {
        std::unique_lock lock{mutex_};
        ++entered_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        return {};
    }
    void open() {
        std::lock_guard const lock{mutex_};
        open_ = true;
        changed_.notify_all();
    }
    /// Waits until so many events have come in.
    void wait_for(int number) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return entered_ >= number; });
    }
    Service service() {
        return {.handle = [this](auto const&) { return pass(); }};
    }
    /// Holds only the events with this body.
    Service service_for(std::string const& body) {
        return {.handle = [this, body](auto const& message) { return message.body == body ? pass() : HttpAnswer{}; }};
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int entered_ = 0;
    bool open_ = false;
};

std::string chunked_head() { return "POST / HTTP/1.1\r\nHost: kro\r\nTransfer-Encoding: chunked\r\n\r\n"; }

TEST(Server, AnswersAnEventWithAnEmptyBodyAndWithoutEventHeaders) {
    Running server{quick(), {.handle = [](auto const&) { return HttpAnswer{202}; }}};
    RawClient client{server.port()};
    auto const answer = client.ask(post("{}", "ce-id: 1\r\nce-foo: bar\r\n"));
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.header("content-length"), "0");
    EXPECT_EQ(answer.header("content-type"), "");
    EXPECT_TRUE(
        std::none_of(answer.headers.begin(), answer.headers.end(), [](auto const& h) { return h.first.starts_with("ce-"); }));
}

TEST(Server, RefusesALengthBeyondTheLimitWithoutWaitingForTheBody) {
    Running server;
    RawClient client{server.port()};
    auto const answer = client.ask("POST / HTTP/1.1\r\nHost: kro\r\nContent-Length: 42949672960\r\n\r\n");
    EXPECT_EQ(answer.status, 413);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(client.sees_close());
}

// The sockets' own buffers take a few MiB; what the server reads is the limit and a little to be thrown away.
TEST(Server, StopsReadingAnEndlessBodyAtTheLimitWhileOthersGoOn) {
    Running server;
    RawClient endless{server.port()};
    RawClient other{server.port()};
    ASSERT_TRUE(endless.send(chunked_head()));
    std::string const chunk = "10000\r\n" + std::string(65536, 'a') + "\r\n";
    std::size_t sent = 0;
    for (; sent < (std::size_t{64} << 20U) && endless.send(chunk); sent += chunk.size()) {
        ASSERT_EQ(other.ask(post("{}")).status, 204);
    }
    EXPECT_LT(sent, std::size_t{24} << 20U);
    EXPECT_EQ(endless.receive().status, 413);
    EXPECT_TRUE(endless.sees_close());
}

TEST(Server, TakesALargeObject) {
    std::promise<std::size_t> size;
    Running server{quick(), {.handle = [&](auto const& message) {
                       size.set_value(message.body.size());
                       return HttpAnswer{};
                   }}};
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post(std::string(2 << 20, 'a'))).status, 204);
    EXPECT_EQ(size.get_future().get(), std::size_t{2} << 20U);
}

// The handler refuses it for its type.
TEST(Server, PassesOnALargeForm) {
    Running server{quick(), {.handle = [](auto const& message) {
                       return HttpAnswer{message.body.size() == 9216 ? 415 : 400, {}, "form"};
                   }}};
    RawClient client{server.port()};
    std::string const head =
        "POST / HTTP/1.1\r\nHost: kro\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9216\r\n\r\n";
    EXPECT_EQ(client.ask(head + std::string(9216, 'a')).status, 415);
}

TEST(Server, IsNotHinderedByIdleConnections) {
    Running server;
    std::deque<RawClient> idle;
    for (int i = 0; i < 8; ++i) EXPECT_EQ(idle.emplace_back(server.port()).ask(post("{}")).status, 204);
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}")).status, 204);
    RawClient probe{server.port()};
    EXPECT_EQ(probe.ask(get("/readyz")).status, 200);
}

TEST(Server, IsNotHinderedBySlowSenders) {
    Running server;
    std::deque<RawClient> slow;
    for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(slow.emplace_back(server.port()).send("POST / HTTP/1.1\r\nHost: kro\r\nContent-Length: 9\r\n\r\na"));
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}")).status, 204);
}

TEST(Server, GivesUpOnARequestThatTakesTooLong) {
    auto options = quick();
    options.request_timeout = 50ms;
    for (auto const* const begin : {"POST", "POST / HTTP/1.1\r\nHost: kro\r\nContent-Length: 9\r\n\r\na"}) {
        Running server{options};
        RawClient client{server.port()};
        EXPECT_EQ(client.ask(begin).status, 408);
        EXPECT_TRUE(client.sees_close());
    }
}

TEST(Server, ClosesAConnectionThatIsIdleForTooLong) {
    auto options = quick();
    options.idle_timeout = 50ms;
    Running server{options};
    RawClient unused{server.port()};
    RawClient used{server.port()};
    EXPECT_EQ(used.ask(post("{}")).status, 204);
    EXPECT_TRUE(used.sees_close());
    EXPECT_TRUE(unused.sees_close());
}

TEST(Server, MakesRoomByClosingTheOldestIdleConnection) {
    auto options = quick();
    options.connections = 3;
    Running server{options};
    RawClient reading{server.port()};
    EXPECT_TRUE(reading.send("POST / HTTP/1.1\r\n"));
    RawClient oldest{server.port()};
    EXPECT_EQ(oldest.ask(post("{}")).status, 204);
    RawClient newer{server.port()};
    EXPECT_EQ(newer.ask(post("{}")).status, 204);
    RawClient newest{server.port()};
    EXPECT_EQ(newest.ask(post("{}")).status, 204);
    EXPECT_TRUE(oldest.sees_close());
    EXPECT_EQ(newer.ask(post("{}")).status, 204);
    EXPECT_EQ(reading.ask("Host: kro\r\n\r\n").status, 204);
}

TEST(Server, BoundsTheMemoryOfAllRequestsTogether) {
    auto options = quick();
    options.max_held = std::size_t{1} << 20U;
    Running server{options};
    std::deque<RawClient> clients;
    int refused = 0;
    for (int i = 0; i < 4; ++i)
        clients.emplace_back(server.port()).send("POST / HTTP/1.1\r\nHost: kro\r\nContent-Length: 700000\r\n\r\n");
    for (auto& client : clients) client.send(std::string(699999, 'a'));
    for (auto& client : clients) {
        client.send("a");
        auto const answer = client.receive();
        EXPECT_TRUE(answer.status == 204 || answer.status == 429) << answer.status;
        if (answer.status == 429) ++refused;
    }
    EXPECT_GE(refused, 1);
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}")).status, 204);
}

TEST(Server, TakesTheHeadersOfProxiesAndTokens) {
    Running server{quick(), {.handle = [](auto const& message) { return HttpAnswer{message.headers.size() == 46 ? 204 : 400}; }}};
    std::string headers = "Authorization: Bearer " + std::string(7168, 'a') + "\r\ntraceparent: 00-1-2-01\r\ntracestate: a=b\r\n";
    for (int i = 0; i < 40; ++i) headers += "x-" + std::to_string(i) + ": " + std::string(100, 'b') + "\r\n";
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}", headers)).status, 204);
}

TEST(Server, TakesALongHeaderLine) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}", "x: " + std::string(60000, 'a') + "\r\n")).status, 204);
}

TEST(Server, RefusesAHeaderBeyondTheLimitWithAnAnswer) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}", "x: " + std::string(71680, 'a') + "\r\n")).status, 431);
    EXPECT_TRUE(client.sees_close());
}

TEST(Server, SaysContinueAtOnce) {
    Running server;
    RawClient client{server.port()};
    auto const whole = post(std::string(5120, 'a'), "Expect: 100-continue\r\n");
    auto const body = whole.find("\r\n\r\n") + 4;
    EXPECT_TRUE(client.send(whole.substr(0, body)));
    EXPECT_EQ(client.receive(true).status, 100);
    EXPECT_EQ(client.ask(whole.substr(body)).status, 204);
}

TEST(Server, SaysThatTheBodyIsTooLargeInsteadOfContinue) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(client.ask("POST / HTTP/1.1\r\nHost: kro\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n").status, 413);
    EXPECT_TRUE(client.sees_close());
}

TEST(Server, ListensOnAllAddressesOfBothFamilies) {
    Running server;
    RawClient four{server.port(), "127.0.0.2"};
    EXPECT_EQ(four.ask(get("/healthz")).status, 200);
    RawClient six{server.port(), "::1"};
    if (six.is_connected()) {
        EXPECT_EQ(six.ask(get("/healthz")).status, 200);
    }
}

TEST(Server, NamesThePortThatIsTaken) {
    Running server;
    auto options = quick();
    options.port = server.port();
    auto const second = Server::listen(options, {.handle = accept});
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().find("port " + std::to_string(server.port())), std::string::npos) << second.error();
    EXPECT_EQ(second.error().find('\n'), std::string::npos);
}

TEST(Server, HasMetricsAtAPortOfTheirOwn) {
    auto options = quick();
    options.metrics_port = 0;
    Running server{options, {.handle = accept, .metrics = [] { return std::string{"up 1\n"}; }}};
    RawClient events{server.port()};
    EXPECT_EQ(events.ask(get("/metrics")).status, 404);
    EXPECT_EQ(events.ask(post("{}")).status, 204);
    RawClient metrics{server.metrics_port()};
    EXPECT_EQ(metrics.ask(get("/metrics")).body, "up 1\n");
    EXPECT_EQ(metrics.ask(post("{}")).status, 400);
    EXPECT_EQ(metrics.ask(get("/readyz")).status, 200);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
    Running server{quick(), {.handle = [](auto const& message) { return HttpAnswer{400, {}, message.body}; }}};
    RawClient client{server.port()};
    EXPECT_TRUE(client.send(post("first") + get("/healthz") + post("second") + post("third").substr(0, 20)));
    EXPECT_EQ(client.receive().body, "first\n");
    EXPECT_EQ(client.receive().body, "ok\n");
    EXPECT_EQ(client.receive().body, "second\n");
    EXPECT_EQ(client.ask(post("third").substr(20)).body, "third\n");
}

TEST(Server, ReadsNothingMoreAfterAnAnswerThatCloses) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}", "Connection: close\r\n") + post("{}")).status, 204);
    EXPECT_TRUE(client.sees_close());
}

TEST(Server, AnswersAClientThatSendsNoMore) {
    Running server;
    RawClient client{server.port()};
    EXPECT_TRUE(client.send(post("{}")));
    client.end();
    EXPECT_EQ(client.receive().status, 204);
    EXPECT_TRUE(client.sees_close());
}

TEST(Server, RefusesARequestThatEndsEarly) {
    Running server;
    RawClient client{server.port()};
    EXPECT_TRUE(client.send(post("{}").substr(0, 40)));
    client.end();
    EXPECT_EQ(client.receive().status, 400);
    EXPECT_TRUE(client.sees_close());
}

TEST(Server, ClosesAfterARequestThatItCannotFrame) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(
        client.ask("POST / HTTP/1.1\r\nHost: kro\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status,
        400);
    EXPECT_TRUE(client.sees_close());
}

// An answer to a socket that is gone raises SIGPIPE where that is not prevented.
TEST(Server, OutlivesClientsThatGoAway) {
    Gate gate;
    Running server{quick(), gate.service()};
    RawClient while_handled{server.port()};
    RawClient while_handled_politely{server.port()};
    EXPECT_TRUE(while_handled.send(post("{}")));
    EXPECT_TRUE(while_handled_politely.send(post("{}")));
    gate.wait_for(2);
    RawClient while_sending{server.port()};
    EXPECT_TRUE(while_sending.send(post("{}").substr(0, 40)));
    while_handled.reset();
    while_handled_politely.end();
    while_sending.reset();
    gate.open();
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}")).status, 204);
}

TEST(Server, AnswersThatItIsFullAndKeepsTheConnection) {
    Gate gate;
    auto options = quick();
    options.workers = 1;
    options.queue = 1;
    std::vector<std::pair<int, std::string>> refused;
    auto service = gate.service();
    service.refused = [&](int status, std::string_view reason) { refused.emplace_back(status, reason); };
    Running server{options, std::move(service)};
    RawClient handled{server.port()};
    EXPECT_TRUE(handled.send(post("{}")));
    gate.wait_for(1);
    RawClient waiting{server.port()};
    EXPECT_TRUE(waiting.send(post("{}")));
    RawClient third{server.port()};
    auto const answer = third.ask(post("{}"));
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.header("retry-after"), "1");
    EXPECT_EQ(third.ask(get("/healthz")).status, 200) << "probes are answered while all workers are busy";
    EXPECT_EQ(third.ask(get("/readyz")).status, 200);
    gate.open();
    EXPECT_EQ(handled.receive().status, 204);
    EXPECT_EQ(waiting.receive().status, 204);
    EXPECT_EQ(third.ask(post("{}")).status, 204);
    server.drain();
    server.ended();
    EXPECT_EQ(refused, (std::vector<std::pair<int, std::string>>{{429, "all workers are busy"}}));
}

TEST(Server, HandlesEventsAtTheSameTime) {
    Gate gate;
    Running server{quick(), gate.service()};
    RawClient one{server.port()};
    RawClient two{server.port()};
    EXPECT_TRUE(one.send(post("{}")));
    EXPECT_TRUE(two.send(post("{}")));
    gate.wait_for(2);
    gate.open();
    EXPECT_EQ(one.receive().status, 204);
    EXPECT_EQ(two.receive().status, 204);
}

TEST(Server, OutlivesHandlersThatThrow) {
    Running server{quick(), {.handle = [](auto const&) -> HttpAnswer { throw std::runtime_error{"fault"}; }}};
    RawClient client{server.port()};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ask(post("{}")).status, 503);
}

TEST(Drain, ClosesIdleConnectionsAtOnceAndEnds) {
    auto options = quick();
    options.drain_grace = 300ms;
    Running server{options};
    RawClient idle{server.port()};
    EXPECT_EQ(idle.ask(post("{}")).status, 204);
    auto const begin = SteadyClock::now();
    server.drain();
    EXPECT_TRUE(idle.sees_close());
    EXPECT_LT(SteadyClock::now() - begin, 250ms);
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
    EXPECT_LT(SteadyClock::now() - begin, 1s);
}

// Between two requests of a client that posts often, its connection only looks idle.
TEST(Drain, AnswersTheNextRequestOfAConnectionThatIsUsedOften) {
    Gate gate;
    auto options = quick();
    options.drain_idle = 5s;
    Running server{options, gate.service_for("slow")};
    RawClient often{server.port()};
    EXPECT_EQ(often.ask(post("quick")).status, 204);
    RawClient slow{server.port()};
    EXPECT_TRUE(slow.send(post("slow")));
    gate.wait_for(1);
    server.drain();
    EXPECT_FALSE(server.ends_within(50ms));
    auto const answer = often.ask(post("quick"));
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(often.sees_close());
    gate.open();
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

// As after a pod was frozen: the request, the signal and the end of the connection's time are found at once.
TEST(Drain, AnswersARequestThatCameBeforeTheIdleConnectionWasClosed) {
    Gate gate;
    Service service{.handle = accept, .ready = [&] {
                        gate.pass();
                        return true;
                    }};
    Running server{quick(), std::move(service)};
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(post("{}")).status, 204);
    RawClient holder{server.port()};
    EXPECT_TRUE(holder.send(get("/readyz")));
    gate.wait_for(1);
    EXPECT_TRUE(client.send(post("{}")));
    server.drain();
    gate.open();
    auto const answer = client.receive();
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

TEST(Drain, ClosesABusyConnectionWithItsNextAnswer) {
    Gate gate;
    Running server{quick(), gate.service()};
    RawClient client{server.port()};
    EXPECT_TRUE(client.send(post("{}")));
    gate.wait_for(1);
    server.drain();
    gate.open();
    auto const answer = client.receive();
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(client.sees_close());
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

// With a client that comes back each time.
TEST(Drain, EndsThoughAClientComesBackAgainAndAgain) {
    Running server;
    std::atomic<bool> stop = false;
    std::thread client{[&, port = server.port()] {
        while (!stop) {
            RawClient{port}.ask(post("{}"));
            std::this_thread::sleep_for(30ms);
        }
    }};
    server.drain();
    auto const begin = SteadyClock::now();
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
    EXPECT_LT(SteadyClock::now() - begin, 1s);
    stop = true;
    client.join();
}

TEST(Drain, ServesNewConnectionsWhileARequestIsInFlight) {
    Gate gate;
    Running server{quick(), gate.service_for("slow")};
    RawClient slow{server.port()};
    EXPECT_TRUE(slow.send(post("slow")));
    gate.wait_for(1);
    server.drain();
    EXPECT_FALSE(server.ends_within(100ms));  // longer than grace and quiet together
    RawClient late{server.port()};
    auto const readiness = late.ask(get("/readyz"));
    EXPECT_EQ(readiness.status, 503);
    EXPECT_EQ(readiness.header("connection"), "close");
    RawClient later{server.port()};
    EXPECT_EQ(later.ask(post("quick")).status, 204);
    EXPECT_EQ(RawClient{server.port()}.ask(get("/healthz")).status, 200);
    gate.open();
    EXPECT_EQ(slow.receive().status, 204);
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

TEST(Drain, WaitsForARequestThatIsStillArriving) {
    Running server;
    RawClient client{server.port()};
    EXPECT_EQ(client.ask(get("/healthz")).status, 200);
    EXPECT_TRUE(client.send(post("{}").substr(0, 40)));
    RawClient other{server.port()};
    EXPECT_EQ(other.ask(get("/healthz")).status, 200);
    server.drain();
    EXPECT_TRUE(other.sees_close());
    EXPECT_EQ(client.ask(post("{}").substr(40)).status, 204);
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

TEST(Drain, EndsAtItsLimitAndTellsThoseWhoWait) {
    Gate gate;
    auto options = quick();
    options.drain_limit = 50ms;
    Running server{options, gate.service()};
    RawClient client{server.port()};
    EXPECT_TRUE(client.send(post("{}")));
    gate.wait_for(1);
    server.drain();
    auto const answer = client.receive();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.header("retry-after"), "1");
    EXPECT_EQ(server.ended(), Server::Ended::TimeIsUp);
    gate.open();
}

TEST(Drain, ThatIsAskedForBeforeTheStartEndsToo) {
    auto const server = Server::listen(quick(), {.handle = accept}).value();
    server->drain();
    server->drain();
    EXPECT_EQ(server->run(), Server::Ended::Drained);
}

TEST(Drain, ClosesTheListenerAtItsEnd) {
    Running server;
    auto const port = server.port();
    server.drain();
    server.ended();
    EXPECT_FALSE(RawClient(port).is_connected());
}

}  // namespace
