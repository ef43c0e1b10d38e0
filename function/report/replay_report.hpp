#pragma once

#include "function/reconcile/outcome.hpp"
#include "k8s/object.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kro {

/// What a replay was asked for: the head of its report, whatever its form.
struct ReplayHead {
    std::string title;                  ///< "Replay of events.jsonl"
    std::vector<std::string> archives;  ///< as they were named
    std::vector<std::string> options;   ///< as they were given: "--tenant team-a/acme"
    std::vector<std::string> notes;     ///< what a reader must know to believe it, one sentence each
};

/// What all of it came to.
struct ReplaySummary {
    struct Tenant {
        std::string tenant;      ///< "team-a/acme"
        std::string phase;       ///< as its Kro's status says at the end; "" where it is gone, or says nothing
        std::string message;     ///< of its condition Ready; ...
        std::string since;       ///< ... and since when that has been True or False, RFC 3339
        std::size_t events = 0;  ///< that had a part about it
        std::size_t writes = 0;  ///< for it
    };
    /// An entry of an archive that is no event.
    struct Unreadable {
        std::string where;  ///< "events.jsonl:17"
        std::string why;
    };

    std::size_t events = 0;
    std::size_t requests = 0;
    std::size_t writes = 0;
    std::map<Outcome::Kind, std::size_t> outcomes;  ///< how many events ended how
    std::vector<Tenant> tenants;                    ///< by name
    std::size_t unreadable = 0;                     ///< all of them; ...
    std::vector<Unreadable> unreadable_entries;     ///< ... and the first ones by name
    bool complete = true;                           ///< false where it was ended before the archives were
    std::vector<std::string> notes;                 ///< what was found out on the way, one sentence each
};

/// The members as above, names in camelCase; empty ones are left out. Outcomes are named as name_of() names them.
k8s::Json to_json(ReplayHead const& head);
k8s::Json to_json(ReplaySummary const& summary);

}  // namespace kro
