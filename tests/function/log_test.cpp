#include "function/handle/log.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

namespace {

using base::Json;
using support::kNoon;

/// What one line looks like that is logged so.
std::string logged(std::string_view message, Json fields, spdlog::level::level_enum at = spdlog::level::info,
                   spdlog::level::level_enum from = spdlog::level::info) {
    std::ostringstream out;
    spdlog::logger logger{"test", std::make_shared<spdlog::sinks::ostream_sink_st>(out)};
    logger.set_pattern("%v");
    logger.set_level(from);
    kro::log_line(logger, at, kNoon, message, std::move(fields));
    return out.str();
}

TEST(LogLine, IsOneJsonObject) {
    std::string const line = logged("event answered", {{"requests", 4}, {"outcome", "Done"}});
    EXPECT_EQ(line,
              R"({"level":"info","time":"2026-11-30T12:00:00.000000000Z","msg":"event answered","outcome":"Done","requests":4})"
              "\n");
}

TEST(LogLine, MayHaveNoFields) { EXPECT_TRUE(base::parse_json(logged("stopped", Json::object()))); }

TEST(LogLine, StaysValidJsonWhateverTheBytes) {
    std::string const nasty = "\xEC{}%v \x01\n\"\\ \xFF\x80 end";
    std::string const line = logged("m", {{"why", nasty}, {nasty, 1}});
    auto const json = base::parse_json(line);
    ASSERT_TRUE(json) << line;
    EXPECT_EQ(base::valid_utf8(line), line);
    EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line";
    EXPECT_NE(base::text_of((*json)["why"]).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(LogLine, IsNotWrittenBelowTheLevel) {
    EXPECT_EQ(logged("request", {{"a", 1}}, spdlog::level::debug, spdlog::level::info), "");
    EXPECT_NE(logged("request", {{"a", 1}}, spdlog::level::debug, spdlog::level::debug), "");
    EXPECT_NE(logged("m", {{"a", 1}}, spdlog::level::warn).find(R"("level":"warn")"), std::string::npos);
    EXPECT_NE(logged("m", {{"a", 1}}, spdlog::level::err).find(R"("level":"error")"), std::string::npos);
}

}  // namespace
