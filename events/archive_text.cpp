#include "events/archive_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

namespace events {
namespace {

constexpr std::size_t kPart = 65536;
constexpr std::string_view kGzipMagic = "\x1f\x8b";  // RFC 1952 section 2.3.1

}  // namespace

ArchiveText::ArchiveText(int descriptor, Ownership ownership) : descriptor_(descriptor), ownership_(ownership) {}

ArchiveText::~ArchiveText() {
    if (ownership_ == Ownership::Owned) ::close(descriptor_);
}

/// Reads from the file itself, behind what waits to be unpacked.
bool ArchiveText::read_packed() {
    if (ended_) return false;
    std::size_t const before = packed_.size();
    packed_.resize(before + kPart);
    ssize_t size = 0;
    do {
        size = ::read(descriptor_, packed_.data() + before, kPart);
    } while (size < 0 && errno == EINTR);
    packed_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0) fault_ = std::string{"can't be read: "} + std::strerror(errno);
    ended_ = size <= 0;
    bytes_read_ += static_cast<std::uintmax_t>(std::max<ssize_t>(size, 0));
    return size > 0;
}

bool ArchiveText::unpack() {
    std::size_t const before = text_.size();
    text_.resize(before + kPart);
    for (;;) {
        std::string_view rest = std::string_view{packed_}.substr(packed_at_);
        auto const size = gunzip_->take(rest, std::span{text_.data() + before, kPart});
        packed_at_ = packed_.size() - rest.size();
        if (size && *size > 0) {
            text_.resize(before + *size);
            return true;
        }
        packed_.clear();
        packed_at_ = 0;
        if (size && read_packed()) continue;
        if (!size) fault_ = "the gzip data in it is damaged; nothing after this place can be read";
        if (size && !gunzip_->may_end() && !fault_) fault_ = "the gzip data in it is cut short";
        ended_ = true;
        text_.resize(before);
        return false;
    }
}

bool ArchiveText::more() {
    if (at_ > text_.size() / 2) {
        text_.erase(0, at_);
        at_ = 0;
    }
    if (!begun_) {
        begun_ = true;
        while (packed_.size() < kGzipMagic.size() && read_packed()) {
        }
        if (packed_.starts_with(kGzipMagic)) gunzip_.emplace();
        if (!gunzip_) {
            text_ = std::exchange(packed_, {});
            return !text_.empty();
        }
    }
    if (gunzip_) return !fault_ && unpack();
    if (ended_) return false;
    bool const read = read_packed();
    text_ += packed_;
    packed_.clear();
    return read;
}

bool ArchiveText::has(std::size_t size) {
    while (view().size() < size) {
        if (!more()) return false;
    }
    return true;
}

void ArchiveText::pass(std::size_t size) {
    auto const passed = view().substr(0, size);
    line_ += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
    at_ += passed.size();
}

}  // namespace events
