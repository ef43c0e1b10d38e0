#pragma once

#include "function/report/episode.hpp"
#include "function/report/replay_report.hpp"

#include <ostream>
#include <string>

namespace kro {

/// A replay as one HTML page for a browser: a table of tenants, the timeline of each, and every event with its looks, writes and
/// differences. The page is self-contained and may not fetch anything: its policy allows just the script and the style that it was built
/// with. What comes out of an archive stands in it as JSON only, never as markup.
///
/// Written while the replay runs, so that its memory does not grow with the number of events. The stream's own state says whether
/// writing went well.
class HtmlReport {
  public:
    HtmlReport(std::ostream& out, ReplayHead const& head);

    /// The next event, in the order in which they were handled.
    void add(Episode const& episode);

    /// Ends the page; without it a browser shows nothing. Called once, after the last event.
    void finish(ReplaySummary const& summary);

  private:
    void flush();

    std::ostream& out_;
    std::string rows_;      ///< JSON of the events since the last block, as the page's lists need them ...
    std::string episodes_;  ///< ... and all of what is known of each
};

/// JSON for an HTML `<script>` element: no character that could end it, begin markup or a comment, or end a line of JavaScript.
/// Source: HTML Standard, "Restrictions for contents of script elements".
std::string script_json(k8s::Json const& value);

}  // namespace kro
