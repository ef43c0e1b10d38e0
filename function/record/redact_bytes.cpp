#include "function/record/redact_bytes.hpp"

#include "base/base64.hpp"
#include "base/json.hpp"
#include "function/record/redact_kubeconfig.hpp"
#include "function/record/redact_text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace kro {
namespace {

using base::Json;
using base::member;
using base::text_of;

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::size_t kLabelLimit = 64;

/// What marks JSON of ours, so that two texts that differ in what is not kept still differ.
std::string mark_of(Json const& json, std::string_view bytes, Placeholders const& placeholders) {
    std::string mark = text_of(member(json, kRedactedMark));
    return Placeholders::is_one(mark) ? mark : placeholders.of(bytes);
}

/// The value `user:password`, in base64, as a registry's `auth` is.
std::string redacted_auth(std::string const& auth, Placeholders const& placeholders) {
    auto const decoded = base::decode_base64(auth);
    if (decoded && decoded->size() == 2 * Placeholders::kLength + 1 && (*decoded)[Placeholders::kLength] == ':' &&
        Placeholders::is_one(decoded->substr(0, Placeholders::kLength))) {
        return auth;
    }
    std::string const placeholder = placeholders.of(decoded.value_or(auth));
    return auth.empty() ? auth : base::encode_base64(placeholder + ":" + placeholder);
}

/// Every text and every number in it.
void redact_all(Json& json, Placeholders const& placeholders) {
    if (json.is_structured()) {
        for (auto& inner : json) redact_all(inner, placeholders);
    } else if (json.is_string()) {
        json = placeholders.of(json.get_ref<std::string const&>());
    } else if (json.is_number() || json.is_binary()) {
        json = placeholders.of(base::dump_json(json));
    }
}

void redact_registry(Json& registry, Placeholders const& placeholders) {
    for (auto const& [name, value] : registry.items()) {
        if (name == "auth" && value.is_string()) {
            value = redacted_auth(value.get<std::string>(), placeholders);
        } else {
            redact_all(value, placeholders);
        }
    }
}

/// The registries by name; anything else about them is replaced.
Json redacted_registries(Json const& registries, Placeholders const& placeholders) {
    Json redacted = Json::object();
    for (auto const& [name, registry] : registries.items()) {
        Json& one = redacted[without_secrets(name, placeholders)] = registry;
        if (one.is_object()) {
            redact_registry(one, placeholders);
        } else {
            redact_all(one, placeholders);
        }
    }
    return redacted;
}

bool is_registry(Json const& json) {
    return json.is_object() && (json.contains("auth") || json.contains("username") || json.contains("password"));
}

/// Source: the types kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg,
/// https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets
std::string redacted_json(Json const& json, std::string_view bytes, Placeholders const& placeholders) {
    if (json.empty()) return std::string{bytes};
    Json redacted = Json::object();
    if (member(json, "auths").is_object()) {
        redacted["auths"] = redacted_registries(json["auths"], placeholders);
    } else if (std::any_of(json.begin(), json.end(), is_registry)) {
        Json registries = json;
        registries.erase(std::string{kRedactedMark});
        redacted = redacted_registries(registries, placeholders);
    }
    redacted[std::string{kRedactedMark}] = mark_of(json, bytes, placeholders);
    return base::dump_json(redacted);
}

/// The labels of the PEM blocks, each once where several of them follow each other.
std::vector<std::string> pem_labels(std::string_view bytes) {
    std::vector<std::string> labels;
    for (std::size_t at = bytes.find(kBegin); at != std::string_view::npos; at = bytes.find(kBegin, at)) {
        at += kBegin.size();
        auto const label = bytes.substr(at, bytes.find("-----", at) - at);
        bool const known = !label.empty() && label.size() <= kLabelLimit &&
                           label.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") == std::string_view::npos;
        if (known && (labels.empty() || labels.back() != label)) labels.emplace_back(label);
    }
    return labels;
}

std::string pem_blocks(std::vector<std::string> const& labels, std::string_view placeholder, bool encrypted) {
    std::string text;
    // RFC 1421 section 4.6.1.1: what older tools write into a key that has a passphrase.
    if (encrypted) text += "Proc-Type: 4,ENCRYPTED\n";
    for (auto const& label : labels) text += pem_placeholder(label, placeholder) + "\n";
    return text;
}

std::string redacted_pem(std::string_view bytes, std::vector<std::string> const& labels, Placeholders const& placeholders) {
    bool const encrypted = bytes.find("ENCRYPTED") != std::string_view::npos;
    std::size_t const body = bytes.find('\n', bytes.find(kBegin)) + 1;
    auto const own = base::decode_base64(bytes.substr(body, bytes.find('\n', body) - body));
    if (own && Placeholders::is_one(*own) && pem_blocks(labels, *own, encrypted) == bytes) return std::string{bytes};
    return pem_blocks(labels, placeholders.of(bytes), encrypted);
}

}  // namespace

std::string redacted_bytes(std::string_view bytes, Placeholders const& placeholders) {
    if (bytes.empty() || Placeholders::is_one(bytes)) return std::string{bytes};
    if (auto kubeconfig = redacted_kubeconfig(bytes, placeholders)) return *std::move(kubeconfig);
    auto const first = bytes.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && bytes[first] == '{') {
        auto const json = base::parse_json(bytes);
        if (json && json->is_object()) return redacted_json(*json, bytes, placeholders);
    }
    if (auto const labels = pem_labels(bytes); !labels.empty()) return redacted_pem(bytes, labels, placeholders);
    auto const again = bytes.size() % 4 == 0 && bytes.size() > 2 * kBegin.size()
                           ? base::decode_base64(bytes, base::WhiteSpace::Refused)
                           : std::nullopt;
    if (again && !pem_labels(*again).empty()) return base::encode_base64(redacted_bytes(*again, placeholders));
    return placeholders.of(bytes);
}

std::string redacted_base64(std::string_view text, Placeholders const& placeholders) {
    auto const bytes = base::decode_base64(text);
    return bytes ? base::encode_base64(redacted_bytes(*bytes, placeholders)) : placeholders.of(text);
}

}  // namespace kro
