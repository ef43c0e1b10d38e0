#include "k8s/object_name.hpp"

#include <algorithm>
#include <string_view>

namespace k8s {
namespace {

constexpr std::size_t kSubdomainLimit = 253;
constexpr std::size_t kLabelLimit = 63;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

/// RFC 1123: small letters, digits and `-`, which is not at an end.
bool is_dns_label(std::string_view text, std::size_t limit) {
    return !text.empty() && text.size() <= limit && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
    if (text.size() > kSubdomainLimit) return false;
    for (std::size_t at = 0; at <= text.size();) {
        auto const end = std::min(text.find('.', at), text.size());
        if (!is_dns_label(text.substr(at, end - at), kSubdomainLimit)) return false;
        at = end + 1;
    }
    return true;
}

/// What may stand after the `/` of a label's key, and in its value where that is not empty.
bool is_label_text(std::string_view text) {
    return !text.empty() && text.size() <= kLabelLimit && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_label_key(std::string_view key) {
    auto const slash = key.find('/');
    if (slash == std::string_view::npos) return is_label_text(key);
    return is_dns_subdomain(key.substr(0, slash)) && is_label_text(key.substr(slash + 1));
}

}  // namespace

std::vector<Violation> name_violations(Resource const& resource, Json const& object) {
    std::vector<Violation> found;
    std::string const name = name_of(object);
    bool const free_form = resource.group == "rbac.authorization.k8s.io";
    bool const is_valid = free_form ? name.find_first_of("/%") == std::string::npos
                          : resource.kind == kNamespaces.kind && resource.group.empty() ? is_dns_label(name, kLabelLimit)
                                                                                        : is_dns_subdomain(name);
    if (name.empty()) {
        found.push_back({"metadata.name", "Required value: name or generateName is required", "FieldValueRequired"});
    } else if (!is_valid) {
        found.push_back(
            {"metadata.name", "Invalid value: \"" + name + "\": a lowercase RFC 1123 subdomain must consist of lower case " +
                                  "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"});
    }
    auto const& labels = base::member(object, "metadata", "labels");
    if (!labels.is_object()) return found;
    for (auto const& [key, value] : labels.items()) {
        if (!is_label_key(key)) {
            found.push_back({"metadata.labels", "Invalid value: \"" + key +
                                                    "\": name part must consist of alphanumeric characters, '-', " +
                                                    "'_' or '.', and must start and end with an alphanumeric character"});
        }
        std::string const text = base::text_of(value);
        if (!text.empty() && !is_label_text(text)) {
            found.push_back(
                {"metadata.labels", "Invalid value: \"" + text + "\": a valid label must be an empty string or at most 63 " +
                                        "alphanumeric characters, '-', '_' or '.', and start and end with an alphanumeric one"});
        }
    }
    return found;
}

}  // namespace k8s
