#include "function/handle/handle.hpp"

#include <gtest/gtest.h>

namespace {

using kro::answer_for;
using kro::Outcome;

TEST(Answer, IsNoContentForWhatIsDoneOrWaits) {
    for (auto const kind : {Outcome::Kind::Done, Outcome::Kind::Waiting}) {
        auto const answer = answer_for({kind, "why"});
        EXPECT_EQ(answer.status, 204);
        EXPECT_FALSE(answer.retry_after);
    }
}

TEST(Answer, AsksForAnotherTryWhenItMayHelp) {
    auto const answer = answer_for({Outcome::Kind::Retry, "busy", std::chrono::seconds{2}});
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.retry_after, std::chrono::seconds{2});
    EXPECT_FALSE(answer_for({Outcome::Kind::Retry, "busy", std::nullopt}).retry_after);
}

TEST(Answer, RefusesWhatCanNeverBeUnderstood) { EXPECT_EQ(answer_for({Outcome::Kind::Rejected, "no"}).status, 400); }

TEST(Outcome, HasAName) {
    EXPECT_EQ(kro::name_of(Outcome::Kind::Done), "Done");
    EXPECT_EQ(kro::name_of(Outcome::Kind::Waiting), "Waiting");
    EXPECT_EQ(kro::name_of(Outcome::Kind::Retry), "Retry");
    EXPECT_EQ(kro::name_of(Outcome::Kind::Rejected), "Rejected");
}

}  // namespace
