// matchConditions: CEL expressions that must all be true before a webhook is asked.
#pragma once

#include <string>
#include <vector>

#include "apiserver/admission/rules.h"

namespace mailroom::admission {

// What expressions see, in the version that matched.
struct ConditionInput {
  const Attributes& attributes;
  const Invocation& invocation;
  const Json* object;
  const Json* old;
};

class Conditions {
 public:
  static Conditions Parse(const Json& owner);
  bool empty() const { return conditions_.empty(); }
  // False when one is false. An error when none is false and one cannot be evaluated.
  Result<bool> Met(const ConditionInput& input) const;

 private:
  struct Condition {
    std::string name, expression;
  };
  std::vector<Condition> conditions_;
};

}  // namespace mailroom::admission
