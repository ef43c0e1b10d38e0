#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace kro {

/// What stands in the place of secrets that must not be written down: "redacted-1f3870be274f6c49". The same secret has the same
/// placeholder wherever it stood, other ones have others, and without the key nothing leads from one to the other.
class Placeholders {
  public:
    /// `key`: at least 16 bytes that nobody can guess.
    explicit Placeholders(std::string key) : key_(std::move(key)) {}

    /// Of these bytes; a placeholder is its own. "" stays "".
    std::string of(std::string_view secret) const;

    /// Whether the text is a placeholder and nothing else.
    static bool is_one(std::string_view text);

    /// How long each of them is, in bytes.
    static constexpr std::size_t kLength = 25;

  private:
    std::string key_;
};

/// The key in a file that its owner alone may read; made anew where there is none. The error is one line that names the file.
base::Result<std::string, std::string> key_in(std::filesystem::path const& file);

}  // namespace kro
