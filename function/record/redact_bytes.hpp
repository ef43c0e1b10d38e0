#pragma once

#include "function/record/placeholder.hpp"

#include <string>
#include <string_view>

namespace kro {

/// What a Secret or a ConfigMap has under a key (not in base64), replaced as a whole. The same bytes always become the same, other bytes
/// others, and doing it again changes nothing. What they were for is kept, so that who reads them decides as before:
///  - of JSON with the registries of pull secrets, the registries' names stay;
///  - a kubeconfig stays one, see redact_kubeconfig.hpp;
///  - PEM blocks stay PEM blocks of the same label;
///  - another JSON object stays a JSON object;
///  - base64 stays base64 where something of the above is in it.
/// Everything else becomes a placeholder; nothing stays nothing.
std::string redacted_bytes(std::string_view bytes, Placeholders const& placeholders);

/// The same, in base64; what is no base64 becomes what is none.
std::string redacted_base64(std::string_view text, Placeholders const& placeholders);

}  // namespace kro
