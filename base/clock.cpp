#include "base/clock.hpp"

#include <array>
#include <cctype>
#include <cstdio>

namespace base {
namespace {

using std::chrono::days;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct Civil {
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<nanoseconds> time;
};

Civil civil(Time time) {
    auto const since_epoch = std::chrono::time_point_cast<nanoseconds>(time);
    auto const day = std::chrono::floor<days>(since_epoch);
    return {std::chrono::year_month_day{day}, std::chrono::hh_mm_ss<nanoseconds>{since_epoch - day}};
}

std::string date_and_time(Civil const& civil) {
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(civil.date.year()),
                  static_cast<unsigned>(civil.date.month()), static_cast<unsigned>(civil.date.day()),
                  static_cast<int>(civil.time.hours().count()), static_cast<int>(civil.time.minutes().count()),
                  static_cast<int>(civil.time.seconds().count()));
    return text.data();
}

/// Takes exactly `digits` digits off the front; none where there are fewer.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) return std::nullopt;
        number = number * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return number;
}

bool take(std::string_view& text, char wanted) {
    if (text.empty() || std::toupper(static_cast<unsigned char>(text.front())) != wanted) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<Time> made_of(int year, int month, int day, int hour, int minute, int second) {
    std::chrono::year_month_day const date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} + seconds{second};
}

}  // namespace

Clock system_clock() {
    return [] { return std::chrono::system_clock::now(); };
}

std::string rfc3339(Time time) { return date_and_time(civil(time)) + "Z"; }

std::string rfc3339_nano(Time time) {
    Civil const parts = civil(time);
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%09dZ", static_cast<int>(parts.time.subseconds().count()));
    return date_and_time(parts) + fraction.data();
}

std::optional<Time> parse_rfc3339(std::string_view text) {
    auto const year = take_number(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    auto const month = take_number(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    auto const day = take_number(text, 2);
    if (!day || (!take(text, 'T') && !take(text, ' '))) return std::nullopt;
    auto const hour = take_number(text, 2);
    if (!hour || !take(text, ':')) return std::nullopt;
    auto const minute = take_number(text, 2);
    if (!minute || !take(text, ':')) return std::nullopt;
    auto const second = take_number(text, 2);
    if (!second) return std::nullopt;

    nanoseconds fraction{0};
    if (take(text, '.')) {
        std::size_t digits = 0;
        long value = 0;
        while (auto const digit = take_number(text, 1)) {
            if (digits++ < 9) value = value * 10 + *digit;
        }
        if (digits == 0) return std::nullopt;
        for (std::size_t i = digits; i < 9; ++i) value *= 10;
        fraction = nanoseconds{value};
    }

    std::chrono::minutes offset{0};
    if (!take(text, 'Z')) {
        int const sign = take(text, '+') ? 1 : take(text, '-') ? -1 : 0;
        auto const hours = take_number(text, 2);
        if (sign == 0 || !hours || !take(text, ':')) return std::nullopt;
        auto const minutes = take_number(text, 2);
        if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
        offset = sign * (std::chrono::hours{*hours} + std::chrono::minutes{*minutes});
    }
    auto const whole = made_of(*year, *month, *day, *hour, *minute, *second);
    if (!whole || !text.empty()) return std::nullopt;
    return *whole + std::chrono::duration_cast<Time::duration>(fraction) - offset;
}

std::optional<Time> parse_http_date(std::string_view text) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    auto const comma = text.find(", ");
    if (comma != 3) return std::nullopt;
    text.remove_prefix(5);
    auto const day = take_number(text, 2);
    if (!day || !take(text, ' ') || text.size() < 4) return std::nullopt;
    auto const at = kMonths.find(text.substr(0, 3));
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    text.remove_prefix(3);
    if (!take(text, ' ')) return std::nullopt;
    auto const year = take_number(text, 4);
    if (!year || !take(text, ' ')) return std::nullopt;
    auto const hour = take_number(text, 2);
    if (!hour || !take(text, ':')) return std::nullopt;
    auto const minute = take_number(text, 2);
    if (!minute || !take(text, ':')) return std::nullopt;
    auto const second = take_number(text, 2);
    if (!second || text != " GMT") return std::nullopt;
    return made_of(*year, static_cast<int>(at / 3) + 1, *day, *hour, *minute, *second);
}

}  // namespace base
