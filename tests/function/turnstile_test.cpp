#include "function/handle/turnstile.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace {

using kro::Tenant;
using support::kNever;
using Turnstile = kro::Turnstile<Tenant, int>;

Tenant const kAcme = support::tenant_named("acme");
Tenant const kBolt = support::tenant_named("bolt");

/// A run that says when it has begun and goes on when it is told to.
struct Gate {
    std::binary_semaphore begun{0};
    std::binary_semaphore open{0};
    int pass(int answer) {
        begun.release();
        open.acquire();
        return answer;
    }
};

TEST(Turnstile, RunsOnceForOneWhoComesAlone) {
    Turnstile turnstile;
    int runs = 0;
    EXPECT_EQ(turnstile.pass(kAcme, kNever, [&] { return ++runs; }), 1);
    EXPECT_EQ(turnstile.pass(kAcme, kNever, [&] { return ++runs; }), 2) << "nobody is answered by a run that was over before";
}

TEST(Turnstile, AnswersABurstOfTenWithTwoRuns) {
    Turnstile turnstile;
    Gate gate;
    std::atomic<int> runs{0};
    std::thread first{[&] { EXPECT_EQ(turnstile.pass(kAcme, kNever, [&] { return gate.pass(++runs); }), 1); }};
    gate.begun.acquire();
    std::latch coming{9};
    std::vector<std::thread> others;
    for (int i = 0; i < 9; ++i) {
        others.emplace_back([&] {
            coming.count_down();
            EXPECT_EQ(turnstile.pass(kAcme, kNever, [&] { return ++runs; }), 2) << "the first run began before this one came";
        });
    }
    coming.wait();
    // Whoever has not reached the turnstile yet may get a run of their own; give them the time to reach it.
    while (turnstile.waiting(kAcme) < 10) std::this_thread::yield();
    gate.open.release();
    first.join();
    for (auto& thread : others) thread.join();
    EXPECT_EQ(runs, 2);
}

TEST(Turnstile, LetsTenantsRunSideBySide) {
    Turnstile turnstile;
    Gate gate;
    std::thread slow{[&] { turnstile.pass(kAcme, kNever, [&] { return gate.pass(1); }); }};
    gate.begun.acquire();
    EXPECT_EQ(turnstile.pass(kBolt, kNever, [] { return 7; }), 7);
    gate.open.release();
    slow.join();
}

TEST(Turnstile, LetsNobodyWaitBeyondTheDeadline) {
    Turnstile turnstile;
    Gate gate;
    std::thread slow{[&] { turnstile.pass(kAcme, kNever, [&] { return gate.pass(1); }); }};
    gate.begun.acquire();
    EXPECT_EQ(turnstile.pass(kAcme, std::chrono::steady_clock::now(), [] { return 7; }), std::nullopt);
    gate.open.release();
    slow.join();
    EXPECT_EQ(turnstile.pass(kAcme, kNever, [] { return 8; }), 8) << "one who gave up leaves nothing behind";
}

}  // namespace
