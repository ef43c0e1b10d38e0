#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s {

using base::Json;

/// A parsed label selector: `app=web,tier!=db,env in (a, b),!legacy`.
/// Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors; apimachinery,
/// labels/selector.go.
class LabelSelector {
  public:
    /// The error is one short sentence.
    static base::Result<LabelSelector, std::string> parse(std::string_view text);

    bool empty() const { return requirements_.empty(); }
    /// `labels` is `metadata.labels`, or null. `!=` and `notin` are also true where the label is absent.
    bool matches(Json const& labels) const;

  private:
    enum class Operator { Exists, Absent, In, NotIn };
    struct Requirement {
        std::string label;
        Operator operator_ = Operator::Exists;
        std::vector<std::string> values;
    };
    class Parser;
    std::vector<Requirement> requirements_;
};

}  // namespace k8s
