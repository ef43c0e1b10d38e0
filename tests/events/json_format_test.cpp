#include "events/json_format.hpp"

#include "tests/events/samples.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using events::Bytes;
using events::CloudEvent;
using events::Data;
using events::Json;

Data json(std::string const& text) { return Data{std::in_place_type<Json>, base::parse_json(text).value()}; }

TEST(JsonFormat, KeepsBooleansAndIntegersAsTheirText) {
    CloudEvent const event = parsed(structured(R"(,"yes":true,"no":false,"many":2147483647,"few":-2147483648,"zero":0)"));
    EXPECT_EQ(
        event.extensions,
        (events::Attributes{{"few", "-2147483648"}, {"many", "2147483647"}, {"no", "false"}, {"yes", "true"}, {"zero", "0"}}));
    EXPECT_EQ(parsed(to_binary(event)), event);
}

TEST(JsonFormat, TakesANullAttributeForAnAbsentOne) {
    EXPECT_EQ(parsed(structured(R"(,"subject":null,"time":null,"name":null,"datacontenttype":null,"data_base64":null)")),
              parsed(structured("")));
    EXPECT_EQ(answer_to({{{"Content-Type", "application/cloudevents+json"}},
                         R"({"specversion":"1.0","id":null,"source":"/x","type":"t"})"}),
              "400 id");
}

struct DataRow {
    std::string name;
    std::string members;
    Data data;
};
void PrintTo(DataRow const& row, std::ostream* out) { *out << row.name; }

class JsonFormatData : public testing::TestWithParam<DataRow> {};

// Source: CloudEvents JSON format 1.0.2, section 3.1.2.
TEST_P(JsonFormatData, IsReadAsTheMediaTypeSays) {
    CloudEvent const event = parsed(structured(GetParam().members));
    EXPECT_EQ(event.data, GetParam().data);
    EXPECT_EQ(parsed(to_structured(event)), event);
    EXPECT_EQ(parsed(to_binary(event)), event);
}

INSTANTIATE_TEST_SUITE_P(
    , JsonFormatData,
    testing::Values(DataRow{"Absent", R"(,"datacontenttype":"application/json")", {}},
                    DataRow{"Object", R"(,"data":{"a":1.0})", json(R"({"a":1.0})")},
                    DataRow{"StringThatHoldsJson", R"(,"datacontenttype":"application/json","data":"{\"kind\":\"Kro\"}")",
                            json(R"("{\"kind\":\"Kro\"}")")},
                    DataRow{"ExplicitNull", R"(,"data":null)", json("null")}, DataRow{"Number", R"(,"data":7)", json("7")},
                    DataRow{"List", R"(,"data":[])", json("[]")},
                    DataRow{"StringOfAnotherType", R"(,"datacontenttype":"application/xml","data":"<much wow=\"xml\"/>")",
                            Bytes{"<much wow=\"xml\"/>"}},
                    DataRow{"Base64OfAnotherType", R"(,"datacontenttype":"application/octet-stream","data_base64":"AP8=")",
                            Bytes{std::string("\0\xFF", 2)}},
                    DataRow{"Base64OfJsonWithEscapedPlus",
                            R"(,"datacontenttype":"application/json","data_base64":"eyJhIjoiw4g\u002BPj4ifQ==")",
                            json("{\"a\":\"\xC3\x88>>>\"}")},
                    DataRow{"Base64WithoutType", R"(,"data_base64":"eyJhIjoxfQ==")", json(R"({"a":1})")}),
    [](auto const& row) { return row.param.name; });

struct Refused {
    std::string name;
    std::string members;
    std::string answer;
};
void PrintTo(Refused const& row, std::ostream* out) { *out << row.name; }

class DefectiveJsonEvent : public testing::TestWithParam<Refused> {};

TEST_P(DefectiveJsonEvent, IsRefusedByName) { EXPECT_EQ(answer_to(structured(GetParam().members)), GetParam().answer); }

INSTANTIATE_TEST_SUITE_P(
    , DefectiveJsonEvent,
    testing::Values(
        Refused{"BothDataMembers", R"(,"data":{},"data_base64":"e30=")", "400 data"},
        Refused{"NullDataBesideBase64", R"(,"data":null,"data_base64":"e30=")", "400 data"},
        Refused{"Base64OfOtherCharacters", R"(,"data_base64":"@@@")", "400 data_base64"},
        Refused{"Base64OfTheUrlAlphabet", R"(,"data_base64":"eyJhIjoiPj4-In0=")", "400 data_base64"},
        Refused{"Base64WithoutPadding", R"(,"data_base64":"e30")", "400 data_base64"},
        Refused{"Base64WithALineBreak", R"(,"data_base64":"eyJh\nIjox\nfQ==")", "400 data_base64"},
        Refused{"Base64WithBitsLeft", R"(,"datacontenttype":"text/plain","data_base64":"QR==")", "400 data_base64"},
        Refused{"Base64OfBrokenJson", R"(,"data_base64":"eyJh")", "400 data_base64"},
        Refused{"Base64AsNumber", R"(,"data_base64":7)", "400 data_base64"},
        Refused{"ObjectAsTextData", R"(,"datacontenttype":"text/plain","data":{})", "400 data"},
        Refused{"JsonDataInUtf16", R"(,"datacontenttype":"application/json;charset=utf-16","data":{})", "415 datacontenttype"},
        Refused{"DatacontenttypeThatIsNone", R"(,"datacontenttype":"json","data":{})", "400 datacontenttype"},
        Refused{"EmptyDatacontenttype", R"(,"datacontenttype":"","data":{})", "400 datacontenttype"},
        Refused{"ObjectExtension", R"(,"name":{"a":1})", "400 name"}, Refused{"ListExtension", R"(,"name":[])", "400 name"},
        Refused{"FractionExtension", R"(,"name":1.5)", "400 name"}, Refused{"ExponentExtension", R"(,"name":1e3)", "400 name"},
        Refused{"WholeDoubleExtension", R"(,"name":1.0)", "400 name"},
        Refused{"IntegerBeyond32Bits", R"(,"name":2147483648)", "400 name"},
        Refused{"NegativeIntegerBeyond32Bits", R"(,"name":-2147483649)", "400 name"},
        Refused{"IntegerBeyond64Bits", R"(,"name":18446744073709551616)", "400 name"},
        Refused{"UpperCaseName", R"(,"myName":"x")", "400 myName"}, Refused{"NonAsciiName", ",\"n\xC3\xA9\":\"x\"", "400 n??"},
        Refused{"NumberAsSubject", R"(,"subject":7)", "400 subject"},
        Refused{"EmptyDataschema", R"(,"dataschema":"")", "400 dataschema"},
        Refused{"NulInText", R"(,"name":"a\u0000b")", "400 name"}, Refused{"LineFeedInText", R"(,"name":"a\nb")", "400 name"},
        Refused{"LoneSurrogate", R"(,"name":"\ud800")", "400 body"},
        Refused{"OffsetWithoutColon", R"(,"time":"2026-11-30T12:00:00+0100")", "400 time"}),
    [](auto const& row) { return row.param.name; });

TEST(JsonFormat, DoesNotLookForAnotherSpellingOfSpecversion) {
    EXPECT_EQ(answer_to({{{"Content-Type", "application/cloudevents+json"}},
                         R"({"specVersion":"1.0","id":"7","source":"/x","type":"t"})"}),
              "400 specversion");
    EXPECT_EQ(answer_to({{{"Content-Type", "application/cloudevents+json"}},
                         R"({"specversion":1.0,"id":"7","source":"/x","type":"t"})"}),
              "400 specversion");
}

TEST(JsonFormat, SaysTheMediaTypeThatItImplies) {
    EXPECT_EQ(parsed(structured(R"(,"data":{})")).datacontenttype, "application/json");
    EXPECT_EQ(parsed(structured("")).datacontenttype, std::nullopt);
}

TEST(JsonFormat, WritesAMediaTypeForDataThatWasMadeHere) {
    CloudEvent event = parsed(structured(""));
    event.data = Bytes{"\xFF"};
    EXPECT_EQ(to_json(event)["datacontenttype"], "application/octet-stream");
    event.data = json("{}");
    EXPECT_EQ(to_json(event)["datacontenttype"], "application/json");
}

}  // namespace
