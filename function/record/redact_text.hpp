#pragma once

#include "function/record/placeholder.hpp"

#include <string>
#include <string_view>

namespace kro {

/// A text that people or programs wrote, with what looks like a secret in it replaced:
///  - PEM blocks of private keys, also when their end is missing;
///  - the user and the password of a URL;
///  - what stands after a name that says so, as `password=...`, `"token": "..."`, `--api-key ...`, and the headers that let somebody in;
///  - what follows `Bearer` or `Basic`, JSON Web Tokens, and tokens that are known by how they begin (`ghp_`, `glpat-`, ...).
/// Doing it again changes nothing, and a text that has none of these comes back as it is.
std::string without_secrets(std::string_view text, Placeholders const& placeholders);

/// A PEM block of this label ("EC PRIVATE KEY") that has nothing in it but the placeholder.
std::string pem_placeholder(std::string_view label, std::string_view placeholder);

}  // namespace kro
