#include "events/http_binding.hpp"

#include "tests/events/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using events::Bytes;
using events::CloudEvent;
using events::HttpMessage;

TEST(BinaryMode, ReadsAttributesExtensionsAndData) {
    CloudEvent const event = parsed(sample("kro-update.http"));

    EXPECT_EQ(event.specversion, "1.0");
    EXPECT_EQ(event.id, "7f1c9f43-20f2-44a5-8a0c-3c8a9f7c9b02");
    EXPECT_EQ(event.source, "https://10.96.0.1:443");
    EXPECT_EQ(event.type, "dev.knative.apiserver.resource.update");
    EXPECT_EQ(event.time, "2026-11-30T12:10:00.987654321Z");
    EXPECT_EQ(event.subject, "/apis/kro.services.openmcp.cloud/v1alpha1/namespaces/project-a--ws-b/kros/acme");
    EXPECT_EQ(event.datacontenttype, "application/json");
    EXPECT_EQ(event.extensions, (events::Attributes{{"apiversion", "kro.services.openmcp.cloud/v1alpha1"},
                                                    {"kind", "Kro"},
                                                    {"name", "acme"},
                                                    {"namespace", "project-a--ws-b"}}));
    EXPECT_EQ(json_data(event)["spec"]["version"], "0.9.2");
}

TEST(BinaryMode, KeepsAnEmptyExtension) {
    CloudEvent const event = parsed(sample("providerconfig-update.http"));
    EXPECT_EQ(event.extensions.count("namespace"), 1U);
    EXPECT_EQ(extension(event, "namespace"), "");
}

TEST(BinaryMode, HasNoDataWhereTheBodyIsEmpty) {
    EXPECT_EQ(parsed(binary()).data, events::Data{});
    EXPECT_EQ(parsed(binary()).datacontenttype, std::nullopt);
    EXPECT_EQ(parsed(binary({{"Content-Type", "application/json"}})).data, events::Data{});
}

TEST(BinaryMode, KeepsOtherDataAsBytes) {
    EXPECT_EQ(parsed(binary({{"Content-Type", "text/plain"}}, "{\"a\":1}\xFF")).data, events::Data{Bytes{"{\"a\":1}\xFF"}});
}

// Source: Knative Eventing v0.50, pkg/adapter/mtping/runner.go: a PingSource's data has the type that its contentType says, or
// none.
TEST(BinaryMode, TakesABodyOfNoTypeAsBytes) {
    CloudEvent const event = parsed(binary({}, "{}"));
    EXPECT_EQ(event.datacontenttype, "application/octet-stream");
    EXPECT_EQ(event.data, events::Data{Bytes{"{}"}});
    EXPECT_EQ(answer_to(HttpMessage{{}, "{}"}), "415 content-type");
}

TEST(BinaryMode, TakesHeaderNamesInAnyCase) {
    HttpMessage const message{{{"CE-SpecVersion", "1.0"},
                               {"cE-ID", "7"},
                               {"Ce-Type", "t"},
                               {"CE-SOURCE", "/x"},
                               {"Ce-NameSpace", "default"},
                               {"ce-KIND", "Kro"},
                               {"CONTENT-TYPE", "application/json"}},
                              "{}"};
    HttpMessage const lower =
        binary({{"ce-namespace", "default"}, {"ce-kind", "Kro"}, {"content-type", "application/json"}}, "{}");
    EXPECT_EQ(parsed(message), parsed(lower));
    EXPECT_EQ(to_structured(parsed(message)), to_structured(parsed(lower)));
}

struct HeaderRow {
    std::string name;
    std::string written;
    std::string read;
};
void PrintTo(HeaderRow const& row, std::ostream* out) { *out << row.name; }

class HeaderValue : public testing::TestWithParam<HeaderRow> {};

// Source: CloudEvents HTTP protocol binding 1.0.2, section 3.1.3.2; "Euro" is its own example.
TEST_P(HeaderValue, IsDecodedOnce) { EXPECT_EQ(parsed(binary({{"ce-subject", GetParam().written}})).subject, GetParam().read); }

INSTANTIATE_TEST_SUITE_P(
    , HeaderValue,
    testing::Values(HeaderRow{"Plain", "abc", "abc"}, HeaderRow{"SpacesAround", " \tabc ", "abc"},
                    HeaderRow{"SpaceInside", "a b", "a b"},
                    HeaderRow{"Euro", "Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro \xE2\x82\xAC \xF0\x9F\x98\x80"},
                    HeaderRow{"LowerCaseHex", "%e2%82%ac", "\xE2\x82\xAC"}, HeaderRow{"OneRoundOnly", "%2541", "%41"},
                    HeaderRow{"NeedlesslyEncoded", "%41", "A"}, HeaderRow{"RawUtf8", "\xC3\xA9", "\xC3\xA9"},
                    HeaderRow{"Quoted", "\"a \\\"b\\\" c\"", "a \"b\" c"}, HeaderRow{"QuotedAndEncoded", "\"a%20b\"", "a b"},
                    HeaderRow{"QuoteInside", "a\"b", "a\"b"}, HeaderRow{"QuoteThatDoesNotEnd", "\"abc", "\"abc"},
                    HeaderRow{"TextAfterTheQuote", "\"abc\"d", "\"abc\"d"}, HeaderRow{"BackslashAtTheEnd", "\"abc\\", "\"abc\\"},
                    HeaderRow{"CutPercent", "a%4", "a%4"}, HeaderRow{"PercentOfNothing", "100%zz%", "100%zz%"}),
    [](auto const& row) { return row.param.name; });

TEST(BinaryMode, WritesHeaderValuesInPrintableAscii) {
    CloudEvent event = parsed(binary());
    event.subject = "Euro \xE2\x82\xAC 100%\"";
    HttpMessage const written = to_binary(event);
    std::pair<std::string, std::string> const wanted{"ce-subject", "Euro%20%E2%82%AC%20100%25%22"};
    EXPECT_NE(std::find(written.headers.begin(), written.headers.end(), wanted), written.headers.end());
    EXPECT_EQ(parsed(written), event);
}

struct Refused {
    std::string name;
    HttpMessage message;
    std::string answer;
};
void PrintTo(Refused const& row, std::ostream* out) { *out << row.name; }

class DefectiveBinaryEvent : public testing::TestWithParam<Refused> {};

TEST_P(DefectiveBinaryEvent, IsRefusedByName) { EXPECT_EQ(answer_to(GetParam().message), GetParam().answer); }

HttpMessage without(std::string const& header) {
    HttpMessage message = binary();
    std::erase_if(message.headers, [&](auto const& pair) { return pair.first == header; });
    return message;
}

HttpMessage with(std::string const& header, std::string const& value) {
    HttpMessage message = without(header);
    message.headers.emplace_back(header, value);
    return message;
}

INSTANTIATE_TEST_SUITE_P(
    , DefectiveBinaryEvent,
    testing::Values(Refused{"NoSpecversion", without("ce-specversion"), "400 specversion"},
                    Refused{"OldSpecversion", with("ce-specversion", "0.3"), "400 specversion"},
                    Refused{"SpecversionWithALetter", with("ce-specversion", "V1"), "400 specversion"},
                    Refused{"SpecversionTooLong", with("ce-specversion", "1.0.2"), "400 specversion"},
                    Refused{"NoId", without("ce-id"), "400 id"}, Refused{"EmptyId", with("ce-id", "  "), "400 id"},
                    Refused{"EmptyType", with("ce-type", ""), "400 type"},
                    Refused{"NoSource", without("ce-source"), "400 source"},
                    Refused{"EmptySubject", with("ce-subject", ""), "400 subject"},
                    Refused{"TimeWithoutZone", with("ce-time", "2026-11-30T12:00:00"), "400 time"},
                    Refused{"TimeInSeconds", with("ce-time", "1764504000"), "400 time"},
                    Refused{"NameWithUnderscore", with("ce-my_name", "x"), "400 my_name"},
                    Refused{"NameWithDash", with("ce-my-name", "x"), "400 my-name"},
                    Refused{"EmptyName", with("ce-", "x"), "400 "}, Refused{"NameOfTheData", with("ce-data", "x"), "400 data"},
                    Refused{"DatacontenttypeAsHeader", with("ce-datacontenttype", "application/json"), "400 datacontenttype"},
                    Refused{"RepeatedAttribute", binary({{"CE-ID", "8"}}), "400 id"},
                    Refused{"RepeatedExtension", binary({{"ce-name", "a"}, {"Ce-Name", "a"}}), "400 name"},
                    Refused{"RepeatedContentType", binary({{"Content-Type", "application/json"}, {"content-type", "text/plain"}}),
                            "400 content-type"},
                    Refused{"BytesThatAreNoUtf8", with("ce-subject", "\xEC"), "400 subject"},
                    Refused{"EncodedBytesThatAreNoUtf8", with("ce-subject", "%C0%A0"), "400 subject"},
                    Refused{"ControlCharacter", with("ce-name", "a\x01"), "400 name"},
                    Refused{"EncodedLineFeed", with("ce-name", "a%0Ab"), "400 name"},
                    Refused{"EncodedNul", with("ce-name", "a%00"), "400 name"},
                    Refused{"NextLine", with("ce-name", "%C2%85"), "400 name"},
                    Refused{"Noncharacter", with("ce-name", "%EF%BF%BF"), "400 name"},
                    Refused{"NoEventAtAll", HttpMessage{{{"Content-Type", "application/json"}}, "{}"}, "400 specversion"},
                    Refused{"NothingAtAll", HttpMessage{}, "400 specversion"}),
    [](auto const& row) { return row.param.name; });

class Body : public testing::TestWithParam<Refused> {};

TEST_P(Body, ThatIsNoJsonIsRefused) { EXPECT_EQ(answer_to(GetParam().message), GetParam().answer); }

HttpMessage json_event(std::string body) { return binary({{"Content-Type", "application/json"}}, std::move(body)); }
HttpMessage structured_body(std::string body) { return {{{"Content-Type", "application/cloudevents+json"}}, std::move(body)}; }

std::string repeated(std::string const& text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

INSTANTIATE_TEST_SUITE_P(, Body,
                         testing::Values(Refused{"BareNan", json_event("{\"a\":NaN}"), "400 data"},
                                         Refused{"BareInfinity", json_event("{\"a\":-Infinity}"), "400 data"},
                                         Refused{"Cut", json_event("{\"a\":"), "400 data"},
                                         Refused{"BytesThatAreNoUtf8", json_event("\"\xEC\""), "400 data"},
                                         Refused{"HalfAMillionBrackets", json_event(std::string(500'000, '[')), "400 data"},
                                         Refused{"HundredThousandObjects",
                                                 json_event("{\"spec\":{\"values\":" + repeated("{\"a\":", 100'000)), "400 data"},
                                         Refused{"StructuredBareNan", structured(R"(,"data":NaN)"), "400 body"},
                                         Refused{"StructuredBrackets", structured_body(std::string(500'000, '[')), "400 body"},
                                         Refused{"StructuredHundredThousandObjects",
                                                 structured(R"(,"data":{"spec":{"values":)" + repeated("{\"a\":", 100'000) + "1" +
                                                            repeated("}", 100'002)),
                                                 "400 body"},
                                         Refused{"StructuredEmpty", structured_body(""), "400 body"},
                                         Refused{"StructuredArray", structured_body("[]"), "400 body"},
                                         Refused{"StructuredString", structured_body("\"x\""), "400 body"},
                                         Refused{"StructuredNull", structured_body("null"), "400 body"}),
                         [](auto const& row) { return row.param.name; });

TEST(JsonBody, NestedTwoHundredDeepIsTakenAsItIs) {
    std::string const values = repeated("{\"a\":", 200) + "1.0" + repeated("}", 200);
    EXPECT_EQ(base::dump_json(json_data(parsed(json_event(values)))), values);
    EXPECT_EQ(base::dump_json(json_data(parsed(structured(",\"data\":" + values)))), values);
}

TEST(JsonBody, KeepsNumbersThatNoDoubleHolds) {
    std::string const body = R"({"a":1e400,"b":-1e400,"c":4.9e-324,"d":1.0,"e":9007199254740993})";
    EXPECT_EQ(to_binary(parsed(json_event(body))).body, body);
    EXPECT_EQ(to_binary(parsed(structured(",\"data\":" + body))).body, body);
}

class ContentType : public testing::TestWithParam<Refused> {};

TEST_P(ContentType, IsAnswered) { EXPECT_EQ(answer_to(GetParam().message), GetParam().answer); }

HttpMessage typed(std::string type, std::string body = "{}") {
    return binary({{"Content-Type", std::move(type)}}, std::move(body));
}
HttpMessage structured_typed(std::string type) {
    HttpMessage message = structured("");
    message.headers = {{"Content-Type", std::move(type)}};
    return message;
}

INSTANTIATE_TEST_SUITE_P(
    , ContentType,
    testing::Values(Refused{"Json", typed("application/json"), "taken"},
                    Refused{"JsonInUtf8", typed("application/json ; charset=\"utf-8\""), "taken"},
                    Refused{"JsonInUpperCase", typed("APPLICATION/JSON;CHARSET=UTF-8"), "taken"},
                    Refused{"JsonInAscii", typed("application/json; charset=us-ascii"), "taken"},
                    Refused{"JsonInUtf16", typed("application/json; charset=utf-16"), "415 content-type"},
                    Refused{"JsonInQuotedUtf16", typed("application/json; charset=\"UTF-16\""), "415 content-type"},
                    Refused{"MergePatch", typed("application/merge-patch+json"), "taken"},
                    Refused{"TextJson", typed("text/json"), "taken"},
                    Refused{"TextInLatin1", typed("text/plain; charset=iso-8859-1", "\xE9"), "taken"},
                    Refused{"FormWithCeHeaders", typed("application/x-www-form-urlencoded"), "415 content-type"},
                    Refused{"FormWithoutCeHeaders", HttpMessage{{{"Content-Type", "application/x-www-form-urlencoded"}}, "{}"},
                            "415 content-type"},
                    Refused{"TextWithoutCeHeaders", HttpMessage{{{"Content-Type", "text/plain"}}, "{}"}, "415 content-type"},
                    Refused{"NoSlash", typed("json"), "415 content-type"},
                    Refused{"OpenQuote", typed("application/json; charset=\"utf-8"), "415 content-type"},
                    Refused{"TwoTypes", typed("application/json, text/plain"), "415 content-type"},
                    Refused{"Structured", structured_typed("Application/CloudEvents+JSON; charset=UTF-8"), "taken"},
                    Refused{"StructuredInUtf16", structured_typed("application/cloudevents+json; charset=utf-16"),
                            "415 content-type"},
                    Refused{"StructuredAvro", structured_typed("application/cloudevents+avro"), "415 content-type"},
                    Refused{"StructuredWithoutFormat", structured_typed("application/cloudevents"), "415 content-type"},
                    Refused{"BatchInXml", structured_typed("application/cloudevents-batch+xml"), "415 content-type"}),
    [](auto const& row) { return row.param.name; });

TEST(MediaTypes, AreComparedWithoutTheirParameters) {
    HttpMessage one = structured(R"(,"name":"acme","datacontenttype":"application/json;charset=utf-8","data":{"kind":"Kro"})");
    one.headers = {{"Content-Type", "Application/CloudEvents+JSON; charset=UTF-8"}};
    HttpMessage const two =
        binary({{"ce-name", "acme"}, {"Content-Type", "application/json ; charset=\"utf-8\""}}, R"({"kind":"Kro"})");

    CloudEvent structured_event = parsed(one);
    CloudEvent const binary_event = parsed(two);
    EXPECT_EQ(structured_event.datacontenttype, "application/json;charset=utf-8");
    structured_event.datacontenttype = binary_event.datacontenttype;
    EXPECT_EQ(structured_event, binary_event);
}

TEST(StructuredMode, LooksAtNoCeHeader) {
    HttpMessage message = structured(R"(,"name":"t1")");
    message.headers.insert(message.headers.end(), {{"ce-type", "dev.knative.sources.ping"}, {"ce-name", "t2"}, {"ce-id", "%"}});
    CloudEvent const event = parsed(message);
    EXPECT_EQ(event.type, "t");
    EXPECT_EQ(extension(event, "name"), "t1");
}

HttpMessage batch(std::string body) { return {{{"Content-Type", "application/cloudevents-batch+json"}}, std::move(body)}; }

TEST(BatchedMode, ReadsEveryEntryInOrder) {
    std::string const one = structured(R"(,"name":"t1")").body;
    std::string const two = structured(R"(,"name":"t2","data":[])").body;
    auto const events = events::parse_http(batch("[" + one + "," + two + "]"));
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 2U);
    EXPECT_EQ(extension(events->front(), "name"), "t1");
    EXPECT_EQ(extension(events->back(), "name"), "t2");
}

TEST(BatchedMode, MayBeEmpty) {
    auto const events = events::parse_http(batch("[]"));
    ASSERT_TRUE(events);
    EXPECT_TRUE(events->empty());
}

TEST(BatchedMode, IsRefusedWholeForOneBadEntry) {
    auto const events =
        events::parse_http(batch("[" + structured("").body + R"(,{"specversion":"1.0","id":"8","source":"/x"}])"));
    ASSERT_FALSE(events);
    EXPECT_EQ(to_string(events.error()), "type: is missing (entry 1 of the batch, counted from 0)");
    EXPECT_EQ(answer_to(batch("[7]")), "400 body");
    EXPECT_EQ(answer_to(batch("{}")), "400 body");
    EXPECT_EQ(answer_to(batch("")), "400 body");
}

TEST(Refusal, IsOneLineOfPrintableAsciiWhateverTheNameWas) {
    auto const refused = events::parse_http(binary({{"ce-\xEC\n" + std::string(200, 'x'), "y"}}));
    ASSERT_FALSE(refused);
    std::string const line = to_string(refused.error());
    EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos);
    EXPECT_LT(line.size(), 200U);
    EXPECT_EQ(base::valid_utf8(line), line);
}

TEST(Refusal, QuotesNoValue) {
    auto const refused = events::parse_http(binary({{"ce-time", "s3cr3t-42"}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(to_string(refused.error()).find("s3cr3t"), std::string::npos);
}

class Sample : public testing::TestWithParam<char const*> {};

TEST_P(Sample, IsTheSameEventInEveryMode) {
    CloudEvent const event = parsed(sample(GetParam()));
    EXPECT_EQ(parsed(to_binary(event)), event);
    EXPECT_EQ(parsed(to_structured(event)), event);
    auto const batched = events::parse_http(events::to_batch({event, event}));
    ASSERT_TRUE(batched);
    EXPECT_EQ(*batched, (std::vector{event, event}));
}

INSTANTIATE_TEST_SUITE_P(, Sample,
                         testing::Values("kro-add.http", "kro-update.http", "kro-delete.http", "providerconfig-update.http",
                                         "helmrelease-update.http", "secret-reference-update.http", "ping.http"));

}  // namespace
