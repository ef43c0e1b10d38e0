#include "k8s/label_selector.hpp"

#include <algorithm>
#include <cctype>

namespace k8s {

class LabelSelector::Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    base::Result<LabelSelector, std::string> parse() {
        LabelSelector selector;
        skip_spaces();
        while (!rest_.empty()) {
            selector.requirements_.push_back(TRY(requirement()));
            if (rest_.empty()) break;
            if (!take(",")) return unexpected("',' or the end");
            if (rest_.empty()) return unexpected("a label");
        }
        return selector;
    }

  private:
    base::Result<Requirement, std::string> requirement() {
        bool const absent = take("!");
        Requirement requirement{TRY(word("a label")), absent ? Operator::Absent : Operator::Exists, {}};
        if (absent || rest_.empty() || rest_.front() == ',') return requirement;
        if (take("!=")) {
            requirement.operator_ = Operator::NotIn;
            requirement.values.push_back(value());
        } else if (take("==") || take("=")) {
            requirement.operator_ = Operator::In;
            requirement.values.push_back(value());
        } else {
            std::string const name = TRY(word("an operator"));
            if (name != "in" && name != "notin") return unexpected("'in' or 'notin'");
            requirement.operator_ = name == "in" ? Operator::In : Operator::NotIn;
            if (!take("(")) return unexpected("'('");
            do requirement.values.push_back(value());
            while (take(","));
            if (!take(")")) return unexpected("')'");
        }
        return requirement;
    }

    base::Result<std::string, std::string> word(std::string const& what) {
        std::string text = value();
        if (text.empty()) return unexpected(what);
        return text;
    }

    /// Letters, digits and what else may stand in a label; may be empty.
    std::string value() {
        std::size_t end = 0;
        while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 ||
                                      std::string_view{"-_./"}.find(rest_[end]) != std::string_view::npos)) {
            ++end;
        }
        std::string text{rest_.substr(0, end)};
        rest_.remove_prefix(end);
        skip_spaces();
        return text;
    }

    bool take(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        skip_spaces();
        return true;
    }

    void skip_spaces() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    }

    base::Failure<std::string> unexpected(std::string const& wanted) const {
        std::string const found = rest_.empty() ? "the end" : "'" + std::string{rest_.substr(0, 1)} + "'";
        return base::Failure{"unable to parse requirement: found " + found + ", expected: " + wanted};
    }

    std::string_view rest_;
};

base::Result<LabelSelector, std::string> LabelSelector::parse(std::string_view text) { return Parser{text}.parse(); }

bool LabelSelector::matches(Json const& labels) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](Requirement const& requirement) {
        auto const& label = base::member(labels, requirement.label);
        auto const is_listed = [&] {
            return std::find(requirement.values.begin(), requirement.values.end(), base::text_of(label)) !=
                   requirement.values.end();
        };
        switch (requirement.operator_) {
            case Operator::Exists: return label.is_string();
            case Operator::Absent: return !label.is_string();
            case Operator::In: return label.is_string() && is_listed();
            case Operator::NotIn: return !label.is_string() || !is_listed();
        }
        std::abort();
    });
}

}  // namespace k8s
