#include "function/server/server.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/component/simulation.hpp"
#include "tests/events/samples.hpp"
#include "tests/support/raw_client.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

/// The whole program but its clusters: from the bytes of a source to the objects on the API servers.
namespace {

using component::Simulation;
using kro::Server;
using support::RawClient;
using namespace std::chrono_literals;

kro::Tenant acme() { return support::tenant_named("acme"); }

std::string on_the_wire(events::HttpMessage const& message) {
    std::string text = "POST / HTTP/1.1\r\n";
    for (auto const& [name, value] : message.headers) text += name + ":" + value + "\r\n";
    return text + "Content-Length: " + std::to_string(message.body.size()) + "\r\n\r\n" + message.body;
}

/// A server for one pod, until the end of its test.
class Running {
  public:
    explicit Running(Simulation& simulation)
        : server_(listen(simulation)), ended_(std::async(std::launch::async, [this] { return server_->run(); })) {}
    ~Running() { server_->drain(); }
    Running(Running const&) = delete;
    Running& operator=(Running const&) = delete;

    std::uint16_t port() const { return server_->port(); }
    void drain() { server_->drain(); }
    bool has_ended() const { return ended_.wait_for(0s) == std::future_status::ready; }
    Server::Ended ended() { return ended_.get(); }

  private:
    static std::unique_ptr<Server> listen(Simulation& simulation) {
        kro::Service service;
        service.handle = [&](events::HttpMessage const& message) { return simulation.pod->handle(message); };
        service.metrics = [&] { return simulation.pod->metrics(); };
        return Server::listen({.port = 0, .workers = 2, .drain_grace = 50ms, .drain_quiet = 20ms}, std::move(service)).value();
    }

    std::unique_ptr<Server> server_;
    std::future<Server::Ended> ended_;
};

TEST(ServedEvents, BringATenantAboutAndAreCounted) {
    Simulation simulation;
    simulation.create(support::kro_named("acme"));
    Running server{simulation};
    RawClient client{server.port()};

    auto const answer = client.ask(on_the_wire(sample("kro-add.http")));
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.body, "");
    EXPECT_TRUE(simulation.world.exists(kro::kAccessRequests, support::access_request_key(acme())));
    EXPECT_EQ(client.ask(on_the_wire(sample("ping.http"))).status, 204);
    EXPECT_EQ(client.ask(on_the_wire(sample("providerconfig-update.http"))).status, 204);
    EXPECT_EQ(client.ask(support::post("{}")).status, 400);
    EXPECT_NE(client.ask(support::get("/metrics")).body.find("kro_function_events_total"), std::string::npos);
    server.drain();
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
}

/// SIGTERM in the middle of a write to an API server that takes its time.
TEST(ServedEvents, AreAnsweredThoughTheServerIsAskedToEnd) {
    Simulation simulation;
    for (auto const* name : {"acme", "beta"}) simulation.create(support::kro_named(name));
    std::promise<void> writing;
    std::promise<void> go_on;
    simulation.world.platform->before(k8s::on(k8s::Request::Verb::Apply, kro::kAccessRequests), [&](k8s::MemoryApi&) {
        writing.set_value();
        go_on.get_future().wait();
    });
    Running server{simulation};
    RawClient first{server.port()};
    ASSERT_TRUE(first.send(on_the_wire(sample("kro-add.http"))));
    writing.get_future().wait();

    server.drain();
    RawClient second{server.port()};
    auto const to_beta = component::resource_event({k8s::Change::Kind::Added, kro::kKros, support::kro_named("beta")});
    events::HttpMessage message = to_beta;
    message.headers.emplace_back("Host", "kro");
    EXPECT_EQ(second.ask(on_the_wire(message)).status, 204);
    EXPECT_FALSE(server.has_ended());
    go_on.set_value();
    auto const answer = first.receive();
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_EQ(server.ended(), Server::Ended::Drained);
    for (auto const* name : {"acme", "beta"}) {
        EXPECT_TRUE(simulation.world.exists(kro::kAccessRequests, support::access_request_key(support::tenant_named(name))))
            << name;
    }
}

}  // namespace
