#include "base/base64.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using base::decode_base64;
using base::encode_base64;

struct Row {
    std::string name;
    std::string bytes;
    std::string text;
};

class Base64 : public testing::TestWithParam<Row> {};

// Source: RFC 4648 section 10.
TEST_P(Base64, IsWrittenAndRead) {
    EXPECT_EQ(encode_base64(GetParam().bytes), GetParam().text);
    EXPECT_EQ(decode_base64(GetParam().text, base::WhiteSpace::Refused), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(, Base64,
                         testing::Values(Row{"Nothing", "", ""}, Row{"One", "f", "Zg=="}, Row{"Two", "fo", "Zm8="},
                                         Row{"Three", "foo", "Zm9v"}, Row{"Four", "foob", "Zm9vYg=="},
                                         Row{"Five", "fooba", "Zm9vYmE="}, Row{"Six", "foobar", "Zm9vYmFy"},
                                         Row{"HighBits", "\xFB\xFF\xFE", "+//+"}),
                         [](auto const& row) { return row.param.name; });

class NotBase64 : public testing::TestWithParam<Row> {};

TEST_P(NotBase64, IsRefused) { EXPECT_EQ(decode_base64(GetParam().text, base::WhiteSpace::Refused), std::nullopt); }

INSTANTIATE_TEST_SUITE_P(, NotBase64,
                         testing::Values(Row{"PaddingAlone", "", "===="}, Row{"PaddingAlone2", "", "=="},
                                         Row{"PaddingInside", "", "Zg==Zg=="}, Row{"NoPadding", "", "Zg"},
                                         Row{"OneCharacter", "", "Z==="}, Row{"BitsLeftOver", "", "Zh=="},
                                         Row{"UrlAlphabet", "", "-__-"}, Row{"LineFeed", "", "Zm9v\nZm9v"},
                                         Row{"Space", "", " Zm9"}, Row{"Nul", "", std::string("Zm9\0", 4)}),
                         [](auto const& row) { return row.param.name; });

}  // namespace
