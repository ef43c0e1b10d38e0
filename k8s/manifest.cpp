#include "k8s/manifest.hpp"

#include "k8s/kubeconfig_yaml.hpp"

#include <algorithm>

namespace k8s {
namespace {

using base::Failure;
using base::member;
using base::text_of;
using Kind = YamlNode::Kind;

/// The dump of a large installation in one document; a larger one is faster as JSON.
constexpr YamlLimits kLimits{.bytes = std::size_t{64} << 20U, .values = 2'000'000};

/// An alias may stand for a lot: so many values in all.
class Converter {
  public:
    base::Result<Json, std::string> convert(YamlNode const& node) {
        if (++count_ > kLimits.values) return Failure{std::string{"has too many values in it"}};
        if (node.tagged) return Failure{std::string{"has a tag (like !!binary) in it, which is not read"}};
        switch (node.kind) {
            case Kind::Null: return Json{};
            case Kind::Scalar: return scalar(node);
            case Kind::List: return list(node);
            case Kind::Map: return map(node);
        }
        std::abort();
    }

  private:
    static Json scalar(YamlNode const& node) {
        if (!node.plain) return node.text;
        if (node.text == "true" || node.text == "false") return node.text == "true";
        bool const may_be_number = node.text.find_first_not_of("0123456789+-.eE") == std::string::npos;
        if (auto number = may_be_number ? base::parse_json(node.text) : Failure{std::string{}}) return *std::move(number);
        return node.text;
    }

    base::Result<Json, std::string> list(YamlNode const& node) {
        Json array = Json::array();
        for (auto const& item : node.items) array.push_back(TRY(convert(*item)));
        return array;
    }

    base::Result<Json, std::string> map(YamlNode const& node) {
        Json object = Json::object();
        for (auto const& [name, value] : node.members) {
            if (object.contains(name)) return Failure{std::string{"has a key in it twice"}};
            object[name] = TRY(convert(*value));
        }
        return object;
    }

    std::size_t count_ = 0;
};

/// A part of a text, and the line on which it begins.
struct Document {
    std::size_t line = 1;
    std::string_view text;
};

/// Source: YAML 1.2, section 9.1: a marker stands at the beginning of a line, where no scalar can.
std::vector<Document> documents_of(std::string_view text) {
    std::vector<Document> documents{{1, text.substr(0, 0)}};
    std::size_t begin = 0;
    std::size_t number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
        std::size_t const end = std::min(text.find('\n', at), text.size() - 1) + 1;
        std::string_view const line = text.substr(at, end - at);
        bool const marker =
            line.starts_with("---") && (line.size() == 3 || std::string_view{" \t\r\n"}.find(line[3]) != std::string_view::npos);
        if (marker) {
            begin = at;
            documents.push_back({number, {}});
        }
        documents.back().text = text.substr(begin, end - begin);
        at = end;
    }
    return documents;
}

bool is_blank(std::string_view document) {
    while (!document.empty()) {
        std::size_t const end = std::min(document.find('\n'), document.size());
        std::string_view const line = document.substr(0, end);
        auto const first = line.find_first_not_of(" \t\r");
        bool const says_nothing =
            first == std::string_view::npos || line[first] == '#' || line.starts_with("---") || line.starts_with("...");
        bool const only_marker = !line.starts_with("---") || line.find_first_not_of("- \t\r") == std::string_view::npos;
        if (!says_nothing || !only_marker) return false;
        document.remove_prefix(std::min(end + 1, document.size()));
    }
    return true;
}

base::Result<Json, std::string> read_yaml(Document const& document) {
    auto const node = parse_yaml(document.text, kLimits);
    if (node) return Converter{}.convert(**node);
    // Once more for the line in the whole text.
    return Failure{parse_yaml(std::string(document.line - 1, '\n').append(document.text), kLimits).error()};
}

/// An object, or the items of a list. What is neither is an error.
void add(std::vector<Manifest>& manifests, std::size_t line, Json value) {
    std::string const kind = text_of(member(value, "kind"));
    auto const items = value.is_object() ? value.find("items") : value.end();
    if (items != value.end() && items->is_array() && kind.ends_with("List")) {
        std::string const of = kind.substr(0, kind.size() - std::string_view{"List"}.size());
        for (auto& item : *items) {
            if (item.is_object() && !of.empty() && !item.contains("kind")) {
                item["kind"] = of;
                item["apiVersion"] = member(value, "apiVersion");
            }
            add(manifests, line, std::move(item));
        }
        return;
    }
    bool const object =
        !kind.empty() && !text_of(member(value, "apiVersion")).empty() && !text_of(member(value, "metadata", "name")).empty();
    if (object) {
        manifests.push_back({line, std::move(value)});
    } else {
        manifests.push_back(
            {line, Failure{std::string{"is no Kubernetes object: apiVersion, kind or metadata.name is missing"}}});
    }
}

}  // namespace

std::vector<Manifest> read_manifests(std::string_view text) {
    std::vector<Manifest> manifests;
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
        if (auto json = base::parse_json(text)) {
            add(manifests, 1, *std::move(json));
            return manifests;
        }
    }
    for (auto const& document : documents_of(text)) {
        if (is_blank(document.text)) continue;
        if (auto json = read_yaml(document)) {
            add(manifests, document.line, *std::move(json));
        } else {
            manifests.push_back({document.line, Failure{json.error()}});
        }
    }
    return manifests;
}

}  // namespace k8s
