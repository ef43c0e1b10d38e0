#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/replay/replay_io.hpp"
#include "function/settings.hpp"

#include <functional>

namespace kro {

/// `kro-function replay ARCHIVE...`: hands the events of archives to the event handler, one after the other, and tells step by step what each
/// leads to. An entry that can't be read is named on `err`, counted, and passed over.
///
/// Offline, by default: the clusters are in memory (replay_world.hpp), each event has its own time, and the output is the same to the byte
/// each time. With `--shuffle` or `--drop` the events are only hints: from the first one on the world has the last state of every object
/// that the archive has, so how things end must not depend on which of them come, and in which order. `--drop` ends with a tick.
///
/// Returns 0 when all could be read and no event ended in Retry or Rejected, 1 otherwise, and kInterrupted where it was interrupted: what
/// was done so far is told all the same. All events are in memory with `--shuffle` and `--drop`, and otherwise one.
int replay_offline(Settings const& settings, ReplayIo const& io);

/// The same with `--cluster`. `clusters` take no writes; `next` is called before each event.
int replay_on(Clusters& clusters, std::function<void()> const& next, Settings const& settings, base::Clock const& clock,
              ReplayIo const& io);

/// The same with `--to`: posts the events to a function and tells its answers.
int replay_to(Settings const& settings, ReplayIo const& io);

/// Any of them as the settings say, with the process's own streams and signals.
int replay_command(Settings const& settings);

}  // namespace kro
