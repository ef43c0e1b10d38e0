#pragma once

#include "function/reconcile/clusters.hpp"
#include "function/settings.hpp"

#include <iosfwd>
#include <string>

namespace kro {

/// `kro-function explain NAMESPACE/NAME`: what the function sees of a tenant at this moment, what it would do next and why, with what
/// would be different then, and what the status says and would say. Nothing is written: `clusters` take no writes. `key` keeps the
/// placeholders of secrets from being guessed.
///
/// Returns 0, or 1 where a cluster that must be asked doesn't answer.
int explain(Clusters& clusters, Settings const& settings, base::Time time, std::string const& key, std::ostream& out);

/// The same on the clusters that the settings name: get, list and discovery requests are all that is sent to them.
int explain_command(Settings const& settings);

}  // namespace kro
