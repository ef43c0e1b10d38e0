#include "k8s/credentials.hpp"

#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace {

// Source: RFC 4648 section 10.
TEST(Base64, HasItsKnownAnswers) {
    struct Row {
        char const* bytes;
        char const* text;
    };
    for (auto const& [bytes, text] : {Row{"", ""}, Row{"f", "Zg=="}, Row{"fo", "Zm8="}, Row{"foo", "Zm9v"},
                                      Row{"foob", "Zm9vYg=="}, Row{"fooba", "Zm9vYmE="}, Row{"foobar", "Zm9vYmFy"}}) {
        EXPECT_EQ(base::encode_base64(bytes), text);
        EXPECT_EQ(base::decode_base64(text), bytes);
    }
}

TEST(Base64, MayBeBrokenIntoLines) { EXPECT_EQ(base::decode_base64("Zm9v\r\nYmFy\n"), "foobar"); }

TEST(Base64, IsRefusedWhereItIsNone) {
    for (auto const* text : {"Zg", "Zg=", "Z", "Zg==Zg==", "=", "====", "Zg=a", "Zh==", "Zm9=", "<ca>", "Zm9v-_"}) {
        EXPECT_EQ(base::decode_base64(text), std::nullopt) << text;
    }
}

TEST(Redaction, TakesATokenOutOfAnyText) {
    k8s::Credentials credentials;
    credentials.token = "s3cr3t-42";
    EXPECT_EQ(k8s::redact("token s3cr3t-42 is bad", credentials), "token [redacted] is bad");
    for (std::string const before : {"", "a", "ab", "abc", "abcd"}) {
        for (std::string const after : {"", "x", "xy", "xyz"}) {
            std::string const encoded = base::encode_base64(before + "s3cr3t-42" + after);
            EXPECT_NE(k8s::redact(encoded, credentials), encoded);
            EXPECT_NE(k8s::redact(encoded, credentials).find("[redacted]"), std::string::npos) << before << "-" << after;
        }
    }
}

TEST(Redaction, TakesAPasswordOutOfAnyText) {
    k8s::Credentials credentials;
    credentials.username = "me";
    credentials.password = "open sesame";
    EXPECT_EQ(k8s::redact("open sesame, " + authorization_of(credentials), credentials), "[redacted], Basic [redacted]");
}

TEST(Redaction, ReachesEveryStringOfAnObject) {
    k8s::Credentials credentials;
    credentials.token = "s3cr3t-42";
    base::Json value = {{"a", {"s3cr3t-42", 1}}, {"b", {{"c", "x s3cr3t-42 y"}}}};
    k8s::redact(value, credentials);
    EXPECT_EQ(value, (base::Json{{"a", {"[redacted]", 1}}, {"b", {{"c", "x [redacted] y"}}}}));
}

}  // namespace
