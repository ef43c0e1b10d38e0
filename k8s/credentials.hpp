#pragma once

#include "k8s/error.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s {

/// What we show an API server to prove who we are; empty members are not used. A token and a user name are never both set.
struct Credentials {
    std::string token;  ///< without white space at its end, and without control characters
    std::string username;
    std::string password;
    std::string client_certificate;  ///< PEM, a chain
    std::string client_key;          ///< PEM, not encrypted

    bool operator==(Credentials const&) const = default;
};

enum class Freshness {
    Cached,  ///< as before a request: what is at hand
    Anew,    ///< after a 401: read, ask or run whatever they come from
};

/// Where a cluster's credentials come from; called before each batch, and once more after a 401. Where the answer to Anew differs
/// from what was refused, the request is repeated with it. Safe to call from several threads.
/// A caller that can read a Secret again puts a source of its own into ClusterAccess::credentials.
using CredentialSource = std::function<Result<std::shared_ptr<Credentials const>>(Freshness)>;

/// Always the same.
CredentialSource fixed_credentials(Credentials credentials);

/// A token from a file that somebody else rotates (kubelet swaps a symlink). The file, at most 64 KiB, is read before each batch,
/// so that a new token is used at once. While it is missing, empty or broken the last token stays in use; `otherwise`, the rest
/// of the credentials, may carry the first one. Unusable as long as there has never been a token.
CredentialSource token_file(std::filesystem::path file, Credentials otherwise);

/// A failure of the kind Unusable.
base::Failure<Error> unusable(std::string message);

/// A token without the white space at its end; none where a character in it could break out of a header.
std::optional<std::string> clean_token(std::string_view text);

/// The whole content of a file of at most `limit` bytes; none where it can't be read.
std::optional<std::string> read_file(std::filesystem::path const& file, std::size_t limit);

/// The value of the Authorization header, or "".
std::string authorization_of(Credentials const& credentials);

/// `text` without these credentials in it: token, password, header value and key, plain or inside base64. For what a server says.
std::string redact(std::string text, Credentials const& credentials);

/// The same in every string of a JSON value.
void redact(base::Json& value, Credentials const& credentials);

}  // namespace k8s
