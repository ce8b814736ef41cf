// One evaluation of expressions against a request: the variables they see, those computed when
// first asked for, and what is left of the cost that the whole may have. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/policy.h"

namespace mailroom::admission {

// What expressions see. All of it outlives the run.
struct PolicyInput {
  const Attributes& attributes;
  const Invocation& invocation;
  const Json* object = nullptr;  // in the invocation's version, like `old`
  const Json* old = nullptr;
  const Json* params = nullptr;
  ObjectPtr ns = nullptr;        // of the request; null for cluster-scoped objects
};

class PolicyRun {
 public:
  PolicyRun(const PolicyInput& input, const std::vector<NamedExpression>& variables,
            std::uint64_t budget);
  ~PolicyRun();
  PolicyRun(const PolicyRun&) = delete;
  PolicyRun& operator=(const PolicyRun&) = delete;

  // The value, or `expression '...' resulted in error: ...` as an error.
  Result<cel::Value> Evaluate(const Expression& expression);
  // Everything was used up: nothing more will be evaluated.
  bool exhausted() const { return exhausted_; }

 private:
  class Variables;
  cel::Value Run(const cel::Program& program);

  std::vector<cel::Value> slots_;
  Json request_, namespace_;
  std::shared_ptr<Variables> variables_;
  std::uint64_t left_;
  bool exhausted_ = false;
};

// Whether all conditions hold; false as soon as one does not. An error when none is false and one
// has no value.
Result<bool> ConditionsMet(const std::vector<NamedExpression>& conditions,
                           const PolicyInput& input);

}  // namespace mailroom::admission
