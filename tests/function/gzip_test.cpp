#include "function/gzip.hpp"

#include "tests/support/gzip.hpp"

#include <gtest/gtest.h>

namespace {

using kro::gunzip;
using kro::GzipFault;
using support::gzip;

TEST(Gzip, IsUndone) {
    EXPECT_EQ(gunzip(gzip("hello"), 5).value(), "hello");
    EXPECT_EQ(gunzip(gzip(""), 0).value(), "");
    EXPECT_EQ(gunzip(gzip(std::string(100000, 'a')), 100000).value(), std::string(100000, 'a'));
}

// Source: RFC 1952 section 2.2.
TEST(Gzip, OfSeveralMembersIsOneText) { EXPECT_EQ(gunzip(gzip("ab") + gzip("cd"), 10).value(), "abcd"); }

TEST(Gzip, ThatUnpacksToMoreThanTheLimitIsTooLarge) {
    EXPECT_EQ(gunzip(gzip("hello"), 4).error(), GzipFault::TooLarge);
    EXPECT_EQ(gunzip(gzip(std::string(std::size_t{64} << 20U, '\0')), 1000).error(), GzipFault::TooLarge);
    EXPECT_EQ(gunzip(gzip("abc") + gzip("def"), 5).error(), GzipFault::TooLarge);
}

TEST(Gzip, ThatIsNoneIsMalformed) {
    auto const whole = gzip("hello");
    for (auto const& text : {std::string{}, std::string{"hello"}, whole.substr(0, whole.size() - 1), whole + "x"}) {
        EXPECT_EQ(gunzip(text, 100).error(), GzipFault::Malformed);
    }
}

}  // namespace
