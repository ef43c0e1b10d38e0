#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace {

TEST(Joined, HasSeparatorsBetweenTextsAlone) {
    EXPECT_EQ(base::joined({}), "");
    EXPECT_EQ(base::joined({"a"}), "a");
    EXPECT_EQ(base::joined({"", "b", ""}), ", b, ");
    EXPECT_EQ(base::joined({"a", "b"}, "; "), "a; b");
}

TEST(FileFault, NamesTheFileAndTheReason) {
    errno = ENOENT;
    EXPECT_EQ(base::file_fault("/none/events.jsonl", "opened"), "/none/events.jsonl can't be opened: No such file or directory");
}

}  // namespace
