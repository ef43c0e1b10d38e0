#pragma once

#include <string_view>

namespace kro {

/// Whether what stands under this name is a secret, as far as a name can tell: `password`, `API_KEY`, `clientSecret`, `auth`, ... Not where
/// it only says where a secret is: `secretRef`, `imagePullSecrets`, `existingSecret`, `tokenFile`, ...
bool names_secret(std::string_view name);

/// Whether the name says where something is, or what it is called, and not what it is.
bool names_reference(std::string_view name);

/// Whether it is a header of an HTTP request or answer that lets somebody in: `Authorization`, `Cookie`, `X-Auth-Token`, ...
bool is_secret_header(std::string_view name);

}  // namespace kro
