#include "function/tenant/poll_schedule.hpp"

#include "function/tenant/go_duration.hpp"
#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

struct Row {
    char const* name;
    char const* interval;
    char const* cron;
    bool last_resync_decides;
};

void PrintTo(Row const& row, std::ostream* out) { *out << row.interval; }

class PollSchedule : public testing::TestWithParam<Row> {};

TEST_P(PollSchedule, IsACronLine) {
    auto const schedule = kro::schedule_for(kro::parse_go_duration(GetParam().interval).value());
    EXPECT_EQ(schedule.cron, GetParam().cron);
    EXPECT_EQ(schedule.last_resync_decides, GetParam().last_resync_decides);
}

INSTANTIATE_TEST_SUITE_P(
    , PollSchedule,
    testing::Values(Row{"ASecond", "1s", "* * * * * *", false}, Row{"HalfAMinute", "30s", "*/30 * * * * *", false},
                    Row{"AMinute", "1m", "* * * * *", false}, Row{"AMinuteInSeconds", "60s", "* * * * *", false},
                    Row{"AMinuteInAFractionOfAnHour", "0.1h", "*/6 * * * *", false},
                    Row{"FiveMinutes", "5m", "*/5 * * * *", false}, Row{"AnHour", "1h", "0 * * * *", false},
                    Row{"AnHourInTerms", "59m60s", "0 * * * *", false}, Row{"TwoHours", "2h", "0 */2 * * *", false},
                    Row{"ADay", "24h", "0 0 * * *", false}, Row{"SevenSeconds", "7s", "* * * * * *", true},
                    Row{"SevenMinutes", "7m", "* * * * *", true}, Row{"NinetySeconds", "90s", "*/30 * * * * *", true},
                    Row{"NinetyMinutes", "1h30m", "*/30 * * * *", true}, Row{"ThirtySixHours", "36h", "0 */12 * * *", true},
                    Row{"TwoDays", "48h", "0 0 * * *", true}, Row{"AYearOrSo", "8766h", "0 0 * * *", true},
                    Row{"ASecondMoreThanAMinute", "61s", "*/6 * * * * *", true},
                    Row{"ASecondMoreThanAnHour", "1h0m1s", "*/6 * * * *", true},
                    Row{"AFractionOfASecond", "1.5s", "*/2 * * * * *", false},
                    Row{"HalfASecondMoreThanAMinute", "1m0.5s", "* * * * *", false},
                    Row{"AsLongAsGoCanSay", "2562047h47m16.854775807s", "0 0 * * *", true}),
    [](auto const& row) { return row.param.name; });

TEST(ExactSchedule, MakesEveryTickDue) {
    auto const schedule = kro::schedule_for(1min);
    EXPECT_TRUE(kro::is_due(schedule, std::nullopt, support::kNoon));
    EXPECT_TRUE(kro::is_due(schedule, support::kNoon, support::kNoon + 1s)) << "somebody else's tick is as good as the source's";
}

struct Tick {
    char const* name;
    std::chrono::milliseconds since_last;
    bool due;
};

class TickOfSevenMinutes : public testing::TestWithParam<Tick> {};

TEST_P(TickOfSevenMinutes, IsDueOnceInSeven) {
    EXPECT_EQ(kro::is_due(kro::schedule_for(7min), support::kNoon, support::kNoon + GetParam().since_last), GetParam().due);
}

INSTANTIATE_TEST_SUITE_P(, TickOfSevenMinutes,
                         testing::Values(Tick{"TheSame", 0ms, false}, Tick{"TheFirst", 1min, false},
                                         Tick{"TheSixth", 6min, false}, Tick{"TheSixthAndLate", 6min + 500ms, false},
                                         Tick{"TheSeventh", 7min, true}, Tick{"TheSeventhAfterALateOne", 7min - 500ms, true},
                                         Tick{"LongAfter", 24h, true}, Tick{"AfterTheClockWasSetBack", -1h, true}),
                         [](auto const& row) { return row.param.name; });

TEST(FinerSchedule, IsDueWhereThereWasNoResyncYet) {
    EXPECT_TRUE(kro::is_due(kro::schedule_for(7min), std::nullopt, support::kNoon));
}

}  // namespace
