#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace events {

/// The name of an archive's file that ended at this time: "events-20261130T120000.000Z.jsonl" beside "events.jsonl".
std::filesystem::path full_name(std::filesystem::path const& file, base::Time end);

/// The time in such a name; none in any other.
std::optional<base::Time> end_of(std::filesystem::path const& full, std::filesystem::path const& file);

/// The full files of an archive, compressed or not, oldest first.
std::vector<std::filesystem::path> full_files(std::filesystem::path const& file);

/// Puts the file into gzip, under the same name with `.gz`, which is there when it is whole and not before. The error is one line. Gives
/// up where `stopping` becomes true; the file is then as it was.
base::Result<void, std::string> compress(std::filesystem::path const& file, std::atomic<bool> const& stopping);

}  // namespace events
