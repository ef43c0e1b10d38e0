#include "events/archive_writer.hpp"

#include "base/text.hpp"
#include "events/archive.hpp"
#include "events/archive_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace events {
namespace {

constexpr std::chrono::minutes kNextRotation{1};

/// When the first event of a file was received.
std::optional<base::Time> first_received(std::filesystem::path const& file) {
    ArchiveReader reader{{file.string()}};
    auto const entry = reader.next();
    auto const* event = entry ? std::get_if<StoredEvent>(&*entry) : nullptr;
    return event == nullptr ? std::nullopt : event->received;
}

bool ends_torn(int descriptor, std::uintmax_t size) {
    char last = '\n';
    return size > 0 && ::pread(descriptor, &last, 1, static_cast<off_t>(size - 1)) == 1 && last != '\n';
}

}  // namespace

ArchiveWriter::ArchiveWriter(Options options, base::Clock clock) : options_(std::move(options)), clock_(std::move(clock)) {}

ArchiveWriter::~ArchiveWriter() {
    close();
    stopping_ = true;
    if (compressor_.joinable()) compressor_.join();
}

base::Failure<std::string> ArchiveWriter::fault(std::string_view what) const { return {base::file_fault(options_.file, what)}; }

base::Result<void, std::string> ArchiveWriter::open() {
    if (descriptor_ >= 0) return {};
    descriptor_ =
        ::open(options_.file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, S_IRUSR | S_IWUSR);
    struct stat status = {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        auto failure = fault("opened for writing");
        close();
        return failure;
    }
    regular_ = S_ISREG(status.st_mode);
    if (!regular_) return {};
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        auto failure = errno == EWOULDBLOCK ? base::Failure{options_.file.string() + " is being written by another process"}
                                            : fault("locked");
        close();
        return failure;
    }
    size_ = static_cast<std::uintmax_t>(status.st_size);
    torn_ = ends_torn(descriptor_, size_);
    begun_ = (size_ > 0 ? first_received(options_.file) : std::nullopt).value_or(clock_());
    compress_full_ones();
    return {};
}

void ArchiveWriter::close() {
    sync();
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

void ArchiveWriter::sync() {
    if (dirty_ && descriptor_ >= 0) ::fdatasync(descriptor_);
    dirty_ = false;
}

/// Whether the file is still the one of that name; somebody may have moved or removed it.
bool ArchiveWriter::is_still_there() const {
    struct stat own = {};
    struct stat named = {};
    return ::fstat(descriptor_, &own) == 0 && ::stat(options_.file.c_str(), &named) == 0 && own.st_dev == named.st_dev &&
           own.st_ino == named.st_ino;
}

bool ArchiveWriter::is_due(std::size_t more) const {
    base::Time const now = clock_();
    if (size_ == 0 || now < no_rotation_before_) return false;
    return (options_.max_size > 0 && size_ + more > options_.max_size) ||
           (options_.max_age.count() > 0 && now - begun_ >= options_.max_age);
}

base::Result<void, std::string> ArchiveWriter::write(std::string_view lines) {
    if (descriptor_ >= 0 && regular_ && !is_still_there()) close();
    TRY(open());
    if (regular_ && is_due(lines.size())) {
        rotate();
        TRY(open());
    }
    if (!torn_) return append(lines);
    return append("\n" + std::string{lines});
}

base::Result<void, std::string> ArchiveWriter::append(std::string_view lines) {
    if (size_ == 0) begun_ = clock_();
    ssize_t written = 0;
    do {
        written = ::write(descriptor_, lines.data(), lines.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(lines.size())) {
        size_ += lines.size();
        torn_ = false;
        dirty_ = true;
        return {};
    }
    if (written >= 0) errno = ENOSPC;
    auto failure = fault("written");
    bool const taken_back = written <= 0 || (regular_ && ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0);
    if (!taken_back) {
        size_ += static_cast<std::uintmax_t>(written);
        torn_ = true;
    }
    return failure;
}

void ArchiveWriter::rotate() {
    base::Time const now = clock_();
    auto const before = full_files(options_.file);
    auto const last = before.empty() ? std::nullopt : end_of(before.back(), options_.file);
    // A clock that was set back, or two within a millisecond, must not change the order.
    auto const end = last ? std::max(now, *last + std::chrono::milliseconds{1}) : now;
    auto const full = full_name(options_.file, end);
    sync();
    std::error_code fault;
    std::filesystem::rename(options_.file, full, fault);
    if (fault) {
        no_rotation_before_ = now + kNextRotation;
        if (options_.complain) options_.complain(options_.file.string() + " can't be renamed, and grows on: " + fault.message());
        return;
    }
    close();
    auto files = full_files(options_.file);
    std::size_t const too_many = files.size() - std::min(files.size(), options_.keep);
    for (std::size_t i = 0; i < too_many; ++i) std::filesystem::remove(files[i], fault);
}

void ArchiveWriter::compress_full_ones() {
    if (compressing_) return;
    if (compressor_.joinable()) compressor_.join();
    auto files = full_files(options_.file);
    std::erase_if(files, [](auto const& file) { return file.extension() == ".gz"; });
    if (files.empty()) return;
    compressing_ = true;
    compressor_ = std::thread{[this, files = std::move(files)] {
        for (auto const& file : files) {
            if (stopping_) break;
            auto const done = compress(file, stopping_);
            if (!done && options_.complain) options_.complain(done.error());
        }
        compressing_ = false;
    }};
}

}  // namespace events
