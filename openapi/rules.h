// x-kubernetes-validations: CEL rules of custom resources. Types for expressions are made from
// schema nodes; programs are compiled once per definition, on first use, and shared with it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "openapi/cel/program.h"
#include "openapi/schema.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// Types of the nodes of one schema, made when first asked for. Null: expressions do not see it.
class RuleTypes {
 public:
  cel::TypePtr Of(const Schema& node, const std::string& name);

 private:
  cel::TypePtr Make(const Schema& node, const std::string& name);
  std::unordered_map<const Schema*, cel::TypePtr> made_;
};

struct CompiledRule {
  cel::ProgramPtr program;
  std::string error;  // why there is no program
  cel::ProgramPtr message;
  std::string message_error;
  bool uses_old = false;
};
// REQUIRES: type is what RuleTypes gave for the node that has the rule.
CompiledRule CompileRule(const CelRule& rule, const cel::TypePtr& type);

// The path that a rule's fieldPath means, in the form of errors (`.spec.a['b']` is `spec.a[b]`);
// an error text when the schema has no such field. Selectable fields are told apart by dots only.
struct RulePath {
  std::string text, error;
  const Schema* schema = nullptr;  // of the field
};
enum class PathForm { kAny, kDotted };
RulePath ReadFieldPath(const std::string& path, const Schema& node, PathForm form = PathForm::kAny);

// Whether rules stand anywhere in the schema.
bool HasRules(const Schema& root);

// Field errors of a definition's rules: compilation and estimated cost. `tree` is the schema as
// written, `path` where it stands. REQUIRES: the schema is structural.
Causes CheckRules(const Json& tree, const std::string& path);

// All rules of one schema, ready to run.
class Rules {
 public:
  // `root` must outlive this.
  explicit Rules(const Schema& root) : root_(root) {}
  // Field errors of the object; with `old`, those of parts that did not change are left out.
  Causes Check(const Json& object, const Json* old) const;

 private:
  friend class RuleRunner;
  struct Place {
    const Schema* schema = nullptr;
    cel::TypePtr type;
    std::vector<CompiledRule> rules;
    std::unique_ptr<Place> items, additional;
    std::vector<std::pair<std::string, std::unique_ptr<Place>>> properties;  // sorted
  };
  static std::unique_ptr<Place> Compile(const Schema& node, const std::string& name,
                                        RuleTypes& types);

  const Schema& root_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<Place> places_;
};

}  // namespace mailroom::openapi
