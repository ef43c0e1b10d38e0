#pragma once

#include "function/replay/replay_settings.hpp"
#include "function/report/html_report.hpp"

#include <iosfwd>
#include <optional>

namespace kro {

/// Writes a replay event by event, so that its memory does not grow with their number.
///
/// Text: the head, an entry per event (timeline.hpp), a table of the tenants and the sums. JSON: one object per line, `{"head": ...}`, then
/// `{"episode": ...}` for each event, and `{"summary": ...}` at the end. HTML: html_report.hpp.
class ReplayPrinter {
  public:
    ReplayPrinter(OutputForm form, std::ostream& out, ReplayHead const& head);

    void add(Episode const& episode);
    /// Ends it. Called once.
    void finish(ReplaySummary const& summary);

  private:
    OutputForm form_;
    std::ostream& out_;
    std::optional<HtmlReport> html_;
};

}  // namespace kro
