#include "function/tenant/go_duration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::chrono_literals;

struct Row {
    std::string name;
    std::string text;
    std::chrono::nanoseconds duration;
};

class GoDuration : public testing::TestWithParam<Row> {};

TEST_P(GoDuration, IsReadAsGoReadsIt) {
    auto const duration = kro::parse_go_duration(GetParam().text);
    ASSERT_TRUE(duration) << GetParam().text;
    EXPECT_EQ(*duration, GetParam().duration);
}

// Known answers: Go, time.ParseDuration.
INSTANTIATE_TEST_SUITE_P(, GoDuration,
                         testing::Values(Row{"HourAndMinutes", "1h30m", 90min}, Row{"Seconds", "90s", 90s},
                                         Row{"HalfAnHourMore", "1.5h", 90min}, Row{"HalfASecondMore", "1m0.5s", 60500ms},
                                         Row{"MicroSign", "1\xC2\xB5s", 1us}, Row{"GreekMu", "1\xCE\xBCs", 1us},
                                         Row{"PlainU", "1us", 1us}, Row{"TwiceTheSameUnit", "1h1h", 2h}, Row{"Zero", "0", 0s},
                                         Row{"SignedZero", "-0", 0s}, Row{"Negative", "-5m", -5min}, Row{"Plus", "+5s", 5s},
                                         Row{"NoWholePart", ".5s", 500ms}, Row{"NoFractionDigits", "5.s", 5s},
                                         Row{"Longest", "9223372036854775807ns", 9223372036854775807ns},
                                         Row{"BelowANanosecond", "0.9999999999s", 999999999ns}),
                         [](auto const& row) { return row.param.name; });

class RefusedGoDuration : public testing::TestWithParam<Row> {};

TEST_P(RefusedGoDuration, IsNone) { EXPECT_FALSE(kro::parse_go_duration(GetParam().text)); }

INSTANTIATE_TEST_SUITE_P(, RefusedGoDuration,
                         testing::Values(Row{"Days", "1d", 0s}, Row{"NoUnit", "5", 0s}, Row{"Empty", "", 0s},
                                         Row{"SpaceBefore", " 1m", 0s}, Row{"SpaceAfter", "1m ", 0s}, Row{"CapitalM", "1M", 0s},
                                         Row{"TooLong", "999999999999h", 0s}, Row{"OneBeyond", "9223372036854775808ns", 0s},
                                         Row{"SignAlone", "-", 0s}, Row{"DotAlone", ".", 0s}, Row{"DotAndUnit", ".s", 0s},
                                         Row{"TwoSigns", "--1s", 0s}, Row{"Words", "one minute", 0s},
                                         Row{"NoUnitAtTheEnd", "1h5", 0s}, Row{"Exponent", "1e3s", 0s}, Row{"UnitAlone", "h", 0s},
                                         Row{"TwoDots", "1.2.3s", 0s}, Row{"Null", std::string("1m\0", 3), 0s}),
                         [](auto const& row) { return row.param.name; });

}  // namespace
