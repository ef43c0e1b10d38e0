#include "events/archive_files.hpp"

#include "base/gzip.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace events {
namespace {

constexpr std::string_view kCompressed = ".gz";
constexpr std::string_view kStampForm = "00000000T000000.000Z";
constexpr std::size_t kPart = std::size_t{256} << 10U;

/// "20261130T120000.000Z"
std::string stamp(base::Time time) {
    std::string text = base::rfc3339_nano(time).substr(0, 23);  // 2026-11-30T12:00:00.000
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text + "Z";
}

/// The inverse; none for another text.
std::optional<base::Time> time_of(std::string_view text) {
    bool const is_one = text.size() == kStampForm.size() &&
                        std::equal(text.begin(), text.end(), kStampForm.begin(),
                                   [](char c, char form) { return form == '0' ? c >= '0' && c <= '9' : c == form; });
    if (!is_one) return std::nullopt;
    auto const part = [&](std::size_t at, std::size_t size) { return std::string{text.substr(at, size)}; };
    return base::parse_rfc3339(part(0, 4) + "-" + part(4, 2) + "-" + part(6, 5) + ":" + part(11, 2) + ":" + part(13, 7));
}

}  // namespace

std::filesystem::path full_name(std::filesystem::path const& file, base::Time end) {
    return file.parent_path() / (file.stem().string() + "-" + stamp(end) + file.extension().string());
}

std::optional<base::Time> end_of(std::filesystem::path const& full, std::filesystem::path const& file) {
    std::string const begin = file.stem().string() + "-";
    std::string const end = file.extension().string();
    std::string name = full.filename().string();
    if (name.ends_with(kCompressed)) name.resize(name.size() - kCompressed.size());
    bool const ours =
        name.size() == begin.size() + kStampForm.size() + end.size() && name.starts_with(begin) && name.ends_with(end);
    return ours ? time_of(std::string_view{name}.substr(begin.size(), kStampForm.size())) : std::nullopt;
}

std::vector<std::filesystem::path> full_files(std::filesystem::path const& file) {
    std::vector<std::filesystem::path> files;
    std::error_code fault;
    auto const folder = file.parent_path().empty() ? std::filesystem::path{"."} : file.parent_path();
    std::filesystem::directory_iterator const none;
    for (std::filesystem::directory_iterator entry{folder, fault}; !fault && entry != none; entry.increment(fault)) {
        if (end_of(entry->path(), file)) files.push_back(file.parent_path() / entry->path().filename());
    }
    std::sort(files.begin(), files.end());
    return files;
}

base::Result<void, std::string> compress(std::filesystem::path const& file, std::atomic<bool> const& stopping) {
    std::filesystem::path const name = file.string() + std::string{kCompressed};
    std::filesystem::path const unfinished = name.string() + ".unfinished";
    std::error_code fault;
    {
        std::ifstream in{file, std::ios::binary};
        if (!in && errno == ENOENT) return {};  // too old to be kept meanwhile
        std::ofstream out{unfinished, std::ios::binary | std::ios::trunc};
        base::Gzip gzip;
        std::string part(kPart, '\0');
        while (in && out && !stopping) {
            in.read(part.data(), static_cast<std::streamsize>(part.size()));
            out << gzip.take(std::string_view{part}.substr(0, static_cast<std::size_t>(in.gcount())));
        }
        out << gzip.finish();
        out.flush();
        bool const whole = in.eof() && out && !stopping;
        if (!whole) {
            auto failure = base::Failure{base::file_fault(name, "written")};
            std::filesystem::remove(unfinished, fault);
            if (stopping) return {};
            return failure;
        }
    }
    std::filesystem::permissions(unfinished, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, fault);
    std::filesystem::rename(unfinished, name, fault);
    if (fault) return base::Failure{name.string() + " can't be written: " + fault.message()};
    std::filesystem::remove(file, fault);
    return {};
}

}  // namespace events
