#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace events {

/// Appends lines to the file of an archive, and begins a new one when that is full or old.
///
/// What is full becomes `events-20261130T120000.000Z.jsonl.gz` beside `events.jsonl`: the time is that of its end, in UTC, so the order of
/// the names is that of time. It is compressed by a thread of its own; what that did not finish, the next writer does. The oldest are removed
/// where there are more than `keep`.
///
/// One writer per file: another one, in any process, is told so. A file that is no regular one (a pipe) is written and never rotated.
/// Not for several threads at once.
class ArchiveWriter {
  public:
    struct Options {
        std::filesystem::path file;
        std::uintmax_t max_size = std::uintmax_t{64} << 20U;         ///< bytes; 0 for no limit
        std::chrono::nanoseconds max_age = std::chrono::hours{24};   ///< since its first event was received; 0 for no limit
        std::size_t keep = 8;                                        ///< how many full ones; the one that is written comes on top
        std::function<void(std::string const&)> complain = nullptr;  ///< told what went wrong beside writing; from any thread
    };

    ArchiveWriter(Options options, base::Clock clock);
    /// Gives up compressing.
    ~ArchiveWriter();
    ArchiveWriter(ArchiveWriter const&) = delete;
    ArchiveWriter& operator=(ArchiveWriter const&) = delete;

    /// Opens the file where it is not open. The error names the file and says what to do where that can be said; another try may go well.
    base::Result<void, std::string> open();

    /// Appends whole lines by one write(), so that a crash leaves at most the last of them torn, and a file that ends so is continued on a
    /// fresh line. Where only a part could be written, it is taken back. Fails as open() does; then nothing has been written.
    ///
    /// The lines are then the system's to write to the disk: a crash of this process loses none of them.
    base::Result<void, std::string> write(std::string_view lines);

    /// Waits until all that was written is on the disk, so that a crash of the machine loses none of it either.
    void sync();

  private:
    void close();
    bool is_still_there() const;
    bool is_due(std::size_t more) const;
    void rotate();
    void compress_full_ones();
    base::Failure<std::string> fault(std::string_view what) const;
    base::Result<void, std::string> append(std::string_view lines);

    Options options_;
    base::Clock clock_;
    int descriptor_ = -1;
    bool regular_ = false;
    bool torn_ = false;  ///< the file ends inside of a line
    bool dirty_ = false;
    std::uintmax_t size_ = 0;
    base::Time begun_;
    base::Time no_rotation_before_;
    std::thread compressor_;
    std::atomic<bool> compressing_{false};
    std::atomic<bool> stopping_{false};
};

}  // namespace events
