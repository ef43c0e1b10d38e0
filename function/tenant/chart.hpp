#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace kro {

/// A chart URL as Flux takes it: `oci://host[:port]/repository`, the scheme in lower case, no slash at the end, no spaces around.
/// A missing scheme becomes `oci://`. The error is a sentence that names the URL and what is wrong with it: another scheme, no
/// repository path, a tag or digest inside, spaces.
base::Result<std::string, std::string> normalized_chart_url(std::string_view text);

/// Which chart artifact: OCIRepository `spec.ref`. One of the two at least is not empty; a digest wins over a tag.
struct ChartRef {
    std::string tag;
    std::string digest;  ///< "sha256:<64 hex digits>"
};

/// From a chart version: `0.9.1`, `0.9.1+build.5` (tag `0.9.1_build.5`, as Helm stores it), `0.9.1@sha256:...`, `sha256:...`.
/// The error is a sentence that names the version and what is wrong with it.
/// Source: OCI distribution spec, "reference" grammar: a tag is [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}.
base::Result<ChartRef, std::string> parse_chart_version(std::string_view version);

}  // namespace kro
