#pragma once

#include "function/record/placeholder.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kro {

/// The member that redacted JSON has beside what was kept of it: a placeholder of the whole.
inline constexpr std::string_view kRedactedMark = "redacted";

/// A kubeconfig without its secrets, as JSON, which is YAML; none where the text is no kubeconfig, nor half of one. Servers and the names of
/// clusters, contexts, users and namespaces stay; tokens, passwords, user names, keys, certificates, files, programs and whatever is not
/// known are replaced by placeholders of the same kind (PEM by PEM, empty by empty), so that k8s::read_kubeconfig accepts it if, and only
/// if, it accepted the original.
std::optional<std::string> redacted_kubeconfig(std::string_view text, Placeholders const& placeholders);

}  // namespace kro
