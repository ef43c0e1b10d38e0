#include "function/record/redact_kubeconfig.hpp"

#include "base/base64.hpp"
#include "base/json.hpp"
#include "function/record/redact_bytes.hpp"
#include "function/record/redact_text.hpp"
#include "k8s/credentials.hpp"
#include "k8s/kubeconfig_yaml.hpp"

#include <algorithm>
#include <array>

namespace kro {
namespace {

using k8s::YamlNode;
using Kind = YamlNode::Kind;

/// More than k8s::parse_yaml reads. Aliases share what they stand for, and written out they may grow without end.
constexpr std::size_t kValues = 20'000;

/// Names of members that say nothing but themselves.
constexpr std::array<std::string_view, 43> kKnown{"apiVersion",
                                                  "kind",
                                                  "preferences",
                                                  "clusters",
                                                  "cluster",
                                                  "name",
                                                  "contexts",
                                                  "context",
                                                  "users",
                                                  "user",
                                                  "namespace",
                                                  "current-context",
                                                  "extensions",
                                                  "extension",
                                                  "server",
                                                  "certificate-authority",
                                                  "certificate-authority-data",
                                                  "insecure-skip-tls-verify",
                                                  "tls-server-name",
                                                  "proxy-url",
                                                  "disable-compression",
                                                  "client-certificate",
                                                  "client-certificate-data",
                                                  "client-key",
                                                  "client-key-data",
                                                  "token",
                                                  "tokenFile",
                                                  "username",
                                                  "password",
                                                  "exec",
                                                  "auth-provider",
                                                  "as",
                                                  "as-uid",
                                                  "as-groups",
                                                  "as-user-extra",
                                                  "command",
                                                  "args",
                                                  "env",
                                                  "value",
                                                  "interactiveMode",
                                                  "provideClusterInfo",
                                                  "redacted",
                                                  "<<"};

/// Those whose values are no secrets, apart from what looks like one in any text.
constexpr std::array<std::string_view, 14> kOpen{"apiVersion",
                                                 "kind",
                                                 "name",
                                                 "cluster",
                                                 "user",
                                                 "namespace",
                                                 "current-context",
                                                 "server",
                                                 "insecure-skip-tls-verify",
                                                 "tls-server-name",
                                                 "proxy-url",
                                                 "interactiveMode",
                                                 "provideClusterInfo",
                                                 "redacted"};

template <class Names>
bool has(Names const& names, std::string_view one) {
    return std::find(names.begin(), names.end(), one) != names.end();
}

class Writer {
  public:
    explicit Writer(Placeholders const& placeholders) : placeholders_(placeholders) {}

    /// The whole text; none where it would grow too large.
    std::optional<std::string> document(YamlNode const& root, std::string_view original) {
        std::string const mark = mark_of(root).value_or(placeholders_.of(original));
        out_ = "{" + base::dump_json(kRedactedMark) + ":" + base::dump_json(mark);
        for (auto const& [name, value] : root.members) {
            if (name != kRedactedMark) member(name, *value, true);
        }
        out_ += "}\n";
        return values_ > kValues ? std::nullopt : std::optional{std::move(out_)};
    }

  private:
    static std::optional<std::string> mark_of(YamlNode const& root) {
        for (auto const& [name, value] : root.members) {
            if (name == kRedactedMark && Placeholders::is_one(value->text)) return value->text;
        }
        return std::nullopt;
    }

    void member(std::string const& name, YamlNode const& value, bool more) {
        if (more) out_ += ",";
        out_ += base::dump_json(has(kKnown, name) ? name : placeholders_.of(name)) + ":";
        write(value, name);
    }

    void write(YamlNode const& node, std::string_view name) {
        if (++values_ > kValues) return;
        switch (node.kind) {
            case Kind::Null: out_ += "null"; return;
            case Kind::Scalar: scalar(node, name); return;
            case Kind::List:
                out_ += "[";
                for (std::size_t i = 0; i < node.items.size(); ++i) {
                    if (i > 0) out_ += ",";
                    write(*node.items[i], name);
                }
                out_ += "]";
                return;
            case Kind::Map:
                out_ += "{";
                for (std::size_t i = 0; i < node.members.size(); ++i)
                    member(node.members[i].first, *node.members[i].second, i > 0);
                out_ += "}";
                return;
        }
    }

    void scalar(YamlNode const& node, std::string_view name) {
        std::string const text = has(kOpen, name) ? without_secrets(node.text, placeholders_) : replaced(node.text, name);
        // A tag and bare words have a meaning of their own, which must not be lost.
        if (node.tagged) out_ += "!redacted ";
        bool const word = !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        });
        out_ += node.plain && word ? text : base::dump_json(text);
    }

    std::string replaced(std::string const& text, std::string_view name) const {
        if (name.ends_with("-data")) return redacted_base64(text, placeholders_);
        if (name != "token" && name != "username") return placeholders_.of(text);
        if (name == "username") return placeholder_with(text, text.find(':') != std::string::npos ? ":" : "");
        auto const clean = k8s::clean_token(text);
        if (clean && clean->empty()) return *clean;
        return placeholder_with(text, clean ? "" : "\x01");
    }

    /// With the character at its end for which the original is refused.
    std::string placeholder_with(std::string_view text, std::string_view end) const {
        bool const own = !end.empty() && text.ends_with(end) && Placeholders::is_one(text.substr(0, text.size() - end.size()));
        return own ? std::string{text} : placeholders_.of(text) + std::string{end};
    }

    Placeholders const& placeholders_;
    std::string out_;
    std::size_t values_ = 0;
};

bool looks_like_one(std::string_view text) {
    return text.find("clusters") != std::string_view::npos || text.find("current-context") != std::string_view::npos ||
           (text.find("users") != std::string_view::npos && text.find("contexts") != std::string_view::npos);
}

}  // namespace

std::optional<std::string> redacted_kubeconfig(std::string_view text, Placeholders const& placeholders) {
    if (!looks_like_one(text)) return std::nullopt;
    auto const document = k8s::parse_yaml(text);
    if (!document || (*document)->kind != Kind::Map) return std::nullopt;
    bool const known = std::any_of((*document)->members.begin(), (*document)->members.end(), [](auto const& one) {
        return one.first == "clusters" || one.first == "users" || one.first == "contexts" || one.first == "current-context";
    });
    if (!known) return std::nullopt;
    return Writer{placeholders}.document(**document, text);
}

}  // namespace kro
