#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace kro {

/// Who reads what a command prints.
enum class Audience {
    Person,   ///< at a terminal: a bar that moves while it works
    Program,  ///< or a file: plain lines
};

/// How far a command is that takes a while.
class Progress {
  public:
    Progress(std::ostream& err, Audience audience) : err_(err), audience_(audience) {}

    /// Whether it shows: for a program at the beginning and with every tenth of the work, for a person with every step of the bar.
    bool is_due(std::uintmax_t done, std::uintmax_t total) const;

    /// Shows it: `short_text` beside the bar, or `line`.
    void show(std::uintmax_t done, std::uintmax_t total, std::string const& short_text, std::string const& line);

  private:
    std::uintmax_t step(std::uintmax_t done, std::uintmax_t total) const;

    std::ostream& err_;
    Audience audience_;
    std::optional<std::uintmax_t> shown_;
};

}  // namespace kro
