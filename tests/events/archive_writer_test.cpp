#include "events/archive_writer.hpp"

#include "base/gzip.hpp"
#include "events/archive.hpp"
#include "events/archive_files.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/full_disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using events::ArchiveWriter;
using namespace std::chrono_literals;

std::string line(std::string const& id, std::string const& received = "2026-11-30T12:00:00Z") {
    return R"({"specversion":"1.0","id":")" + id + R"(","source":"/x","type":"t","recordedtime":")" + received + "\"}\n";
}

std::string text_of(std::filesystem::path const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// What a writer has made of a folder.
class Archive {
  public:
    std::filesystem::path file() const { return folder_ / "events.jsonl"; }
    support::Folder const& folder() const { return folder_; }

    ArchiveWriter::Options options() {
        ArchiveWriter::Options options;
        options.file = file();
        options.complain = [this](std::string const& what) { complaints.push_back(what); };
        return options;
    }
    base::Clock clock() {
        return [this] { return now; };
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (auto const& entry : std::filesystem::directory_iterator{folder_.path()}) names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

    /// The ids of all events, oldest first, and "?" for what can't be read.
    std::string ids() const {
        std::vector<std::string> files;
        for (auto const& full : events::full_files(file())) files.push_back(full.string());
        files.push_back(file().string());
        std::string ids;
        for (events::ArchiveReader reader{files}; auto entry = reader.next();) {
            auto const* event = std::get_if<events::StoredEvent>(&*entry);
            ids += event == nullptr ? "?" : event->event.id;
        }
        return ids;
    }

    base::Time now = *base::parse_rfc3339("2026-11-30T12:00:00Z");
    std::vector<std::string> complaints;

  private:
    support::Folder folder_;
};

using Names = std::vector<std::string>;

TEST(ArchiveWriter, AppendsLines) {
    Archive archive;
    {
        ArchiveWriter writer{archive.options(), archive.clock()};
        ASSERT_TRUE(writer.write(line("a") + line("b")));
        ASSERT_TRUE(writer.write(line("c")));
    }
    ArchiveWriter again{archive.options(), archive.clock()};
    ASSERT_TRUE(again.write(line("d")));
    EXPECT_EQ(text_of(archive.file()), line("a") + line("b") + line("c") + line("d"));
    EXPECT_EQ(archive.names(), Names{"events.jsonl"});
}

TEST(ArchiveWriter, MakesAFileThatItsOwnerAloneMayRead) {
    Archive archive;
    ArchiveWriter writer{archive.options(), archive.clock()};
    ASSERT_TRUE(writer.open());
    struct stat status = {};
    ASSERT_EQ(::stat(archive.file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(ArchiveWriter, ContinuesATornFileOnAFreshLine) {
    Archive archive;
    archive.folder().write("events.jsonl", line("a") + R"({"specversion":"1.0","id":"b)");
    ArchiveWriter writer{archive.options(), archive.clock()};
    ASSERT_TRUE(writer.write(line("c")));
    ASSERT_TRUE(writer.write(line("d")));
    EXPECT_EQ(archive.ids(), "a?cd");
}

TEST(ArchiveWriter, BeginsANewFileWhereOneIsFull) {
    Archive archive;
    auto options = archive.options();
    options.max_size = 2 * line("a").size();
    {
        ArchiveWriter writer{options, archive.clock()};
        for (auto const* id : {"a", "b", "c", "d", "e"}) {
            ASSERT_TRUE(writer.write(line(id)));
            archive.now += 1s;
        }
    }
    // Who ends before all is compressed leaves the rest to the next.
    auto const is_compressed = [&] {
        auto const files = events::full_files(archive.file());
        return std::all_of(files.begin(), files.end(), [](auto const& file) { return file.extension() == ".gz"; });
    };
    for (ArchiveWriter next{options, archive.clock()}; !is_compressed();) ASSERT_TRUE(next.open());
    EXPECT_EQ(archive.names(),
              (Names{"events-20261130T120002.000Z.jsonl.gz", "events-20261130T120004.000Z.jsonl.gz", "events.jsonl"}));
    EXPECT_EQ(archive.ids(), "abcde");
    EXPECT_EQ(archive.complaints, Names{});
}

TEST(ArchiveWriter, BeginsANewFileWhereOneIsOld) {
    Archive archive;
    auto options = archive.options();
    options.max_age = 1h;
    ArchiveWriter writer{options, archive.clock()};
    ASSERT_TRUE(writer.write(line("a")));
    archive.now += 59min;
    ASSERT_TRUE(writer.write(line("b")));
    EXPECT_EQ(events::full_files(archive.file()).size(), 0U);
    archive.now += 1min;
    ASSERT_TRUE(writer.write(line("c")));
    EXPECT_EQ(events::full_files(archive.file()).size(), 1U);
    EXPECT_EQ(text_of(archive.file()), line("c"));
}

TEST(ArchiveWriter, KnowsTheAgeOfAFileThatWasThereByItsFirstEvent) {
    Archive archive;
    archive.folder().write("events.jsonl", line("a", "2026-11-30T10:59:00Z"));
    auto options = archive.options();
    options.max_age = 1h;
    ArchiveWriter writer{options, archive.clock()};
    ASSERT_TRUE(writer.write(line("b")));
    EXPECT_EQ(text_of(archive.file()), line("b"));
}

TEST(ArchiveWriter, KeepsAsManyFullFilesAsItIsTold) {
    Archive archive;
    auto options = archive.options();
    options.max_size = 1;
    options.keep = 2;
    {
        ArchiveWriter writer{options, archive.clock()};
        for (auto const* id : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(writer.write(line(id)));
    }
    EXPECT_EQ(archive.ids(), "cde") << "all within one millisecond";
}

TEST(ArchiveWriter, TouchesNoFileThatOnlyLooksLikeItsOwn) {
    Archive archive;
    for (auto const* name : {"events-notes.jsonl", "events-20261130T120000.000Z.txt", "other-20261130T120000.000Z.jsonl"}) {
        archive.folder().write(name, "mine");
    }
    auto options = archive.options();
    options.max_size = 1;
    options.keep = 0;
    {
        ArchiveWriter writer{options, archive.clock()};
        ASSERT_TRUE(writer.write(line("a")));
        ASSERT_TRUE(writer.write(line("b")));
    }
    EXPECT_EQ(archive.names(), (Names{"events-20261130T120000.000Z.txt", "events-notes.jsonl", "events.jsonl",
                                      "other-20261130T120000.000Z.jsonl"}));
}

TEST(ArchiveWriter, IsTheOnlyOneOfItsFile) {
    Archive archive;
    std::optional<ArchiveWriter> first{std::in_place, archive.options(), archive.clock()};
    ArchiveWriter second{archive.options(), archive.clock()};
    ASSERT_TRUE(first->write(line("a")));
    EXPECT_EQ(second.write(line("b")).error(), archive.file().string() + " is being written by another process");
    first.reset();
    EXPECT_TRUE(second.write(line("c")));
    EXPECT_EQ(archive.ids(), "ac");
}

TEST(ArchiveWriter, NoticesThatItsFileWasTakenAway) {
    Archive archive;
    ArchiveWriter writer{archive.options(), archive.clock()};
    ASSERT_TRUE(writer.write(line("a")));
    std::filesystem::rename(archive.file(), archive.folder() / "moved");
    ASSERT_TRUE(writer.write(line("b")));
    EXPECT_EQ(text_of(archive.file()), line("b"));
}

TEST(ArchiveWriter, SaysWhyAFileCantBeWritten) {
    Archive archive;
    auto options = archive.options();
    options.file = archive.folder() / "none/events.jsonl";
    ArchiveWriter writer{options, archive.clock()};
    EXPECT_EQ(writer.write(line("a")).error(), options.file.string() + " can't be opened for writing: No such file or directory");
    std::filesystem::create_directory(archive.folder() / "none");
    EXPECT_TRUE(writer.write(line("a"))) << "another try";
}

TEST(ArchiveWriter, TakesBackWhatAFullDiskHadNoRoomFor) {
    Archive archive;
    ArchiveWriter writer{archive.options(), archive.clock()};
    ASSERT_TRUE(writer.write(line("a")));
    {
        support::FullDisk const full{line("a").size() + 10};
        auto const written = writer.write(line("b"));
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error(), archive.file().string() + " can't be written: No space left on device");
        EXPECT_FALSE(writer.write(line("c")));
    }
    EXPECT_TRUE(writer.write(line("d")));
    EXPECT_EQ(text_of(archive.file()), line("a") + line("d"));
}

TEST(Compression, ThatIsGivenUpLeavesTheFileAsItWas) {
    support::Folder const folder;
    folder.write("x", "text");
    std::atomic<bool> const stopping{true};
    EXPECT_TRUE(events::compress(folder / "x", stopping));
    EXPECT_EQ(text_of(folder / "x"), "text");
    EXPECT_FALSE(std::filesystem::exists(folder / "x.gz"));
}

TEST(Compression, KeepsEveryByte) {
    support::Folder const folder;
    std::string text;
    for (int i = 0; i < 100000; ++i) text += std::to_string(i) + "\n";
    folder.write("x", text);
    std::atomic<bool> const stopping{false};
    ASSERT_TRUE(events::compress(folder / "x", stopping));
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
    EXPECT_EQ(base::gunzip(text_of(folder / "x.gz"), text.size()).value(), text);
}

}  // namespace
