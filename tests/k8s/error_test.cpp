#include "k8s/error.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using k8s::Error;

Error error_with(int code, std::string const& reason, std::string const& message) {
    std::string const body = base::dump_json({{"kind", "Status"}, {"reason", reason}, {"message", message}});
    return k8s::error_of(code, body, "patch kros a/b", "", {});
}

struct Row {
    char const* name;
    int code;
    std::string reason;
    std::string message;
    Error::Kind kind;
};
void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }

class ServersAnswer : public testing::TestWithParam<Row> {};
TEST_P(ServersAnswer, HasItsKind) {
    EXPECT_EQ(error_with(GetParam().code, GetParam().reason, GetParam().message).kind, GetParam().kind);
}

// Source of the messages: answers of kube-apiserver 1.34.
INSTANTIATE_TEST_SUITE_P(
    , ServersAnswer,
    testing::Values(
        Row{"JsonPatchTestFailed", 422, "Invalid", "the server rejected our request due to an error in our request",
            Error::Kind::Conflict},
        Row{"ApplyWithAnotherUid", 422, "Invalid",
            "Kro \"b\" is invalid: metadata.uid: Invalid value: \"u-2\": field is immutable", Error::Kind::Conflict},
        Row{"ApplyWithTheUidOfNoObject", 409, "Conflict",
            "uid mismatch: the provided object specified uid u-1, and no existing object was found", Error::Kind::Conflict},
        Row{"InvalidValue", 422, "Invalid", "Kro \"b\" is invalid: spec.version: Invalid value: \"\"", Error::Kind::Invalid},
        Row{"ImmutableField", 422, "Invalid", "spec.requestRef: Invalid value: \"object\": field is immutable",
            Error::Kind::Invalid},
        Row{"ApplyOfAnUnknownField", 500, "",
            "failed to create typed patch object (a/b; v1, Kind=Kro): .spec.x: field not declared in schema",
            Error::Kind::Invalid},
        Row{"CreateWithAnUnknownField", 400, "BadRequest", "strict decoding error: unknown field \"spec.x\"",
            Error::Kind::Invalid},
        Row{"InternalError", 500, "InternalError", "etcdserver: request timed out", Error::Kind::Unavailable},
        Row{"Exists", 409, "AlreadyExists", "kros \"b\" already exists", Error::Kind::AlreadyExists}),
    [](auto const& row) { return std::string{row.param.name}; });

TEST(ServersText, LosesTheLineEndAfterIt) {
    EXPECT_EQ(k8s::error_of(404, "404 page not found\n", "get nopes a/b", "", {}).message,
              "get nopes a/b: 404: 404 page not found");
}

TEST(StrictPatchRefusal, LosesTheObjectThatItQuotes) {
    Error const error = error_with(
        422, "Invalid",
        R"( "" is invalid: patch: Invalid value: "{\"data\":{\"password\":\"czNjcjN0\"}}": strict decoding error: unknown field "x")");
    EXPECT_EQ(
        error.message,
        R"(patch kros a/b: 422 Invalid:  "" is invalid: patch: Invalid value: "...": strict decoding error: unknown field "x")");
    EXPECT_EQ(error_with(422, "Invalid", R"(patch: Invalid value: "{\"data\":{\"password\":\"czNj)").message,
              "patch kros a/b: 422 Invalid: patch: Invalid value: \"...");
}

}  // namespace
