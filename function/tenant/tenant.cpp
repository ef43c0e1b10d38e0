#include "function/tenant/tenant.hpp"

#include "function/tenant/shake128.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace kro {
namespace {

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

}  // namespace

std::string to_string(Tenant const& tenant) { return tenant.namespace_ + "/" + tenant.name; }

std::optional<Tenant> parse_tenant(std::string_view text) {
    auto const slash = text.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return std::nullopt;
    if (text.find('/', slash + 1) != std::string_view::npos) return std::nullopt;
    return Tenant{std::string{text.substr(0, slash)}, std::string{text.substr(slash + 1)}};
}

std::string hash8(std::string_view text) {
    constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
    auto const digest = shake128(text);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) bits = bits << 8U | digest[i];
    std::string hash(8, ' ');
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = kAlphabet[(bits >> (35U - 5U * i)) & 0x1FU];
    return hash;
}

std::string shorten(std::string_view text, std::size_t limit) {
    constexpr std::size_t kHashAndDashes = 10;
    if (limit <= kHashAndDashes) std::abort();
    if (text.size() <= limit) return std::string{text};
    auto kept = text.substr(0, limit - kHashAndDashes);
    auto const last = kept.find_last_not_of("-.");
    kept = kept.substr(0, last == std::string_view::npos ? 0 : last + 1);
    return std::string{kept} + "--" + hash8(text);
}

std::string stable_uuid(std::string_view text) {
    auto id = shake128(text);
    id[6] = static_cast<unsigned char>((id[6] & 0x0fU) | 0x80U);
    id[8] = static_cast<unsigned char>((id[8] & 0x3fU) | 0x80U);
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string uuid;
    uuid.reserve(36);
    for (std::size_t i = 0; i < id.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
        uuid += {kHex[id[i] >> 4U], kHex[id[i] & 0xfU]};
    }
    return uuid;
}

std::string tenant_namespace(Tenant const& tenant) {
    // A plan asks for the same one over and over.
    thread_local std::pair<Tenant, std::string> last;
    if (last.second.empty() || last.first != tenant) last = {tenant, "mcp--" + stable_uuid(to_string(tenant))};
    return last.second;
}

std::string request_name(Tenant const& tenant, std::string_view suffix) {
    std::string const name = lower_case(std::string{kGroup} + "--" + tenant.name);
    return shorten(name, kNameLimit - suffix.size() - 2) + "--" + std::string{suffix};
}

k8s::Json tenant_labels(Tenant const& tenant) {
    return base::object(kManagedByLabel, kGroup, kOnboardingNameLabel, shorten(tenant.name, kNameLimit),
                        kOnboardingNamespaceLabel, shorten(tenant.namespace_, kNameLimit));
}

k8s::Json tenant_annotations(Tenant const& tenant) { return base::object(kTenantAnnotation, to_string(tenant)); }

std::optional<Tenant> tenant_of(k8s::Json const& object) {
    if (auto const tenant = parse_tenant(k8s::annotation_of(object, kTenantAnnotation))) return tenant;
    if (k8s::label_of(object, kManagedByLabel) != kGroup) return std::nullopt;
    Tenant const labelled{k8s::label_of(object, kOnboardingNamespaceLabel), k8s::label_of(object, kOnboardingNameLabel)};
    if (labelled.name.empty() || labelled.namespace_.empty()) return std::nullopt;
    if (tenant_namespace(labelled) != k8s::namespace_of(object)) return std::nullopt;
    return labelled;
}

}  // namespace kro
