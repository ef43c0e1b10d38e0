#pragma once

#include "events/archive.hpp"
#include "function/replay/replay_io.hpp"
#include "function/replay/replay_settings.hpp"
#include "function/replay/replay_tally.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kro {

/// The events of archives as they are to be replayed: up to where, when, in which order, and which of them how often. What can't be read
/// is named, counted and passed over.
///
/// A recorder writes an event when it has been answered. Events that were received within a short time of each other are put back into the
/// order in which they came.
class ReplayFeed {
  public:
    using Take = std::function<void(events::StoredEvent)>;

    ReplayFeed(ReplaySettings const& settings, ReplayIo const& io, ReplayTally& tally);

    /// Hands them on as they come, or as chance has it where it is left to chance.
    void run(Take const& take);
    /// Hands them on as they come.
    void stream(Take const& take);
    /// All of them as they are in the archives.
    std::vector<events::StoredEvent> read_all();
    /// Hands those on that chance leaves, in the order that it gives them. Without what recordings have beside events.
    void hand_on(std::vector<events::StoredEvent> events, Take const& take);

    /// Whether the end was reached; false where it was interrupted.
    bool is_complete() const { return complete_; }
    /// Whether `--until` names an event that did not come.
    bool has_missed_its_end() const { return !settings_.until.empty() && !ended_ && complete_; }

  private:
    /// An event, and what a recording has beside it.
    struct Unit {
        base::Time received;
        std::optional<events::StoredEvent> beside;
        events::StoredEvent event;
    };
    std::optional<events::StoredEvent> read();
    bool read_unit();
    std::optional<Unit> next();
    void keep_pace(events::StoredEvent const& stored);
    void hand_on(Unit unit, Take const& take);
    void show(std::uintmax_t done, std::uintmax_t total);

    ReplaySettings const& settings_;
    ReplayIo const& io_;
    ReplayTally& tally_;
    events::ArchiveReader reader_;
    Progress progress_;
    std::chrono::steady_clock::time_point begun_;
    std::deque<Unit> window_;  ///< what has been read ahead, in the order of receipt
    bool read_to_the_end_ = false;
    std::optional<base::Time> latest_;
    bool ended_ = false;  ///< by --until
    bool complete_ = true;
};

}  // namespace kro
