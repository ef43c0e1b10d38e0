#include "function/tenant/chart.hpp"

#include <algorithm>
#include <cctype>

namespace kro {
namespace {

constexpr std::string_view kScheme = "oci://";
constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::size_t kTagLimit = 128;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    auto const first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool all_of(std::string_view text, bool (*allowed)(unsigned char)) {
    return std::all_of(text.begin(), text.end(), [&](char c) { return allowed(static_cast<unsigned char>(c)); });
}

bool is_lower_hex(unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_tag_character(unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; }
bool is_repository_character(unsigned char c) {
    return (c >= 'a' && c <= 'z') || std::isdigit(c) != 0 || c == '.' || c == '_' || c == '-' || c == '/';
}
bool is_host_character(unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
}

/// `url` as it may be shown: without what stands before an '@', unless that begins a digest.
std::string without_user(std::string_view url) {
    auto const at = url.rfind('@');
    if (at == std::string_view::npos || url.substr(at + 1).starts_with(kDigestPrefix)) return std::string{url};
    auto const scheme = url.find("://");
    auto const start = scheme == std::string_view::npos || scheme > at ? 0 : scheme + 3;
    return std::string{url.substr(0, start)} + "***" + std::string{url.substr(at)};
}

std::string in_quotes(std::string_view text) { return "\"" + std::string{text} + "\""; }

}  // namespace

base::Result<std::string, std::string> normalized_chart_url(std::string_view text) {
    auto const refused = [&](std::string_view why) {
        return base::Failure{"chart URL " + in_quotes(without_user(text)) + " can't be used: " + std::string{why} +
                             "; the form is oci://<host>/<repository>"};
    };
    std::string_view rest = trimmed(text);
    if (auto const scheme_end = rest.find("://"); scheme_end != std::string_view::npos) {
        std::string scheme{rest.substr(0, scheme_end + 3)};
        std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](unsigned char c) { return std::tolower(c); });
        if (scheme != kScheme) return refused("its scheme is not oci");
        rest.remove_prefix(kScheme.size());
    }
    while (rest.ends_with('/')) rest.remove_suffix(1);
    auto const slash = rest.find('/');
    if (rest.empty() || slash == 0) return refused("it names no registry host");
    if (slash == std::string_view::npos) return refused("it names no repository");
    auto const host = rest.substr(0, slash);
    auto const repository = rest.substr(slash + 1);
    if (host.find('@') != std::string_view::npos) return refused("it carries a user; use imagePullSecret for credentials");
    if (repository.find('@') != std::string_view::npos)
        return refused("it carries a digest; the version belongs to spec.version");
    if (repository.find(':') != std::string_view::npos) return refused("it carries a tag; the version belongs to spec.version");
    if (!all_of(host, is_host_character)) return refused("its host has a character that no host name has");
    if (!all_of(repository, is_repository_character) || repository.find("//") != std::string_view::npos) {
        return refused(
            "its repository has a character that no repository has (lower-case letters, digits, '.', '_', '-' and '/')");
    }
    return std::string{kScheme} + std::string{rest};
}

base::Result<ChartRef, std::string> parse_chart_version(std::string_view version) {
    auto const refused = [&](std::string_view why) {
        return base::Failure{"chart version " + in_quotes(version) + " can't be used: " + std::string{why}};
    };
    ChartRef ref;
    std::string_view tag = version;
    auto const at = version.find('@');
    if (at != std::string_view::npos || version.starts_with(kDigestPrefix)) {
        ref.digest = at == std::string_view::npos ? version : version.substr(at + 1);
        tag = at == std::string_view::npos ? std::string_view{} : version.substr(0, at);
        auto const hex = std::string_view{ref.digest}.substr(std::min(ref.digest.size(), kDigestPrefix.size()));
        if (!ref.digest.starts_with(kDigestPrefix) || hex.size() != 64 || !all_of(hex, is_lower_hex)) {
            return refused("its digest is not sha256: and 64 hexadecimal digits in lower case");
        }
        if (at != std::string_view::npos && tag.empty()) return refused("the tag before '@' is empty");
    } else if (tag.empty()) {
        return refused("it is empty");
    }
    ref.tag = tag;
    std::replace(ref.tag.begin(), ref.tag.end(), '+', '_');
    bool const starts_well = ref.tag.empty() || (ref.tag.front() != '.' && ref.tag.front() != '-');
    if (!starts_well || ref.tag.size() > kTagLimit || !all_of(ref.tag, is_tag_character)) {
        return refused("it is not an OCI tag (letters, digits, '_', '.', '-', at most 128, not starting with '.' or '-')");
    }
    return ref;
}

}  // namespace kro
