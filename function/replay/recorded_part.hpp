#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/replay/replayed_api.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kro {

/// A kind that plays a part for the function, and where its objects live.
struct Placed {
    Cluster cluster;
    k8s::Resource resource;
};

/// Which kind that is, in any of its versions and under any plural; none for one that is none of ours.
std::optional<Placed> placed(std::string_view api_version, std::string_view kind);

/// One tenant's part of what a recording has beside an event: see function/record/recording.hpp.
struct RecordedPart {
    struct Entry {
        Cluster cluster;
        bool listed = false;  ///< lists had told it before the run began: no request of the run
        RecordedExchange exchange;
    };
    std::optional<Tenant> tenant;  ///< none for the pass's own
    bool shared = false;           ///< what was done was done for another event
    std::vector<Entry> entries;    ///< in the order in which they were asked
};

/// Reads the data of a `services.kro.observed`; what makes no sense in it is left out. Resources that are none of ours point into
/// `clusters`.
std::vector<RecordedPart> read_recorded_parts(k8s::Json const& data, Clusters& clusters);

}  // namespace kro
