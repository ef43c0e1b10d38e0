#include "function/tenant/pull_secret.hpp"

#include "base/base64.hpp"

namespace kro {
namespace {

using base::member;
using base::text_of;

constexpr std::string_view kDockerConfigJson = "kubernetes.io/dockerconfigjson";
constexpr std::string_view kDockerCfg = "kubernetes.io/dockercfg";

}  // namespace

std::optional<std::string> pull_secret_fault(k8s::Json const& secret, PullSecretTypes taken) {
    std::string const type = text_of(member(secret, "type"));
    bool const config_json = type == kDockerConfigJson;
    bool const config = taken == PullSecretTypes::DockerConfigJsonOrDockerCfg && type == kDockerCfg;
    std::string const name = "pull secret " + k8s::to_string(k8s::key_of(secret));
    std::string const expected = taken == PullSecretTypes::DockerConfigJson
                                     ? std::string{kDockerConfigJson}
                                     : std::string{kDockerConfigJson} + " or " + std::string{kDockerCfg};
    if (!config_json && !config) return name + " has the type " + (type.empty() ? "Opaque" : type) + "; expected " + expected;
    std::string const key = config_json ? ".dockerconfigjson" : ".dockercfg";
    auto const text = base::decode_base64(text_of(member(secret, "data", key)));
    if (!text || text->empty()) return name + " has no data under " + key + " (type " + type + ")";
    auto const json = base::parse_json(*text);
    if (!json || !json->is_object()) return name + ": what is under " + key + " is not a JSON object (type " + type + ")";
    return std::nullopt;
}

}  // namespace kro
