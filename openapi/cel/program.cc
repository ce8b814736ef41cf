#include "openapi/cel/program.h"

#include <utility>

#include "openapi/cel/checker.h"
#include "openapi/cel/cost.h"
#include "openapi/cel/interpreter.h"
#include "openapi/cel/parser.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

// Everything that walks the tree recurses, so its depth is bounded first, without recursion.
bool TooDeep(const Expr& root) {
  std::vector<std::pair<const Expr*, int>> left = {{&root, 1}};
  while (!left.empty()) {
    const auto [expr, depth] = left.back();
    left.pop_back();
    if (depth > limits::kCelTreeDepth) return true;
    if (expr->operand != nullptr) left.emplace_back(expr->operand, depth + 1);
    for (const Expr* child : expr->args) left.emplace_back(child, depth + 1);
    for (const Expr* child : expr->keys) left.emplace_back(child, depth + 1);
  }
  return false;
}

}  // namespace

Result<ProgramPtr> Compile(const std::string& text, const Environment& environment) {
  auto program = std::make_shared<Program>();
  program->text_ = text;
  std::vector<Issue> issues;
  program->ast_.binds = environment.binds;
  Parse(text, program->ast_, issues);
  if (issues.empty() && TooDeep(*program->ast_.root)) {
    issues.push_back({0, "expression recursion limit exceeded: " +
                             std::to_string(limits::kCelDepth)});
  }
  if (issues.empty()) {
    Checked checked = Check(program->ast_, environment, issues);
    program->slots_ = checked.slots;
    program->used_ = std::move(checked.used);
  }
  if (!issues.empty()) return BadRequest(Describe(text, std::move(issues)));
  program->cost_ = EstimateCost(*program->ast_.root);
  for (const Variable& variable : environment.variables) program->kept_.push_back(variable.type);
  return ProgramPtr(std::move(program));
}

Outcome Program::Run(std::span<const Value> variables, std::uint64_t cost_limit) const {
  std::vector<Value> slots(variables.begin(), variables.end());
  slots.resize(slots_);
  Meter meter(cost_limit, limits::kCelBytes);
  Outcome outcome;
  outcome.value = Evaluate(*ast_.root, slots, meter);
  outcome.cost = meter.cost();
  outcome.exceeded = meter.exceeded();
  if (outcome.exceeded) {
    outcome.value = Value::Error("operation cancelled: actual cost limit exceeded");
  }
  return outcome;
}

}  // namespace mailroom::cel
