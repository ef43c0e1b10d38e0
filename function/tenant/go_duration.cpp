#include "function/tenant/go_duration.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace kro {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits{{{"ns", 1},
                                                                           {"us", 1000},
                                                                           {"\xC2\xB5s", 1000},  // U+00B5, micro sign
                                                                           {"\xCE\xBCs", 1000},  // U+03BC, Greek mu
                                                                           {"ms", 1000 * 1000},
                                                                           {"s", 1000LL * 1000 * 1000},
                                                                           {"m", 60LL * 1000 * 1000 * 1000},
                                                                           {"h", 3600LL * 1000 * 1000 * 1000}}};

constexpr __int128 kLimit = std::numeric_limits<std::int64_t>::max();

bool is_digit(std::string_view text) { return !text.empty() && text.front() >= '0' && text.front() <= '9'; }

/// Takes "12.5h" off the front, in nanoseconds; -1 where there is none or it does not fit.
__int128 take_term(std::string_view& text) {
    __int128 whole = 0;
    __int128 fraction = 0;
    __int128 scale = 1;
    bool any = false;
    for (; is_digit(text); text.remove_prefix(1), any = true) {
        whole = whole * 10 + (text.front() - '0');
        if (whole > kLimit) return -1;
    }
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        for (; is_digit(text); text.remove_prefix(1), any = true) {
            if (scale > 1000000000000000000LL) continue;  // beyond any nanosecond
            fraction = fraction * 10 + (text.front() - '0');
            scale *= 10;
        }
    }
    if (!any) return -1;
    auto const end = text.find_first_of(".0123456789");
    auto const unit = text.substr(0, end);
    for (auto const& [name, nanoseconds] : kUnits) {
        if (name != unit) continue;
        text.remove_prefix(unit.size());
        return whole * nanoseconds + fraction * nanoseconds / scale;
    }
    return -1;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) {
    bool const negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return std::chrono::nanoseconds{0};
    if (text.empty()) return std::nullopt;
    __int128 sum = 0;
    while (!text.empty()) {
        __int128 const term = take_term(text);
        if (term < 0) return std::nullopt;
        sum += term;
        if (sum > kLimit) return std::nullopt;
    }
    auto const count = static_cast<std::int64_t>(sum);
    return std::chrono::nanoseconds{negative ? -count : count};
}

}  // namespace kro
