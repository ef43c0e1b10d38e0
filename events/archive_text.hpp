#pragma once

#include "base/gzip.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace events {

/// The text of one file of an archive, a part at a time; what is in gzip comes out plain. Memory: what has been read and not been passed.
class ArchiveText {
  public:
    /// Takes an open file descriptor and closes it, unless it is `borrowed`.
    enum class Ownership { Owned, Borrowed };
    ArchiveText(int descriptor, Ownership ownership);
    ~ArchiveText();
    ArchiveText(ArchiveText const&) = delete;
    ArchiveText& operator=(ArchiveText const&) = delete;

    /// What has been read and not been passed. Valid until more() or pass() is called.
    std::string_view view() const { return std::string_view{text_}.substr(at_); }

    /// Reads on. False at the end of the file, or where it can't be read any further.
    bool more();

    /// Whether the first `size` bytes could be read, and so are in the view.
    bool has(std::size_t size);

    /// Passes over the first `size` bytes of the view.
    void pass(std::size_t size);

    /// The line that the view begins in, counted from 1.
    std::size_t line() const { return line_; }

    /// Why the file could not be read to its end; none where it could, or has not been yet.
    std::optional<std::string> const& fault() const { return fault_; }

    /// How much of the file itself has been read, in bytes.
    std::uintmax_t bytes_read() const { return bytes_read_; }

  private:
    bool read_packed();
    bool unpack();

    int descriptor_;
    Ownership ownership_;
    std::string text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    std::string packed_;  ///< read from the file and not yet unpacked
    std::size_t packed_at_ = 0;
    std::optional<base::Gunzip> gunzip_;  ///< of a file in gzip
    bool begun_ = false;
    bool ended_ = false;  ///< of the file itself
    std::uintmax_t bytes_read_ = 0;
    std::optional<std::string> fault_;
};

}  // namespace events
