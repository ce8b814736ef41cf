// The JSONPath dialect of printer columns: `.spec.a`, `['a.b']`, `[0]`, `[-1]`, `[1:3]`, `[*]`,
// `..name` and filters `[?(@.type=="Ready")]`. Parsed once, immutable, usable from any thread.
// Missing members are not errors: they select nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

class JsonPathExpr {
 public:
  // With or without the enclosing braces; BadRequest says what is wrong.
  static Result<JsonPathExpr> Parse(std::string_view text);

  // Every selected node in document order; pointers into `root`.
  std::vector<const Json*> Select(const Json& root) const;
  // The first selected node or nullptr.
  const Json* First(const Json& root) const;
  // The member names when the path is a plain chain of members, else empty.
  std::vector<std::string> PlainMembers() const;

 private:
  enum class StepKind { kMember, kIndex, kSlice, kWildcard, kDescend, kFilter };
  enum class Compare { kExists, kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  struct Filter;
  struct Step {
    StepKind kind = StepKind::kMember;
    std::vector<std::string> members;  // more than one: a union
    long first = 0, last = 0;          // kIndex uses first; kSlice both
    bool has_last = false;
    std::shared_ptr<const Filter> filter;
  };
  friend struct JsonPathParser;

  static bool Passes(const Filter& filter, const Json& item);
  static void Take(const Step& step, const Json& node, std::vector<const Json*>& out);

  std::vector<Step> steps_;
};

}  // namespace mailroom::openapi
