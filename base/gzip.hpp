#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace base {

enum class GzipFault {
    Malformed,  ///< not gzip, cut short, or followed by something else
    TooLarge,   ///< more than the limit comes out
};

/// Undoes gzip (RFC 1952, one member or several) and stops as soon as more than `limit` bytes have come out.
Result<std::string, GzipFault> gunzip(std::string_view compressed, std::size_t limit);

/// Undoes gzip a part at a time, in constant memory.
class Gunzip {
  public:
    Gunzip();

    /// Takes what it can from the front of `compressed` and writes what comes out into `plain`: how many bytes. 0 where more of the
    /// compressed text is wanted.
    Result<std::size_t, GzipFault> take(std::string_view& compressed, std::span<char> plain);

    /// Whether the text may end here: a member has ended, and no other has begun.
    bool may_end() const { return may_end_; }

  private:
    struct Stream;
    struct End {
        void operator()(Stream* stream) const;
    };
    std::unique_ptr<Stream, End> stream_;
    bool may_end_ = false;
};

/// Makes one gzip member a part at a time, in constant memory.
class Gzip {
  public:
    Gzip();

    /// Takes all of `plain`; what is ready of the compressed text, which may be nothing.
    std::string take(std::string_view plain);
    /// The rest. Nothing more may be taken.
    std::string finish();

  private:
    struct Stream;
    struct End {
        void operator()(Stream* stream) const;
    };
    std::string run(std::string_view plain, int flush);
    std::unique_ptr<Stream, End> stream_;
};

}  // namespace base
