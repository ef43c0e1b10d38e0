#pragma once

#include "base/clock.hpp"
#include "function/tenant/tenant.hpp"
#include "k8s/api.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kro {

/// Which API server: see the table of clusters in the README.
enum class Cluster { Onboarding, Platform, ControlPlane };

/// "onboarding cluster", "platform cluster", "control plane": for messages.
std::string_view name_of(Cluster cluster);

/// One thing that can be looked at: an object, or, where the key has no name, the list of our labelled objects of that type in a namespace.
struct Target {
    Cluster cluster;
    k8s::Resource resource;
    k8s::ObjectKey key;

    bool operator==(Target const&) const = default;
};
bool operator<(Target const& left, Target const& right);

/// What was found there.
struct Seen {
    enum class State { Absent, Present, Failed };
    State state = State::Absent;
    k8s::Json object;                 ///< Present: the object, or a list with `items`
    std::optional<k8s::Error> error;  ///< Failed: why it could not be asked
    bool listed = false;              ///< as a page of a list had it, a while ago
    bool applied = false;             ///< the object is what the API server made of our apply, in this run
    bool created = false;             ///< it was not there before this run applied it

    bool absent() const { return state == State::Absent; }
    bool present() const { return state == State::Present; }
    bool failed() const { return state == State::Failed; }
};

/// A write that failed, in this run.
struct FailedStep {
    Cluster cluster;
    k8s::Error error;
};

/// Everything that is known about one tenant: what was read, and what our writes of this run returned. A target that is not in the
/// map has not been looked at.
struct Observed {
    Tenant tenant;
    k8s::Resource kros;         ///< with the plural that is installed
    bool expects_flux = false;  ///< a hint that saves a round: the event was about a Flux object, so look at those at once
    std::map<Target, Seen> seen;
    std::optional<FailedStep> failed_step;
    bool orphaned =
        false;  ///< found without a Kro: where that proves true, what is left is cleaned up as if it were being deleted
};

}  // namespace kro
