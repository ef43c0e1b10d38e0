#include "function/tenant/secret_names.hpp"

#include "events/media_type.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace kro {
namespace {

constexpr std::size_t kLongestName = 256;

constexpr std::array<std::string_view, 30> kSecretWords{"pass",       "passwd", "password",    "passwords", "passphrase",
                                                        "passcode",   "pwd",    "secret",      "secrets",   "token",
                                                        "tokens",     "apikey", "apikeys",     "auth",      "authorization",
                                                        "credential", "creds",  "credentials", "bearer",    "cookie",
                                                        "cookies",    "jwt",    "otp",         "psk",       "pat",
                                                        "signature",  "sig",    "htpasswd",    "dockercfg", "dockerconfigjson"};

/// Wherever they stand, written together or apart.
constexpr std::array<std::string_view, 22> kSecretParts{
    "password",   "passwd",    "passphrase", "secret",    "token",     "credential", "apikey",        "accesskey",
    "privatekey", "certkey",   "clientkey",  "tlskey",    "sshkey",    "signingkey", "encryptionkey", "dockerconfig",
    "cakey",      "serverkey", "hostkey",    "masterkey", "sharedkey", "accountkey"};

constexpr std::array<std::string_view, 29> kReferenceEnds{
    "ref",     "refs",     "reference", "references", "name",   "names",  "namespace", "namespaces", "kind",    "type",
    "types",   "url",      "uri",       "path",       "paths",  "file",   "files",     "dir",        "class",   "provider",
    "enabled", "required", "mount",     "version",    "issuer", "policy", "mode",      "store",      "endpoint"};

constexpr std::array<std::string_view, 5> kReferenceParts{"pullsecret", "existingsecret", "secretref", "secretname", "automount"};

constexpr std::array<std::string_view, 6> kSecretHeaders{"authorization", "proxy-authorization", "cookie",
                                                         "set-cookie",    "www-authenticate",    "x-amz-security-token"};

struct Words {
    std::string together;  ///< without what parts them
    std::vector<std::string> apart;
};

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// "dbPassword", "DB_PASSWORD" and "db-password" are the words "db" and "password".
Words words_of(std::string_view name) {
    Words words;
    bool begins = true;
    for (std::size_t at = 0; at < std::min(name.size(), kLongestName); ++at) {
        char const c = name[at];
        if (!is_lower(c) && !is_upper(c)) {
            begins = true;
            continue;
        }
        bool const hump = is_upper(c) && at > 0 &&
                          (is_lower(name[at - 1]) || (is_upper(name[at - 1]) && at + 1 < name.size() && is_lower(name[at + 1])));
        if (begins || hump) words.apart.emplace_back();
        begins = false;
        char const lower = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
        words.apart.back() += lower;
        words.together += lower;
    }
    return words;
}

template <class Names>
bool has(Names const& names, std::string_view one) {
    return std::find(names.begin(), names.end(), one) != names.end();
}

template <class Parts>
bool has_any(Parts const& parts, std::string_view whole) {
    return std::any_of(parts.begin(), parts.end(), [&](auto const part) { return whole.find(part) != std::string_view::npos; });
}

bool is_reference(Words const& words) {
    return !words.apart.empty() && (has(kReferenceEnds, words.apart.back()) || has_any(kReferenceParts, words.together));
}

}  // namespace

bool names_reference(std::string_view name) { return is_reference(words_of(name)); }

bool names_secret(std::string_view name) {
    if (name.size() < 3) return false;
    Words const words = words_of(name);
    if (is_reference(words)) return false;
    return has_any(kSecretParts, words.together) ||
           std::any_of(words.apart.begin(), words.apart.end(), [](auto const& word) { return has(kSecretWords, word); });
}

bool is_secret_header(std::string_view name) {
    std::string const lower = events::lower_case(name.substr(0, kLongestName));
    return has(kSecretHeaders, lower) || (lower.starts_with("x-") && names_secret(lower));
}

}  // namespace kro
