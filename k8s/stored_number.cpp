#include "k8s/stored_number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace k8s {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

bool is_number(Json const& value) { return value.is_number() || value.is_binary(); }

std::string text_of_number(Json const& number) {
    if (!number.is_binary()) return number.dump();
    auto const& text = number.get_binary();
    return {text.begin(), text.end()};
}

bool fits_in_64_bits(std::string const& text) {
    std::int64_t value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc{} && end == text.data() + text.size();
}

/// Plain digits below 1e21 and from 1e-6 on, else an exponent without leading zero.
std::string shortest_text(double value) {
    std::array<char, 40> buffer{};
    auto const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific).ptr;
    std::string const text{buffer.data(), end};
    auto const e = text.find('e');
    std::string digits = text.substr(0, e);
    int const exponent = std::atoi(text.c_str() + e + 1);
    std::string const sign = std::signbit(value) ? "-" : "";
    if (exponent < -6 || exponent >= 21) return sign + digits + (exponent < 0 ? "e-" : "e+") + std::to_string(std::abs(exponent));
    if (digits.size() > 1) digits.erase(1, 1);
    if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    auto const whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

bool respell(Json& number) {
    if (number.is_number_integer() && !number.is_number_unsigned()) return true;
    std::string const text = text_of_number(number);
    if (fits_in_64_bits(text)) {
        number = static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10));
        return true;
    }
    double const value = std::strtod(text.c_str(), nullptr);
    if (!std::isfinite(value)) return false;
    if (auto spelled = base::parse_json(shortest_text(value))) number = std::move(*spelled);
    return true;
}

}  // namespace

bool is_integral(Json const& number) {
    if (number.is_number_integer()) return true;
    if (!is_number(number)) return false;
    double const value = std::strtod(text_of_number(number).c_str(), nullptr);
    return std::isfinite(value) && std::abs(value) < kTwoTo63 && std::trunc(value) == value;
}

bool respell_numbers(Json& value) {
    if (is_number(value)) return respell(value);
    bool all = true;
    if (value.is_structured()) {
        for (auto& inner : value) all = respell_numbers(inner) && all;
    }
    return all;
}

void respell_numbers_as_yaml(Json& value) {
    if (is_number(value)) {
        if (!respell(value)) value = text_of_number(value);
    } else if (value.is_structured()) {
        for (auto& inner : value) respell_numbers_as_yaml(inner);
    }
}

}  // namespace k8s
