// Label and field selectors: parsing of the query-string grammar and of the object form
// (matchLabels, matchExpressions), and matching. Immutable once parsed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/object/json_fwd.h"
#include "storage/object/result.h"

namespace mailroom {

// Labels as Metadata holds them: sorted by key.
using LabelViews = std::vector<std::pair<std::string_view, std::string_view>>;

class LabelSelector {
 public:
  // Matches everything.
  LabelSelector() = default;
  // `a=b,c!=d,e in (f,g),!h,i>3`; BadRequest texts are kube-apiserver's.
  static Result<LabelSelector> Parse(std::string_view text);
  // {matchLabels, matchExpressions}; {} matches everything. A null selector is the caller's
  // business (it selects nothing).
  static Result<LabelSelector> FromJson(const Json& selector);

  bool Matches(const LabelViews& labels) const;
  // Against the members of a JSON object of strings (metadata.labels); null means no labels.
  bool MatchesJson(const Json& labels) const;
  bool empty() const { return requirements_.empty(); }
  // Keys and values that labels are compared with, all together.
  std::size_t terms() const;
  std::string ToString() const;

 private:
  enum class Operator { kExists, kNotExists, kIn, kNotIn, kGreater, kLess };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;
  };
  friend struct LabelSelectorParser;
  static bool Test(const Requirement& requirement, const std::string_view* value);
  std::vector<Requirement> requirements_;
};

class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;
  };
  FieldSelector() = default;
  // `metadata.name=x,status.phase!=Running` with backslash escapes.
  static Result<FieldSelector> Parse(std::string_view text);

  const std::vector<Term>& terms() const { return terms_; }
  bool empty() const { return terms_.empty(); }
  // The value demanded of `field` by an equality term, or nullptr.
  const std::string* Exact(std::string_view field) const;
  bool Matches(const std::function<std::string(std::string_view field)>& value_of) const;

 private:
  std::vector<Term> terms_;
};

// Grammar checks shared with metadata validation; empty text means valid, else kube's message.
std::string CheckLabelKey(std::string_view key);
std::string CheckLabelValue(std::string_view value);

}  // namespace mailroom
