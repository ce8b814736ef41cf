// Compiling and running CEL expressions as Kubernetes does.
//
//   Environment env;
//   env.variables = {{"object", Simple(Kind::kDyn)}};
//   ProgramPtr program = TRY(Compile("object.spec.replicas <= 5", env));
//   Outcome outcome = program->Run(std::vector{Value::FromJson(tree)}, limits::kCelCallCost);
//
// Programs are immutable and may run on many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/cel/ast.h"
#include "openapi/cel/type.h"
#include "openapi/cel/value.h"
#include "storage/object/result.h"

namespace mailroom::cel {

struct Variable {
  std::string name;
  TypePtr type;
};

struct Environment {
  std::vector<Variable> variables;
  // Object types that expressions may construct by name. One that is `open` also stands for the
  // names below it: `Object` allows `Object.spec{...}`.
  std::vector<TypePtr> messages;
  bool binds = false;  // cel.bind(name, value, body) is known
};

// Between what and what something may cost, by the sizes that types allow.
struct CostEstimate {
  std::uint64_t min = 0, max = 0;
};

struct Outcome {
  Value value;  // an Error when evaluation failed
  std::uint64_t cost = 0;
  bool exceeded = false;  // it was stopped at its limit; `value` is then an Error that says so
};

class Program {
 public:
  // The type of the result; dyn when it cannot be known.
  const TypePtr& type() const { return ast_.root->type; }
  CostEstimate cost() const { return cost_; }
  const std::string& text() const { return text_; }
  // Whether the expression mentions the variable at this index of the environment.
  bool Uses(std::size_t variable) const { return variable < used_.size() && used_[variable]; }

  // `variables` in the order of the environment; those that are not used may be left null.
  Outcome Run(std::span<const Value> variables, std::uint64_t cost_limit) const;

 private:
  friend Result<std::shared_ptr<const Program>> Compile(const std::string& text,
                                                        const Environment& environment);
  std::string text_;
  Ast ast_;
  std::vector<TypePtr> kept_;  // types that shapes refer to
  std::vector<bool> used_;
  std::size_t slots_ = 0;
  CostEstimate cost_;
};
using ProgramPtr = std::shared_ptr<const Program>;

// The error's message is the compiler's: `ERROR: <input>:1:5: undefined field 'x'` and so on.
Result<ProgramPtr> Compile(const std::string& text, const Environment& environment);

}  // namespace mailroom::cel
