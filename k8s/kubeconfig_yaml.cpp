#include "k8s/kubeconfig_yaml.hpp"

#include "base/json.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace k8s {
namespace {

using base::Failure;
using Node = std::shared_ptr<YamlNode>;

constexpr std::size_t kDepth = 100;
constexpr std::string_view kTooManyValues = "has too many values in it";

/// Leaves yaml-cpp's parser; caught in parse_yaml.
struct TooMuch {
    std::string_view what;
};

/// Builds the tree from the parser's events.
class Builder : public YAML::EventHandler {
  public:
    explicit Builder(std::size_t limit) : limit_(limit) {}

    std::shared_ptr<YamlNode const> document() const { return document_; }

    void OnDocumentStart(YAML::Mark const&) override {}
    void OnDocumentEnd() override {}
    void OnNull(YAML::Mark const&, YAML::anchor_t anchor) override { place(made(YamlNode::Kind::Null, anchor)); }
    void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override {
        auto const found = anchors_.find(anchor);
        bool const open = found == anchors_.end() || std::find(open_.begin(), open_.end(), found->second) != open_.end();
        if (open) throw YAML::ParserException(mark, "an alias inside its own anchor");
        place(found->second);
    }
    void OnScalar(YAML::Mark const&, std::string const& tag, YAML::anchor_t anchor, std::string const& value) override {
        Node const node = made(YamlNode::Kind::Scalar, anchor);
        node->text = value;
        node->plain = tag == "?";
        node->tagged = tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str";
        place(node);
    }
    void OnSequenceStart(YAML::Mark const&, std::string const&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(made(YamlNode::Kind::List, anchor));
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(YAML::Mark const&, std::string const&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(made(YamlNode::Kind::Map, anchor));
    }
    void OnMapEnd() override { close(); }

  private:
    Node made(YamlNode::Kind kind, YAML::anchor_t anchor) {
        if (++count_ > limit_) throw TooMuch{kTooManyValues};
        auto node = std::make_shared<YamlNode>();
        node->kind = kind;
        if (anchor != 0) anchors_[anchor] = node;
        return node;
    }

    /// In a map, keys and values come in turns.
    void place(Node const& node) {
        if (open_.empty()) {
            document_ = node;
        } else if (open_.back()->kind == YamlNode::Kind::List) {
            open_.back()->items.push_back(node);
        } else if (keys_.back()) {
            open_.back()->members.emplace_back(keys_.back()->text, node);
            keys_.back() = nullptr;
        } else {
            keys_.back() = node;
        }
    }

    /// The parser calls itself after this, so this is what keeps its stack small.
    void open(Node const& node) {
        if (open_.size() >= kDepth) throw TooMuch{"is nested too deep"};
        open_.push_back(node);
        keys_.push_back(nullptr);
    }

    void close() {
        Node const node = open_.back();
        open_.pop_back();
        keys_.pop_back();
        place(node);
    }

    std::shared_ptr<YamlNode const> document_;
    std::vector<Node> open_;
    std::vector<Node> keys_;  ///< beside open_: the key that waits for its value
    std::map<YAML::anchor_t, Node> anchors_;
    std::size_t limit_;
    std::size_t count_ = 0;
};

/// yaml-cpp keeps everything between brackets as tokens until the line ends: a bound on what a single line may cost.
bool has_too_many_flow_values(std::string_view text, std::size_t limit) {
    auto const opens = [](char c) { return c == '[' || c == '{' || c == ','; };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), opens)) > limit;
}

std::string with_unix_line_ends(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\r') {
            clean += text[at];
        } else if (at + 1 == text.size() || text[at + 1] != '\n') {
            clean += '\n';
        }
    }
    return clean;
}

bool is_indented_with_a_tab(std::string_view text, int line) {
    for (; line > 0; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return text.substr(0, text.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

/// yaml-cpp ends some of its messages with a name out of the text, which might be a password that begins with `*`.
std::string message_of(YAML::Exception const& exception, std::string_view text) {
    auto const& mark = exception.mark;
    std::string const where = "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1);
    bool const tab = is_indented_with_a_tab(text, mark.line);
    return "is no YAML: " + where + ": " +
           (tab ? "indented with a tab; use spaces" : exception.msg.substr(0, exception.msg.find(": ")));
}

}  // namespace

base::Result<std::shared_ptr<YamlNode const>, std::string> parse_yaml(std::string_view text, YamlLimits const& limits) {
    if (text.size() > limits.bytes) return Failure{"is larger than " + std::to_string(limits.bytes >> 20U) + " MiB"};
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") || text.substr(0, 4).find('\0') != std::string_view::npos) {
        return Failure{std::string{"is written in UTF-16 or UTF-32; save it as UTF-8"}};
    }
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.find('\0') != std::string_view::npos || base::valid_utf8(text) != text) {
        return Failure{std::string{"has bytes in it that are not UTF-8; save it as UTF-8"}};
    }
    if (has_too_many_flow_values(text, limits.values)) return Failure{std::string{kTooManyValues}};
    std::string const clean = with_unix_line_ends(text);
    try {
        std::istringstream stream{clean};
        YAML::Parser parser{stream};
        Builder builder{limits.values};
        parser.HandleNextDocument(builder);
        if (auto document = builder.document()) return document;
        return Failure{std::string{"is empty"}};
    } catch (YAML::Exception const& exception) {
        return Failure{message_of(exception, clean)};
    } catch (TooMuch const& much) {
        return Failure{std::string{much.what}};
    }
}

}  // namespace k8s
