#include "function/tenant/kro.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using kro::Operation;
using support::json;

constexpr std::string_view kOperation = "openmcp.cloud/operation";

TEST(Operation, IsWhatTheAnnotationSays) {
    EXPECT_EQ(kro::operation_of(support::annotated(support::kro_named("acme"), kOperation, "ignore")), Operation::Ignore);
    EXPECT_EQ(kro::operation_of(support::annotated(support::provider_config(), kOperation, "reconcile")), Operation::Reconcile);
    for (auto const* word : {"", "Ignore", "ignore ", "pause"}) {
        EXPECT_EQ(kro::operation_of(support::annotated(support::kro_named("acme"), kOperation, word)), Operation::None) << word;
    }
    EXPECT_EQ(kro::operation_of(support::kro_named("acme")), Operation::None);
}

TEST(Kro, IsReadWhole) {
    auto object =
        support::annotated(support::deleted(support::with_finalizer(support::stored(support::kro_named("acme", "0.9.2")))),
                           "kro.services.openmcp.cloud/abandon", "true");
    kro::Kro const kro = kro::read_kro(object);
    EXPECT_EQ(kro.tenant, support::tenant_named("acme"));
    EXPECT_EQ(kro.uid, "uid-of-acme");
    EXPECT_EQ(kro.resource_version, "100");
    EXPECT_EQ(kro.generation, 1);
    EXPECT_EQ(kro.version, "0.9.2");
    EXPECT_TRUE(kro.being_deleted);
    EXPECT_TRUE(kro.has_finalizer);
    EXPECT_TRUE(kro.abandon);
}

TEST(Kro, ThatHasNothingIsEmpty) {
    for (auto const* text : {"null", "{}", "[]", R"({"metadata": 7, "spec": []})", R"({"spec": {"version": 1}})"}) {
        kro::Kro const kro = kro::read_kro(json(text));
        EXPECT_EQ(kro.version, "") << text;
        EXPECT_FALSE(kro.being_deleted) << text;
        EXPECT_FALSE(kro.has_finalizer) << text;
        EXPECT_FALSE(kro.abandon) << text;
    }
}

}  // namespace
