#include "events/archive.hpp"

#include "events/archive_document.hpp"
#include "events/archive_http.hpp"
#include "events/archive_text.hpp"
#include "events/json_extent.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>

namespace events {
namespace {

constexpr std::string_view kStandardInput = "standard input";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// What may stand between two documents: that is how one reads arrays of any size, torn ones too.
bool is_between(char c) { return is_blank(c) || c == '[' || c == ']' || c == ','; }

std::string longer() { return "is longer than " + std::to_string(kLongestEvent >> 20U) + " MiB"; }

/// One open file. Every read_* passes over what it has read.
class File {
  public:
    File(std::string name, int descriptor, ArchiveText::Ownership ownership)
        : name_(std::move(name)), text_(descriptor, ownership) {}

    /// Adds at least one entry, or there is nothing more in the file.
    void read(std::deque<ArchiveEntry>& entries) {
        if (!begun_) {
            begun_ = true;
            if (text_.has(kByteOrderMark.size()) && text_.view().starts_with(kByteOrderMark)) text_.pass(kByteOrderMark.size());
        }
        while (entries.empty()) {
            if (!find_next()) return end(entries);
            if (text_.view().front() == '{') {
                read_document(entries);
            } else if (is_http(line())) {
                read_http(entries);
            } else {
                read_unknown(entries);
            }
        }
    }

    std::uintmax_t bytes_read() const { return text_.bytes_read(); }

  private:
    /// Goes to the next thing that is there to be read; whether there is one.
    bool find_next() {
        for (;;) {
            auto const view = text_.view();
            std::size_t blank = 0;
            while (blank < view.size() && is_between(view[blank])) note(view[blank++]);
            text_.pass(blank);
            if (!text_.view().empty()) return true;
            if (!text_.more()) return false;
        }
    }

    /// Keeps count of the blanks that a line begins with.
    void note(char c) {
        if (c == '\n') {
            indent_ = 0;
        } else if (indent_) {
            indent_ = c == ' ' || c == '\t' ? std::optional{*indent_ + 1} : std::nullopt;
        }
    }

    void end(std::deque<ArchiveEntry>& entries) {
        if (!text_.fault() || told_fault_) return;
        told_fault_ = true;
        entries.emplace_back(Unreadable{{name_, text_.bytes_read() == 0 ? 0 : text_.line()}, *text_.fault()});
    }

    Place here() const { return {name_, text_.line()}; }

    void add(std::string reason, Place place, std::deque<ArchiveEntry>& entries) {
        entries.emplace_back(Unreadable{std::move(place), std::move(reason)});
    }

    /// The line that the view begins in, without its end, as far as it is no longer than a header may be.
    std::string_view line() {
        for (std::size_t looked = 0;;) {
            auto const view = text_.view();
            auto const end = view.find('\n', looked);
            if (end != std::string_view::npos) return view.substr(0, end);
            looked = view.size();
            if (looked > kLongestHeaders || !text_.more()) return text_.view();
        }
    }

    // --- JSON

    void read_document(std::deque<ArchiveEntry>& entries) {
        usual_indent_ = indent_.value_or(usual_indent_);
        if (read_line(entries)) return;
        JsonExtent extent;
        auto state = JsonExtent::State::Open;
        for (;;) {
            state = extent.look(text_.view());
            if (extent.end() > kLongestEvent) return give_up(longer(), entries);
            if (state != JsonExtent::State::Open) break;
            if (!text_.more()) return give_up("is cut short: the file ends inside of it", entries);
        }
        if (state == JsonExtent::State::TooDeep) {
            return give_up("is nested deeper than " + std::to_string(base::kJsonDepth) + " levels", entries);
        }
        if (state == JsonExtent::State::Broken) {
            bool const at_line_end = extent.in_string() && text_.view()[extent.end()] == '\n';
            return give_up(at_line_end ? "is cut short: the line ends inside of a string" : "is cut short or no JSON", entries);
        }
        auto const document = text_.view().substr(0, extent.end());
        auto parsed = base::parse_json(document);
        if (parsed) return take(std::move(parsed).value(), extent.end(), entries);
        bool const utf8 = base::valid_utf8(document) == document;
        add(utf8 ? "is no JSON: " + parsed.error() : "has bytes in it that are no UTF-8", here(), entries);
        pass_document(extent.end());
    }

    void take(Json document, std::size_t size, std::deque<ArchiveEntry>& entries) {
        add_document(std::move(document), here(), entries);
        pass_document(size);
    }

    void pass_document(std::size_t size) {
        text_.pass(size);
        indent_ = std::nullopt;
    }

    /// A document that has a line to itself, as most have: its end need not be looked for.
    bool read_line(std::deque<ArchiveEntry>& entries) {
        auto const end = text_.view().find('\n');
        if (end > kLongestEvent) return false;
        auto document = base::parse_json(text_.view().substr(0, end));
        if (!document) return false;
        take(std::move(document).value(), end, entries);
        return true;
    }

    /// What begins here is no document. Goes on where the next one may begin.
    void give_up(std::string reason, std::deque<ArchiveEntry>& entries) {
        add(std::move(reason), here(), entries);
        while (pass_line() && !may_begin()) {
        }
    }

    /// Whether a document or a message may begin at the view, which begins with a line: one that is indented as the last document was, or not
    /// at all.
    bool may_begin() {
        text_.has(usual_indent_ + 1);
        auto const view = text_.view();
        auto const first = view.find_first_not_of(" \t");
        bool const bracket = first != std::string_view::npos && (view[first] == '{' || view[first] == '[');
        if (bracket) return first == 0 || first == usual_indent_;
        return is_certainly_http(line());
    }

    /// To the beginning of the next line; whether there is one. Keeps nothing of a line of any length.
    bool pass_line() {
        indent_ = 0;
        for (;;) {
            auto const view = text_.view();
            auto const end = view.find('\n');
            text_.pass(end == std::string_view::npos ? view.size() : end + 1);
            if (end != std::string_view::npos) return text_.has(1);
            if (!text_.more()) return false;
        }
    }

    // --- Everything else

    void read_http(std::deque<ArchiveEntry>& entries) {
        Place const place = here();
        auto message = take_http(text_);
        indent_ = std::nullopt;
        if (!message) {
            add(std::move(message).error(), place, entries);
            pass_message();
            return;
        }
        auto parsed = parse_http(*message);
        if (!parsed) return add(to_string(parsed.error()), place, entries);
        for (auto& event : std::move(parsed).value()) entries.emplace_back(stored(std::move(event), place));
    }

    /// Over what is left of a message that can't be read. Its body is no document of its own, so only what says that it is an event is taken
    /// for the next thing.
    void pass_message() {
        auto const may_follow = [this] {
            std::string_view const next = line();
            return is_certainly_http(next) || (next.starts_with('{') && next.find("\"specversion\"") != std::string_view::npos);
        };
        while (!may_follow() && pass_line()) {
        }
        indent_ = 0;
    }

    void read_unknown(std::deque<ArchiveEntry>& entries) {
        Place const place = here();
        std::size_t const lines = pass_unknown();
        std::string reason = "is neither a CloudEvent in JSON nor an HTTP message";
        if (lines > 1) reason += " (" + std::to_string(lines) + " lines)";
        add(std::move(reason), place, entries);
    }

    /// Over all lines up to one where something may begin that can be read; how many.
    std::size_t pass_unknown() {
        std::size_t lines = 1;
        for (; pass_line() && !may_begin(); ++lines) {
        }
        return lines;
    }

    std::string name_;
    ArchiveText text_;
    bool begun_ = false;
    bool told_fault_ = false;
    std::size_t usual_indent_ = 0;           ///< of documents that begin a line, as the last one did
    std::optional<std::size_t> indent_ = 0;  ///< blanks before the view on its line; none where something else stands there
};

std::uintmax_t size_of(std::string const& file) {
    struct stat status = {};
    if (file == "-" || ::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return static_cast<std::uintmax_t>(status.st_size);
}

}  // namespace

std::string to_string(Place const& place) { return place.line == 0 ? place.file : place.file + ":" + std::to_string(place.line); }

class ArchiveReader::Files {
  public:
    Files(std::vector<std::string> names, int standard_input) : names_(std::move(names)), standard_input_(standard_input) {
        for (auto const& name : names_) {
            auto const size = size_of(name);
            all_known_ = all_known_ && size > 0;
            progress_.total += size;
        }
        if (!all_known_) progress_.total = 0;
    }

    std::optional<ArchiveEntry> next() {
        while (entries_.empty()) {
            if (file_) file_->read(entries_);
            if (!entries_.empty()) break;
            close();
            if (next_ == names_.size()) return std::nullopt;
            open(names_[next_++]);
        }
        std::optional<ArchiveEntry> entry{std::move(entries_.front())};
        entries_.pop_front();
        return entry;
    }

    Progress progress() const {
        Progress progress = progress_;
        if (file_) progress.done += file_->bytes_read();
        return progress;
    }

  private:
    void open(std::string const& name) {
        if (name == "-") {
            file_ = std::make_unique<File>(std::string{kStandardInput}, standard_input_, ArchiveText::Ownership::Borrowed);
            return;
        }
        int const descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) {
            entries_.emplace_back(Unreadable{{name, 0}, std::string{"can't be opened: "} + std::strerror(errno)});
        } else {
            file_ = std::make_unique<File>(name, descriptor, ArchiveText::Ownership::Owned);
        }
    }

    void close() {
        if (file_) progress_.done += file_->bytes_read();
        file_ = nullptr;
    }

    std::vector<std::string> names_;
    int standard_input_;
    std::size_t next_ = 0;
    std::unique_ptr<File> file_;
    std::deque<ArchiveEntry> entries_;
    bool all_known_ = true;
    Progress progress_;
};

ArchiveReader::ArchiveReader(std::vector<std::string> files, int standard_input)
    : files_(std::make_unique<Files>(std::move(files), standard_input)) {}
ArchiveReader::~ArchiveReader() = default;
ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;
ArchiveReader& ArchiveReader::operator=(ArchiveReader&&) noexcept = default;

std::optional<ArchiveEntry> ArchiveReader::next() { return files_->next(); }

ArchiveReader::Progress ArchiveReader::progress() const { return files_->progress(); }

}  // namespace events
