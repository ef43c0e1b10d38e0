#include "function/server/http_framing.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace {

using kro::HttpLimits;
using kro::HttpRequest;
using kro::RequestReader;
using State = kro::RequestReader::State;

std::string with_fields(std::string const& fields) { return "POST / HTTP/1.1\r\nHost: kro\r\n" + fields + "\r\n"; }

std::string chunked(std::string const& body) { return with_fields("Transfer-Encoding: chunked\r\n") + body; }

struct Valid {
    std::string name;
    std::string text;
    std::string method;
    std::string path;
    std::string body = "";
};

std::ostream& operator<<(std::ostream& out, Valid const& row) { return out << row.name; }

class FramedRequest : public testing::TestWithParam<Valid> {};

void expect_row(RequestReader& reader, Valid const& row) {
    ASSERT_EQ(reader.state(), State::Complete) << reader.refusal().reason;
    auto const request = reader.take();
    EXPECT_EQ(request.method, row.method);
    EXPECT_EQ(request.path, row.path);
    EXPECT_EQ(request.message.body, row.body);
    EXPECT_EQ(reader.state(), State::Empty);
}

TEST_P(FramedRequest, IsReadInOnePiece) {
    RequestReader reader{HttpLimits{}};
    EXPECT_EQ(reader.read(GetParam().text + "next"), GetParam().text.size());
    expect_row(reader, GetParam());
}

TEST_P(FramedRequest, IsReadByteByByte) {
    RequestReader reader{HttpLimits{}};
    for (char const c : GetParam().text) {
        EXPECT_NE(reader.state(), State::Complete);
        EXPECT_EQ(reader.read({&c, 1}), 1U);
    }
    expect_row(reader, GetParam());
}

// Source: RFC 9112 sections 2.2 (empty line), 3.2 (targets), 6.3 (length), 7.1 (chunks); RFC 9110 section 8.6 (Content-Length).
INSTANTIATE_TEST_SUITE_P(
    , FramedRequest,
    testing::Values(
        Valid{"WithoutABody", with_fields(""), "POST", "/"},
        Valid{"Sized", with_fields("Content-Length: 3\r\n") + "abc", "POST", "/", "abc"},
        Valid{"SizedZero", with_fields("Content-Length: 0\r\n"), "POST", "/"},
        Valid{"SizedTwiceTheSame", with_fields("Content-Length: 2\r\ncontent-length: 2\r\n") + "ab", "POST", "/", "ab"},
        Valid{"LeadingZerosInLength", with_fields("Content-Length: 0003\r\n") + "abc", "POST", "/", "abc"},
        Valid{"Chunked", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "POST", "/", "abcde"},
        Valid{"ChunkedEmpty", chunked("0\r\n\r\n"), "POST", "/"},
        Valid{"ChunkedUpperCaseHex", chunked("A\r\n0123456789\r\n000\r\n\r\n"), "POST", "/", "0123456789"},
        Valid{"ChunkedWithExtension", chunked("1 ;name=\"v;\"\r\na\r\n0;last\r\n\r\n"), "POST", "/", "a"},
        Valid{"ChunkedWithTrailers", chunked("1\r\na\r\n0\r\nDigest: x\r\nContent-Length: 7\r\n\r\n"), "POST", "/", "a"},
        Valid{"CodingInCapitals", with_fields("Transfer-Encoding: CHUNKED\r\n") + "1\r\na\r\n0\r\n\r\n", "POST", "/", "a"},
        Valid{"AfterAnEmptyLine", "\r\n" + with_fields(""), "POST", "/"},
        Valid{"WithQuery", "GET /readyz?verbose=1?2 HTTP/1.1\r\nHost: kro\r\n\r\n", "GET", "/readyz"},
        Valid{"AbsoluteTarget", "POST http://kro.svc:80/ HTTP/1.1\r\nHost: kro\r\n\r\n", "POST", "/"},
        Valid{"AbsoluteTargetWithoutPath", "POST http://kro.svc?a HTTP/1.1\r\nHost: kro\r\n\r\n", "POST", "/"},
        Valid{"AsteriskTarget", "OPTIONS * HTTP/1.1\r\nHost: kro\r\n\r\n", "OPTIONS", "*"},
        Valid{"Http10WithoutHost", "GET / HTTP/1.0\r\n\r\n", "GET", "/"},
        Valid{"Http19", "GET / HTTP/1.9\r\nHost: kro\r\n\r\n", "GET", "/"},
        Valid{"EmptyValue", with_fields("Ce-Namespace:\r\n"), "POST", "/"},
        Valid{"EmptyHost", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET", "/"},
        Valid{"HostWithPort", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET", "/"}),
    [](auto const& row) { return row.param.name; });

struct Invalid {
    std::string name;
    std::string text;
    int status;
};

std::ostream& operator<<(std::ostream& out, Invalid const& row) { return out << row.name; }

class UnframedRequest : public testing::TestWithParam<Invalid> {};

TEST_P(UnframedRequest, IsRefused) {
    RequestReader reader{HttpLimits{}};
    auto const text = GetParam().text + "GET / HTTP/1.1\r\nHost: smuggled\r\n\r\n";
    reader.read(text);
    EXPECT_EQ(reader.state(), State::Refused);
    EXPECT_EQ(reader.refusal().status, GetParam().status) << reader.refusal().reason;
    EXPECT_EQ(reader.read("more"), 0U);
    EXPECT_LT(reader.held(), 100U);
}

TEST_P(UnframedRequest, IsRefusedByteByByte) {
    RequestReader reader{HttpLimits{}};
    auto const text = GetParam().text + "GET / HTTP/1.1\r\nHost: smuggled\r\n\r\n";
    for (std::size_t i = 0; i < text.size() && reader.state() != State::Complete; ++i) reader.read({&text[i], 1});
    EXPECT_EQ(reader.state(), State::Refused);
    EXPECT_EQ(reader.refusal().status, GetParam().status) << reader.refusal().reason;
}

INSTANTIATE_TEST_SUITE_P(  // RFC 9112 section 2.2 and 3
    RequestLine, UnframedRequest,
    testing::Values(
        Invalid{"OfTls", std::string{"\x16\x03\x01", 3}, 400},
        Invalid{"WithBareNewline", "POST / HTTP/1.1\nHost: kro\r\n\r\n", 400}, Invalid{"OnlyANewline", "\n", 400},
        Invalid{"AfterTwoEmptyLines", "\r\n\r\n" + with_fields(""), 400},
        Invalid{"WithBareReturn", "POST /\r HTTP/1.1\r\nHost: kro\r\n\r\n", 400},
        Invalid{"WithoutVersion", "POST /\r\n\r\n", 400}, Invalid{"WithTwoSpaces", "POST  / HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithTab", "POST\t/ HTTP/1.1\r\n\r\n", 400}, Invalid{"WithSpaceInTarget", "POST /a b HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithFragment", "POST /#a HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithUtf8InTarget", "POST /\xC3\xA9 HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithLowerCaseVersion", "POST / http/1.1\r\n\r\n", 400},
        Invalid{"WithLongVersion", "POST / HTTP/1.10\r\n\r\n", 400}, Invalid{"OfHttp2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        Invalid{"WithAuthority", "CONNECT kro:80 HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithRelativePath", "POST index HTTP/1.1\r\n\r\n", 400}, Invalid{"WithAsterisk", "POST * HTTP/1.1\r\n\r\n", 400},
        Invalid{"WithLongTarget", "GET /" + std::string(9000, 'a'), 414}),
    [](auto const& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(  // RFC 9112 sections 3.2 and 5, RFC 9110 section 5.5
    Field, UnframedRequest,
    testing::Values(Invalid{"Folded", with_fields("X-A: 1\r\n 2\r\n"), 400},
                    Invalid{"FoldedFirst", "GET / HTTP/1.1\r\n Host: kro\r\n\r\n", 400},
                    Invalid{"WithSpaceBeforeColon", with_fields("Content-Length : 3\r\n"), 400},
                    Invalid{"WithoutColon", with_fields("Content-Length\r\n"), 400},
                    Invalid{"WithoutName", with_fields(": 3\r\n"), 400},
                    Invalid{"WithSignInName", with_fields("X(A): 3\r\n"), 400},
                    Invalid{"WithNul", with_fields(std::string{"X: a\0b\r\n", 8}), 400},
                    Invalid{"WithBareReturn", with_fields("X: a\rContent-Length: 3\r\n"), 400},
                    Invalid{"WithBareNewline", with_fields("X: a\nContent-Length: 3\r\n"), 400},
                    Invalid{"HostMissing", "GET / HTTP/1.1\r\n\r\n", 400},
                    Invalid{"HostTwice", with_fields("Host: other\r\n"), 400},
                    Invalid{"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
                    Invalid{"TooLarge", with_fields("X: " + std::string(70000, 'a') + "\r\n"), 431},
                    Invalid{"ExpectationUnknown", with_fields("Expect: tea\r\nContent-Length: 3\r\n"), 417}),
    [](auto const& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(  // RFC 9112 sections 6.1 and 6.3, RFC 9110 section 8.6
    Length, UnframedRequest,
    testing::Values(Invalid{"TwoDiffer", with_fields("Content-Length: 3\r\nContent-Length: 4\r\n"), 400},
                    Invalid{"List", with_fields("Content-Length: 3, 3\r\n"), 400},
                    Invalid{"Empty", with_fields("Content-Length:\r\n"), 400},
                    Invalid{"Negative", with_fields("Content-Length: -1\r\n"), 400},
                    Invalid{"Plus", with_fields("Content-Length: +3\r\n"), 400},
                    Invalid{"Hex", with_fields("Content-Length: 0x3\r\n"), 400},
                    Invalid{"Fraction", with_fields("Content-Length: 3.0\r\n"), 400},
                    Invalid{"FortyGiB", with_fields("Content-Length: 42949672960\r\n"), 413},
                    Invalid{"OneMoreThanTheLimit", with_fields("Content-Length: 2097153\r\n"), 413},
                    Invalid{"BeyondSixtyFourBits", with_fields("Content-Length: 18446744073709551619\r\n"), 413},
                    Invalid{"AndChunked", with_fields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400},
                    Invalid{"GzipCoding", with_fields("Transfer-Encoding: gzip, chunked\r\n"), 400},
                    Invalid{"ChunkedTwice", with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
                    Invalid{"ChunkedNotLast", with_fields("Transfer-Encoding: chunked, identity\r\n"), 400},
                    Invalid{"ChunkedMisspelt", with_fields("Transfer-Encoding: xchunked\r\n"), 400},
                    Invalid{"ChunkedInHttp10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400}),
    [](auto const& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(  // RFC 9112 section 7.1
    Chunk, UnframedRequest,
    testing::Values(Invalid{"SizeEmpty", chunked("\r\n"), 400}, Invalid{"SizeNotHex", chunked("g\r\n"), 400},
                    Invalid{"SizeNegative", chunked("-1\r\n"), 400}, Invalid{"SizeWithPrefix", chunked("0x3\r\n"), 400},
                    Invalid{"SizeWithSpaceBefore", chunked(" 3\r\n"), 400}, Invalid{"SizeWithSpaceAfter", chunked("3 \r\n"), 400},
                    Invalid{"SizeOfSeventeenDigits", chunked("00000000000000003\r\n"), 400},
                    Invalid{"SizeBeyondTheLimit", chunked("200001\r\n"), 413},
                    Invalid{"SizeOfAllBits", chunked("ffffffffffffffff\r\n"), 413},
                    Invalid{"SumBeyondTheLimit", chunked("1\r\na\r\n200000\r\n"), 413},
                    Invalid{"SizeWithBareNewline", chunked("3\nabc\r\n"), 400},
                    Invalid{"DataTooLong", chunked("3\r\nabcd\r\n"), 400},
                    Invalid{"DataTooShort", chunked("3\r\nab\r\n0\r\n\r\n"), 400},
                    Invalid{"DataWithBareNewline", chunked("3\r\nabc\n0\r\n\r\n"), 400},
                    Invalid{"ExtensionTooLong", chunked("3;" + std::string(300, 'a')), 400},
                    Invalid{"ExtensionWithNul", chunked(std::string{"3;\0\r\n", 5}), 400},
                    Invalid{"TrailerFolded", chunked("0\r\n X: 1\r\n\r\n"), 400},
                    Invalid{"TrailersTooLarge", chunked("0\r\nX: " + std::string(70000, 'a')), 431}),
    [](auto const& row) { return row.param.name; });

TEST(FramedFields, KeepOrderSpellingAndRepetitions) {
    RequestReader reader{HttpLimits{}};
    reader.read(with_fields("ce-Subject: a%2525b\r\nX: 1\r\nx: \t2 \r\nY: \xEC\r\n"));
    std::vector<std::pair<std::string, std::string>> const expected = {
        {"Host", "kro"}, {"ce-Subject", "a%2525b"}, {"X", "1"}, {"x", "2"}, {"Y", "\xEC"}};
    EXPECT_EQ(reader.take().message.headers, expected);
}

TEST(FramedFields, UpToTheLimitAreTaken) {
    auto const text = with_fields("X: " + std::string(200, 'a') + "\r\n");
    RequestReader reader{HttpLimits{.header = text.size()}};
    EXPECT_EQ(reader.read(text), text.size());
    EXPECT_EQ(reader.state(), State::Complete);
    RequestReader smaller{HttpLimits{.header = text.size() - 1}};
    smaller.read(text);
    EXPECT_EQ(smaller.refusal().status, 431);
}

TEST(FramedFields, AreNotMoreThanFiveHundred) {
    std::string fields;
    for (int i = 0; i < 600; ++i) fields += "X: 1\r\n";
    RequestReader reader{HttpLimits{}};
    reader.read(with_fields(fields));
    EXPECT_EQ(reader.refusal().status, 431);
}

TEST(FramedBody, UpToTheLimitIsTaken) {
    RequestReader sized{HttpLimits{.body = 4}};
    sized.read(with_fields("Content-Length: 4\r\n") + "abcd");
    EXPECT_EQ(sized.state(), State::Complete);
    RequestReader in_chunks{HttpLimits{.body = 4}};
    in_chunks.read(chunked("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"));
    EXPECT_EQ(in_chunks.state(), State::Complete);
}

struct Close {
    std::string name;
    std::string text;
    bool wants_close;
};

std::ostream& operator<<(std::ostream& out, Close const& row) { return out << row.name; }

class FramedConnection : public testing::TestWithParam<Close> {};

// Source: RFC 9112 section 9.3.
TEST_P(FramedConnection, IsClosedWhereTheClientSaysSo) {
    RequestReader reader{HttpLimits{}};
    reader.read(GetParam().text);
    ASSERT_EQ(reader.state(), State::Complete);
    EXPECT_EQ(reader.take().wants_close, GetParam().wants_close);
}

INSTANTIATE_TEST_SUITE_P(, FramedConnection,
                         testing::Values(Close{"KeptInHttp11", with_fields(""), false},
                                         Close{"ClosedInHttp10", "GET / HTTP/1.0\r\n\r\n", true},
                                         Close{"Close", with_fields("Connection: close\r\n"), true},
                                         Close{"CloseInAList", with_fields("connection: keep-alive, Close\r\n"), true},
                                         Close{"CloseInTheSecond", with_fields("Connection: x\r\nConnection: close\r\n"), true},
                                         Close{"Closer", with_fields("Connection: closer\r\n"), false}),
                         [](auto const& row) { return row.param.name; });

// Source: RFC 9110 section 10.1.1.
TEST(Expectation, IsKnownOnceWhileTheBodyIsMissing) {
    RequestReader reader{HttpLimits{}};
    reader.read(with_fields("Expect: 100-Continue\r\nContent-Length: 2\r\n"));
    EXPECT_TRUE(reader.take_expectation());
    EXPECT_FALSE(reader.take_expectation());
}

TEST(Expectation, IsMetByABodyThatIsAlreadyThere) {
    for (auto const& text :
         {with_fields("Expect: 100-continue\r\nContent-Length: 2\r\n") + "a", with_fields("Expect: 100-continue\r\n"),
          with_fields("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n") + "1\r\n"}) {
        RequestReader reader{HttpLimits{}};
        reader.read(text);
        EXPECT_FALSE(reader.take_expectation());
    }
}

TEST(Expectation, IsIgnoredInHttp10) {
    RequestReader reader{HttpLimits{}};
    reader.read("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(reader.state(), State::Begun);
    EXPECT_FALSE(reader.take_expectation());
}

TEST(RequestReaderState, IsEmptyBetweenRequestsEvenAfterAnExtraLineEnd) {
    RequestReader reader{HttpLimits{}};
    EXPECT_EQ(reader.state(), State::Empty);
    reader.read("\r");
    EXPECT_EQ(reader.state(), State::Empty);
    reader.read("\n");
    EXPECT_EQ(reader.state(), State::Empty);
    reader.read("G");
    EXPECT_EQ(reader.state(), State::Begun);
}

TEST(RequestReaderState, CountsWhatItHolds) {
    RequestReader reader{HttpLimits{}};
    reader.read(with_fields("Content-Length: 100000\r\n") + std::string(90000, 'a'));
    EXPECT_GE(reader.held(), 90000U);
    EXPECT_LE(reader.held(), 200000U);
    reader.read(std::string(10000, 'a'));
    reader.take();
    EXPECT_EQ(reader.held(), RequestReader{HttpLimits{}}.held());
}

}  // namespace
