#pragma once

#include "base/clock.hpp"
#include "events/cloud_event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace events {

/// Where something stands in an archive.
struct Place {
    std::string file;      ///< as it was named; "standard input" for `-`
    std::size_t line = 0;  ///< counted from 1, in the text (of a gzip file: of what comes out); 0 for the file as a whole

    bool operator==(Place const&) const = default;
};

/// "events.jsonl:17", or the file alone where there is no line.
std::string to_string(Place const& place);

/// An event as an archive has it.
struct StoredEvent {
    CloudEvent event;  ///< as it was sent: without the attributes that a recorder added, which are the members below
    Place place;       ///< where it begins

    std::optional<base::Time> received;  ///< `recordedtime`: when the recorder got it; none where nobody wrote it down
    int status = 0;       ///< `recordedstatus`: the HTTP status that its sender was told; 0 where that is not known
    std::string outcome;  ///< `recordedoutcome`: "Done", "Waiting", ...; "" where that is not known
    std::string why;      ///< `recordedwhy`
};

/// Something in an archive that is no event. What comes after it is read all the same.
struct Unreadable {
    Place place;
    std::string
        reason;  ///< one line in valid UTF-8 that never quotes a value: what is wrong, and what to do where that can be said
};

using ArchiveEntry = std::variant<StoredEvent, Unreadable>;

/// What a recorder adds to the events that it writes, as extension attributes.
inline constexpr std::string_view kRecordedTime = "recordedtime";      ///< RFC 3339 with nanoseconds
inline constexpr std::string_view kRecordedStatus = "recordedstatus";  ///< an integer
inline constexpr std::string_view kRecordedOutcome = "recordedoutcome";
inline constexpr std::string_view kRecordedWhy = "recordedwhy";

/// The longest event that is read, with everything around it: a line of a JSON Lines file, a document, an entry of an array, an HTTP
/// message's body.
inline constexpr std::size_t kLongestEvent = std::size_t{8} << 20U;

/// Reads stored CloudEvents, one after the other, in the order of the files. Memory: the event that is being read, at most kLongestEvent,
/// whatever the size of the files.
///
/// Every file may be, recognised by what is in it and not by its name, and mixed as one likes:
///  - JSON Lines: an event in the JSON format per line;
///  - JSON documents one after the other, pretty-printed or not: events, arrays of events, `kubectl get --output json` and
///    `kubectl get --watch --output json` (objects and lists of them), and the same with `--output-watch-events`;
///  - HTTP messages: a request line or none, header lines, an empty line, and as many bytes as Content-Length says; the event in any
///    of the three modes;
///  - any of these in gzip, one member or several.
///
/// An object out of kubectl becomes the event that an ApiServerSource in mode Resource would have sent, of the source `/kubectl/watch`: for
/// ADDED `add`, DELETED `delete`, and `update` for MODIFIED and where no type is said. Its id is made of its kind, name, resourceVersion
/// and what happened, so the same archive always gives the same ids.
///
/// What can't be read is an Unreadable and does no harm to the rest: reading goes on with the next line, entry or message. That is so for a
/// line that was cut anywhere, bytes that are no UTF-8, what is longer or nested deeper than allowed, JSON that is no event (for a wrapper
/// around one, the reason says how to unwrap it), an event that breaks a rule, and a file that can't be opened. Nothing that is read makes
/// this open, run or ask anything.
///
/// Events of the type `services.kro.observed` (function/record/recording.hpp) are events like any other here.
class ArchiveReader {
  public:
    /// `-` is `standard_input`, a file descriptor. Files are opened when it is their turn.
    explicit ArchiveReader(std::vector<std::string> files, int standard_input = 0);
    ~ArchiveReader();
    ArchiveReader(ArchiveReader&&) noexcept;
    ArchiveReader& operator=(ArchiveReader&&) noexcept;

    /// The next one; none after the last. Never throws.
    std::optional<ArchiveEntry> next();

    /// How far it is, in bytes of the files as they lie there. `total` is 0 where that can't be known (standard input).
    struct Progress {
        std::uintmax_t done = 0;
        std::uintmax_t total = 0;
    };
    Progress progress() const;

  private:
    class Files;
    std::unique_ptr<Files> files_;
};

}  // namespace events
