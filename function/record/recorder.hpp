#pragma once

#include "events/archive_writer.hpp"
#include "function/handle/handle.hpp"
#include "function/handle/metrics.hpp"
#include "function/record/record_settings.hpp"

#include <spdlog/logger.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace kro {

/// Writes the events that were answered into an archive (recording.hpp has its form), without their secrets (redact.hpp). The key of the
/// placeholders is in the file `<archive>.key`; who has both can find out by trying whether a secret is a certain word.
///
/// Nobody waits for it: what is told is copied into a queue, and one thread does the rest. Where the queue is full, or the archive can't be
/// written, events are left out, which is counted (Metrics) and logged once each time it begins and ends; another try is made a second later.
/// Whatever was written survives a crash of this process. It is on the disk a second later, and at the latest when the recorder ends,
/// so a crash of the machine may cost the events of the last second.
class Recorder {
  public:
    struct Options {
        events::ArchiveWriter::Options archive;
        std::size_t queue_bytes = std::size_t{16} << 20U;  ///< of events and observed objects that wait to be written, as JSON
        std::chrono::milliseconds between_tries = std::chrono::seconds{1};  ///< to write what can't be written
    };

    Recorder(Options options, base::Clock clock, Metrics& metrics, std::shared_ptr<spdlog::logger> logger);
    /// Writes what waits.
    ~Recorder();
    Recorder(Recorder const&) = delete;
    Recorder& operator=(Recorder const&) = delete;

    /// Whether the archive can be written now. The error is one line that names the file.
    base::Result<void, std::string> try_to_open();

    /// An event that this function answered. Takes a copy; from any thread. The clusters that it is about outlive the recorder.
    void record(Handled const& handled);

    /// An event that somebody else is to answer.
    void record(events::CloudEvent event, base::Time received);

  private:
    /// What waits to be written.
    struct Entry {
        std::unique_ptr<events::CloudEvent> event;
        std::unique_ptr<Handled> handled;  ///< refers to `event`; none where this function did not answer it
        base::Time received;
    };

    void push(Entry entry);
    void run();
    void write(Entry const& entry);
    base::Result<void, std::string> try_to_write(Entry const& entry);
    void lost(std::string const& reason, std::string const& why);
    void found(std::string const& reason);
    void log(spdlog::level::level_enum level, std::string_view message, base::Json fields);

    Options options_;
    base::Clock clock_;
    Metrics& metrics_;
    std::shared_ptr<spdlog::logger> logger_;
    std::mutex writer_mutex_;  ///< for writer_ and redactor_
    events::ArchiveWriter writer_;
    std::unique_ptr<class Redactor> redactor_;  ///< none before the key has been read
    std::chrono::steady_clock::time_point next_try_;

    std::mutex mutex_;  ///< for what stands below
    std::condition_variable changed_;
    std::deque<std::pair<Entry, std::size_t>> queue_;  ///< with how large they are
    std::size_t queued_bytes_ = 0;
    bool ending_ = false;
    struct Loss {
        std::string reason;
        std::size_t count = 0;
    };
    std::deque<Loss> losses_;  ///< that go on
    std::thread thread_;
};

Recorder::Options recorder_options(RecordSettings const& settings);

}  // namespace kro
