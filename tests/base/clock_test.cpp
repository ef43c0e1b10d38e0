#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

base::Time const kTime = std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s;

TEST(Time, IsWrittenAsRfc3339) {
    EXPECT_EQ(base::rfc3339(kTime + 900ms), "1994-11-06T08:49:37Z");
    EXPECT_EQ(base::rfc3339_nano(kTime + 5ms), "1994-11-06T08:49:37.005000000Z");
}

TEST(Time, IsReadFromRfc3339) {
    EXPECT_EQ(base::parse_rfc3339("1994-11-06T08:49:37Z"), kTime);
    EXPECT_EQ(base::parse_rfc3339("1994-11-06T09:49:37.25+01:00"), kTime + 250ms);
    EXPECT_EQ(base::parse_rfc3339("1994-11-06T08:49:37"), std::nullopt);
    EXPECT_EQ(base::parse_rfc3339("1994-13-06T08:49:37Z"), std::nullopt);
    EXPECT_EQ(base::parse_rfc3339("yesterday"), std::nullopt);
}

// Source: RFC 9110 section 5.6.7.
TEST(Time, IsReadFromAnHttpDate) {
    EXPECT_EQ(base::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kTime);
    EXPECT_EQ(base::parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), std::nullopt);
    EXPECT_EQ(base::parse_http_date("120"), std::nullopt);
}

}  // namespace
