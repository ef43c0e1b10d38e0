#include "base/gzip.hpp"

#include "tests/support/gzip.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace {

using base::gunzip;
using base::GzipFault;
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

TEST(Gzip, IsUndoneInPartsOfAnySize) {
    std::string plain;
    for (int i = 0; i < 5000; ++i) plain += std::to_string(i * i) + "\n";
    std::string const packed = gzip(plain) + gzip("the end");
    for (std::size_t const size : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
        base::Gunzip stream;
        std::string out;
        for (std::size_t at = 0; at < packed.size(); at += size) {
            std::string_view part = std::string_view{packed}.substr(at, size);
            std::array<char, 100> room{};
            for (auto taken = stream.take(part, room).value(); taken > 0; taken = stream.take(part, room).value()) {
                out.append(room.data(), taken);
            }
        }
        EXPECT_EQ(out, plain + "the end") << "in parts of " << size;
        EXPECT_TRUE(stream.may_end());
    }
}

TEST(Gzip, CutShortMayNotEnd) {
    std::string const packed = gzip("hello");
    std::string_view cut{packed.data(), packed.size() - 3};
    base::Gunzip stream;
    std::array<char, 100> room{};
    while (stream.take(cut, room).value() > 0) {
    }
    EXPECT_FALSE(stream.may_end());
}

TEST(Gzip, MadeInPartsIsUndoneAsAWhole) {
    base::Gzip stream;
    std::string packed;
    std::string plain;
    for (int i = 0; i < 20000; ++i) {
        std::string const part = std::to_string(i) + " ";
        plain += part;
        packed += stream.take(part);
    }
    packed += stream.finish();
    EXPECT_EQ(gunzip(packed, plain.size()).value(), plain);
    EXPECT_LT(packed.size(), plain.size());
}

}  // namespace
