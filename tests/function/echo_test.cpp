#include "function/handle/echo.hpp"

#include <gtest/gtest.h>

namespace {

using kro::Echo;

TEST(Echo, KnowsExactlyTheStatesThatWereWritten) {
    Echo echo;
    echo.remember({{"/apis/x/a", "7"}, {"/apis/x/b", "8"}});
    EXPECT_TRUE(echo.knows("/apis/x/a", "7"));
    EXPECT_TRUE(echo.knows("/apis/x/a", "7")) << "an event may come twice";
    EXPECT_FALSE(echo.knows("/apis/x/a", "8"));
    EXPECT_FALSE(echo.knows("/apis/x/b", "7"));
    EXPECT_FALSE(echo.knows("/apis/x/c", "9"));
}

TEST(Echo, TakesAnEventWithoutAVersionForNews) {
    Echo echo;
    echo.remember({{"/apis/x/a", ""}});
    EXPECT_FALSE(echo.knows("/apis/x/a", ""));
}

TEST(Echo, ForgetsTheOldestFirst) {
    Echo echo;
    for (int i = 0; i < 5000; ++i) echo.remember({{"/apis/x/a", std::to_string(i)}});
    EXPECT_FALSE(echo.knows("/apis/x/a", "0"));
    EXPECT_TRUE(echo.knows("/apis/x/a", "4999"));
}

}  // namespace
