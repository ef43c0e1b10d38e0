#include "function/resync_command.hpp"

#include "function/tenant/kinds.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using kro::Audience;
using support::kNever;
using support::kro_named;
using support::tenant_named;
using support::World;

struct Printed {
    int status;
    std::string out;
    std::string err;
};

Printed run(World& world, kro::Settings const& settings = {}, Audience audience = Audience::Program) {
    std::ostringstream out;
    std::ostringstream err;
    int const status = kro::resync_command(world.clusters, settings, world.clock(), out, err, audience);
    return {status, out.str(), err.str()};
}

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// acme and beta, both Ready; somebody then changes acme's HelmRelease.
void install_and_drift(World& world) {
    for (auto const* name : {"acme", "beta"}) world.put_kro(kro_named(name));
    world.settle();
    auto const key = support::helm_release_key(tenant_named("acme"));
    auto const drifted = k8s::send_one(
        *world.platform, k8s::merge_patch(kro::kHelmReleases, key, {{"spec", {{"values", {{"by", "hand"}}}}}}, "hand"), kNever);
    ASSERT_TRUE(drifted);
    world.forget_requests();
}

TEST(ResyncCommand, RepairsAndShowsWhatItFound) {
    World world;
    install_and_drift(world);
    auto const printed = run(world);
    EXPECT_EQ(printed.status, 0);
    EXPECT_TRUE(contains(printed.out, "NAMESPACE         NAME   NEEDS ")) << printed.out;
    EXPECT_TRUE(contains(printed.out, "project-a--ws-b   acme   correct: the HelmRelease   ")) << printed.out;
    EXPECT_FALSE(contains(printed.out, "beta")) << printed.out;
    EXPECT_TRUE(contains(printed.out, "2 tenants looked at, 1 in need of something")) << printed.out;
    EXPECT_TRUE(base::member(world.helm_release_of(tenant_named("acme")), "spec", "values").is_null());
}

TEST(ResyncCommand, WritesNothingInADryRun) {
    World world;
    install_and_drift(world);
    kro::Settings settings;
    settings.dry_run = true;
    auto const printed = run(world, settings);
    EXPECT_EQ(printed.status, 0);
    EXPECT_TRUE(contains(printed.out, "planned")) << printed.out;
    EXPECT_TRUE(contains(printed.out, "0 of them writes")) << printed.out;
    EXPECT_TRUE(world.writes().empty());
}

TEST(ResyncCommand, ShowsABarAtATerminalAndPlainLinesElsewhere) {
    World world;
    install_and_drift(world);
    auto const at_terminal = run(world, {}, Audience::Person).err;
    EXPECT_TRUE(contains(at_terminal, "\r[####################                    ] 1/2 tenants")) << at_terminal;
    EXPECT_TRUE(at_terminal.ends_with("] 2/2 tenants\n")) << at_terminal;
    auto const elsewhere = run(world).err;
    EXPECT_EQ(elsewhere, "looked at 0 of 2 tenants\nlooked at 1 of 2 tenants\nlooked at 2 of 2 tenants\n");
}

TEST(ResyncCommand, ShowsAWholeBarWhereThereAreNoTenants) {
    World world;
    world.put(support::provider_config());
    auto const printed = run(world, {}, Audience::Person);
    EXPECT_TRUE(printed.err.ends_with("########] 0/0 tenants\n")) << printed.err;
    EXPECT_EQ(printed.out.find("NAMESPACE"), std::string::npos);
}

TEST(ResyncCommand, FailsWhereSomethingIsLeft) {
    World world;
    install_and_drift(world);
    world.platform->fail_when(k8s::on(k8s::Request::Verb::List, kro::kHelmReleases), k8s::answer_with(403));
    auto const printed = run(world);
    EXPECT_EQ(printed.status, 1);
    EXPECT_TRUE(contains(printed.out, "403")) << printed.out;
}

}  // namespace
