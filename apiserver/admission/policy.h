// Admission policies and their bindings, parsed and compiled once per change and shared by all
// requests of a workspace.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/admission/rules.h"
#include "openapi/policy_expressions.h"

namespace mailroom::admission {

// An expression and its program, or why there is none.
struct Expression {
  std::string text;
  cel::ProgramPtr program;
  std::string error;

  static Expression Make(const openapi::PolicyScope& scope, std::string text,
                         openapi::PolicyResult result);
};

struct NamedExpression {
  std::string name;
  Expression expression;
};

struct Validation {
  Expression expression;
  std::optional<Expression> message_expression;
  std::string message, reason;
};

struct Mutation {
  bool json_patch = false;  // else an apply configuration
  Expression expression;
};

struct Policy {
  std::string name;
  bool ignore_failure = false;
  bool reinvoke = false;
  std::optional<GroupVersionKind> param_kind;
  Constraints constraints;
  std::vector<NamedExpression> conditions, variables, annotations;
  std::vector<Validation> validations;
  std::vector<Mutation> mutations;
  std::string error;  // the first expression that did not compile
};

struct ParamRef {
  std::string name, ns;
  std::optional<LabelSelector> selector;
  bool deny_when_missing = false;
};

struct Binding {
  std::string name;
  std::optional<Constraints> constraints;
  std::optional<ParamRef> params;
  std::vector<std::string> actions;  // Deny, Warn, Audit
};

// A policy with the bindings that put it to use.
struct BoundPolicy {
  std::shared_ptr<const Policy> policy;
  std::vector<Binding> bindings;
};

// matchConditions of a webhook or policy.
std::vector<NamedExpression> ParseConditions(const Json& owner, const openapi::PolicyScope& scope);
Policy ParsePolicy(const Json& object);
Binding ParseBinding(const Json& object);

}  // namespace mailroom::admission
