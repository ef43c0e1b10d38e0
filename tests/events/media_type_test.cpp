#include "events/media_type.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using events::parse_media_type;

struct Row {
    std::string name;
    std::string text;
    std::string read;  ///< name and charset; "" where it is refused
};
void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }

class MediaType : public testing::TestWithParam<Row> {};

TEST_P(MediaType, IsRead) {
    auto const media = parse_media_type(GetParam().text);
    EXPECT_EQ(media ? media->name + " " + media->charset : "", GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    , MediaType,
    testing::Values(Row{"Plain", "application/json", "application/json "}, Row{"UpperCase", "Text/XML", "text/xml "},
                    Row{"Suffix", "application/cloudevents-batch+json", "application/cloudevents-batch+json "},
                    Row{"Charset", "text/plain;charset=UTF-8", "text/plain utf-8"},
                    Row{"Quoted", "text/plain; a=b ; CharSet=\"ut\\f-16\"", "text/plain utf-16"},
                    Row{"QuotedSemicolon", "text/plain; a=\"x;charset=y\"", "text/plain "},
                    Row{"SpacesAround", "\t text/plain ; ", "text/plain "}, Row{"EmptyParameters", "text/plain;;", "text/plain "},
                    Row{"Empty", "", ""}, Row{"NoSlash", "json", ""}, Row{"NoType", "/json", ""}, Row{"NoSubtype", "text/", ""},
                    Row{"NoValue", "text/plain; charset=", ""}, Row{"NoName", "text/plain; =x", ""},
                    Row{"SpaceInside", "text / plain", ""}, Row{"OpenQuote", "text/plain; a=\"x", ""},
                    Row{"QuotedLineFeed", "text/plain; a=\"\n\"", ""}, Row{"Backslash", "text/plain; a=\"\\", ""},
                    Row{"NotAscii", "text/pl\xC3\xA4in", ""}, Row{"TextAfter", "text/plain x", ""}),
    [](auto const& row) { return row.param.name; });

TEST(MediaTypeOfJson, IsKnownByItsSubtypeOrSuffix) {
    auto const json = [](std::string const& text) { return is_json(*parse_media_type(text)); };
    EXPECT_TRUE(json("application/json"));
    EXPECT_TRUE(json("TEXT/JSON; x=y"));
    EXPECT_TRUE(json("application/vnd.example+JSON"));
    EXPECT_FALSE(json("application/jsonp"));
    EXPECT_FALSE(json("application/json-seq"));
    EXPECT_FALSE(json("json/plain"));
}

}  // namespace
