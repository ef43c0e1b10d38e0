#include "base/gzip.hpp"

#include <zlib.h>

#include <array>
#include <new>

namespace base {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, gzip's header
constexpr int kMemoryLevel = 8;     // zlib's own default
constexpr std::size_t kPart = 16384;

Bytef* bytes_of(std::string_view text) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib reads it only
}

}  // namespace

struct Gunzip::Stream {
    z_stream zlib = {};
};

void Gunzip::End::operator()(Stream* stream) const {
    ::inflateEnd(&stream->zlib);
    delete stream;
}

Gunzip::Gunzip() : stream_(new Stream) {
    if (::inflateInit2(&stream_->zlib, kGzipOnly) != Z_OK) throw std::bad_alloc{};
}

Result<std::size_t, GzipFault> Gunzip::take(std::string_view& compressed, std::span<char> plain) {
    z_stream& zlib = stream_->zlib;
    zlib.next_out = reinterpret_cast<Bytef*>(plain.data());
    zlib.avail_out = static_cast<uInt>(plain.size());
    // What was taken earlier may have more to give, so zlib is asked even where nothing new is there.
    while (zlib.avail_out == plain.size() && !(may_end_ && compressed.empty())) {
        if (may_end_ && ::inflateReset(&zlib) != Z_OK)
            return Failure{GzipFault::Malformed};  // RFC 1952 section 2.2: the next member
        may_end_ = false;
        std::string_view const part = compressed.substr(0, std::size_t{1} << 30U);
        zlib.next_in = bytes_of(part);
        zlib.avail_in = static_cast<uInt>(part.size());
        int const outcome = ::inflate(&zlib, Z_NO_FLUSH);
        compressed.remove_prefix(part.size() - zlib.avail_in);
        if (outcome == Z_BUF_ERROR) break;
        if (outcome != Z_OK && outcome != Z_STREAM_END) return Failure{GzipFault::Malformed};
        may_end_ = outcome == Z_STREAM_END;
    }
    return plain.size() - zlib.avail_out;
}

Result<std::string, GzipFault> gunzip(std::string_view compressed, std::size_t limit) {
    Gunzip stream;
    std::string plain;
    std::array<char, kPart> part{};
    for (;;) {
        std::size_t const size = TRY(stream.take(compressed, part));
        if (size > limit - plain.size()) return Failure{GzipFault::TooLarge};
        plain.append(part.data(), size);
        if (size > 0) continue;
        if (!stream.may_end()) return Failure{GzipFault::Malformed};
        return plain;
    }
}

struct Gzip::Stream {
    z_stream zlib = {};
};

void Gzip::End::operator()(Stream* stream) const {
    ::deflateEnd(&stream->zlib);
    delete stream;
}

Gzip::Gzip() : stream_(new Stream) {
    int const made =
        ::deflateInit2(&stream_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipOnly, kMemoryLevel, Z_DEFAULT_STRATEGY);
    if (made != Z_OK) throw std::bad_alloc{};
}

std::string Gzip::run(std::string_view plain, int flush) {
    z_stream& zlib = stream_->zlib;
    zlib.next_in = bytes_of(plain);
    zlib.avail_in = static_cast<uInt>(plain.size());
    std::string out;
    std::array<char, kPart> part{};
    do {
        zlib.next_out = reinterpret_cast<Bytef*>(part.data());
        zlib.avail_out = static_cast<uInt>(part.size());
        ::deflate(&zlib, flush);
        out.append(part.data(), part.size() - zlib.avail_out);
    } while (zlib.avail_out == 0);
    return out;
}

std::string Gzip::take(std::string_view plain) { return run(plain, Z_NO_FLUSH); }

std::string Gzip::finish() { return run({}, Z_FINISH); }

}  // namespace base
