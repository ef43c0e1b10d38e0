#include "function/gzip.hpp"

#include <zlib.h>

#include <array>
#include <memory>

namespace kro {
namespace {

constexpr int kGzipOnly = 15 + 16;  // inflateInit2: the largest window, gzip's header

struct EndInflate {
    void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

}  // namespace

base::Result<std::string, GzipFault> gunzip(std::string_view compressed, std::size_t limit) {
    z_stream stream = {};
    if (::inflateInit2(&stream, kGzipOnly) != Z_OK) return base::Failure{GzipFault::Malformed};
    std::unique_ptr<z_stream, EndInflate> const end{&stream};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));  // zlib reads it only
    stream.avail_in = static_cast<uInt>(compressed.size());

    std::string plain;
    std::array<char, 16384> part;
    for (;;) {
        stream.next_out = reinterpret_cast<Bytef*>(part.data());
        stream.avail_out = static_cast<uInt>(part.size());
        int const outcome = ::inflate(&stream, Z_NO_FLUSH);
        if (outcome != Z_OK && outcome != Z_STREAM_END) return base::Failure{GzipFault::Malformed};
        auto const size = part.size() - stream.avail_out;
        if (size > limit - plain.size()) return base::Failure{GzipFault::TooLarge};
        plain.append(part.data(), size);
        if (outcome != Z_STREAM_END) continue;
        if (stream.avail_in == 0) return plain;
        if (::inflateReset(&stream) != Z_OK) return base::Failure{GzipFault::Malformed};  // RFC 1952 section 2.2: the next member
    }
}

}  // namespace kro
