#include "base/base64.hpp"

#include <cstdint>

namespace base {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return std::nullopt;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        }
        text += kAlphabet[group >> 18U];
        text += kAlphabet[group >> 12U & 63U];
        text += at + 1 < bytes.size() ? kAlphabet[group >> 6U & 63U] : '=';
        text += at + 2 < bytes.size() ? kAlphabet[group & 63U] : '=';
    }
    return text;
}

std::optional<std::string> decode_base64(std::string_view text, WhiteSpace white_space) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t group = 0;
    std::size_t count = 0;
    std::size_t padding = 0;
    for (char const c : text) {
        if (white_space == WhiteSpace::Skipped && is_space(c)) continue;
        if (c == '=') {
            if (++padding > 2) return std::nullopt;
            continue;
        }
        auto const value = value_of(c);
        if (!value || padding > 0) return std::nullopt;
        group = group << 6U | *value;
        if (++count % 4 == 0) {
            for (unsigned const shift : {16U, 8U, 0U}) bytes += static_cast<char>(group >> shift & 0xFFU);
            group = 0;
        }
    }
    if ((count + padding) % 4 != 0) return std::nullopt;
    if (padding == 1) {
        if ((group & 0x3U) != 0) return std::nullopt;
        bytes += static_cast<char>(group >> 10U & 0xFFU);
        bytes += static_cast<char>(group >> 2U & 0xFFU);
    } else if (padding == 2) {
        if ((group & 0xFU) != 0) return std::nullopt;
        bytes += static_cast<char>(group >> 4U & 0xFFU);
    }
    return bytes;
}

}  // namespace base
