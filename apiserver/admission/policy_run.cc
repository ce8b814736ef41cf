#include "apiserver/admission/policy_run.h"

#include "apiserver/admission/review.h"
#include "storage/object/limits.h"

namespace mailroom::admission {

using cel::Value;

namespace {

class NobodyMay : public cel::AccessOracle {
 public:
  cel::AccessAnswer Ask(const cel::AccessQuestion&) const override { return {}; }
};

// The resource of the request, whatever is asked about it.
cel::AccessQuestion AboutRequest(const Attributes& attributes) {
  cel::AccessQuestion question;
  question.group = attributes.type->gvk.group;
  question.resource = attributes.type->plural;
  question.subresource = attributes.subresource;
  question.namespace_ = attributes.ns;
  question.name = attributes.name;
  return question;
}

}  // namespace

// `variables`: each is computed when first asked for, and once.
class PolicyRun::Variables : public cel::Record {
 public:
  Variables(PolicyRun& run, const std::vector<NamedExpression>& list)
      : run_(run), list_(list), known_(list.size()) {}

  std::string_view type_name() const override { return "kubernetes.variables"; }
  Value Get(std::string_view field) const override {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].name != field) continue;
      if (!known_[i]) {
        const cel::ProgramPtr& program = list_[i].expression.program;
        Value value = program ? run_.Run(*program) : Value::Error(list_[i].expression.error);
        if (value.is_error()) {
          value = Value::Error("composited variable " + Quoted(std::string(field)) +
                               " fails to evaluate: " + std::string(value.text()));
        }
        known_[i] = std::make_unique<Value>(std::move(value));
      }
      return *known_[i];
    }
    return Value::Error("no such key: " + std::string(field));
  }
  bool Has(std::string_view field) const override {
    for (const NamedExpression& item : list_) {
      if (item.name == field) return true;
    }
    return false;
  }
  std::vector<std::string> Fields() const override {
    std::vector<std::string> out;
    for (const NamedExpression& item : list_) out.push_back(item.name);
    return out;
  }

 private:
  PolicyRun& run_;
  const std::vector<NamedExpression>& list_;
  mutable std::vector<std::unique_ptr<Value>> known_;
};

PolicyRun::PolicyRun(const PolicyInput& input, const std::vector<NamedExpression>& variables,
                     std::uint64_t budget)
    : slots_(openapi::kPolicySlots),
      request_(RequestPart(input.attributes, input.invocation)),
      variables_(std::make_shared<Variables>(*this, variables)),
      left_(budget) {
  if (input.attributes.options) request_["options"] = input.attributes.options();
  if (input.object != nullptr) slots_[openapi::kObjectSlot] = Value::FromJson(*input.object);
  if (input.old != nullptr) slots_[openapi::kOldObjectSlot] = Value::FromJson(*input.old);
  if (input.params != nullptr) slots_[openapi::kParamsSlot] = Value::FromJson(*input.params);
  slots_[openapi::kRequestSlot] = Value::FromJson(request_, openapi::PolicyRequestType().get());
  if (input.ns != nullptr) {
    namespace_ = input.ns->ToJson();
    slots_[openapi::kNamespaceSlot] = Value::FromJson(namespace_);
  }
  std::shared_ptr<const cel::AccessOracle> oracle = input.attributes.oracle;
  if (oracle == nullptr) oracle = std::make_shared<const NobodyMay>();
  slots_[openapi::kAuthorizerSlot] = cel::MakeAuthorizer(oracle);
  slots_[openapi::kAuthorizerResourceSlot] =
      cel::MakeResourceCheck(oracle, AboutRequest(input.attributes));
  slots_[openapi::kVariablesSlot] = Value::Of(std::shared_ptr<const cel::Record>(variables_));
}

PolicyRun::~PolicyRun() = default;

Value PolicyRun::Run(const cel::Program& program) {
  if (exhausted_) return Value::Error("running out of cost budget");
  cel::Outcome outcome = program.Run(slots_, std::min(left_, limits::kCelCallCost));
  left_ -= std::min(left_, outcome.cost);
  if (outcome.exceeded && left_ < limits::kCelCallCost) exhausted_ = true;
  return std::move(outcome.value);
}

Result<Value> PolicyRun::Evaluate(const Expression& expression) {
  if (expression.program == nullptr) return Status(Reason::kInvalid, expression.error);
  Value value = Run(*expression.program);
  if (exhausted_) {
    return Status(Reason::kInvalid,
                  "validation failed due to running out of cost budget, no further validation "
                  "rules will be run");
  }
  if (value.is_error()) {
    return Status(Reason::kInvalid, "expression '" + expression.text +
                                        "' resulted in error: " + std::string(value.text()));
  }
  return value;
}

Result<bool> ConditionsMet(const std::vector<NamedExpression>& conditions,
                           const PolicyInput& input) {
  static const std::vector<NamedExpression> kNone;
  if (conditions.empty()) return true;
  PolicyRun run(input, kNone, limits::kCelMatchCost);
  std::string problems;
  for (const NamedExpression& condition : conditions) {
    auto value = run.Evaluate(condition.expression);
    if (!value.ok()) {
      problems += (problems.empty() ? "" : ", ") + value.error().message();
    } else if (!value->is_true()) {
      return false;
    }
  }
  if (problems.empty()) return true;
  return Status(Reason::kInvalid, problems);
}

}  // namespace mailroom::admission
