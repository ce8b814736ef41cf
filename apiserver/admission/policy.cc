#include "apiserver/admission/policy.h"

#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

using openapi::Trimmed;
using openapi::ArrayAt;
using openapi::PolicyResult;
using openapi::PolicyScope;

void ParseValidations(const Json& spec, const PolicyScope& scope, Policy& policy) {
  for (const Json& item : ArrayAt(spec, {"validations"})) {
    Validation validation;
    validation.expression =
        Expression::Make(scope, StringAt(item, {"expression"}), PolicyResult::kBool);
    validation.message = Trimmed(StringAt(item, {"message"}));
    validation.reason = StringAt(item, {"reason"});
    if (const std::string text = StringAt(item, {"messageExpression"}); !text.empty()) {
      validation.message_expression = Expression::Make(scope, text, PolicyResult::kString);
    }
    policy.validations.push_back(std::move(validation));
  }
  for (const Json& item : ArrayAt(spec, {"auditAnnotations"})) {
    policy.annotations.push_back(
        {StringAt(item, {"key"}), Expression::Make(scope, StringAt(item, {"valueExpression"}),
                                                   PolicyResult::kStringOrNull)});
  }
}

void ParseMutations(const Json& spec, const PolicyScope& scope, Policy& policy) {
  for (const Json& item : ArrayAt(spec, {"mutations"})) {
    Mutation mutation;
    mutation.json_patch = StringAt(item, {"patchType"}) == "JSONPatch";
    const char* member = mutation.json_patch ? "jsonPatch" : "applyConfiguration";
    mutation.expression =
        Expression::Make(scope, StringAt(item, {member, "expression"}),
                         mutation.json_patch ? PolicyResult::kPatches : PolicyResult::kObject);
    policy.mutations.push_back(std::move(mutation));
  }
}

void FindError(Policy& policy) {
  auto note = [&](const Expression& expression) {
    if (policy.error.empty() && !expression.error.empty()) policy.error = expression.error;
  };
  for (const auto& item : policy.conditions) note(item.expression);
  for (const auto& item : policy.variables) note(item.expression);
  for (const auto& item : policy.annotations) note(item.expression);
  for (const Mutation& item : policy.mutations) note(item.expression);
  for (const Validation& item : policy.validations) {
    note(item.expression);
    if (item.message_expression) note(*item.message_expression);
  }
}

}  // namespace

Expression Expression::Make(const PolicyScope& scope, std::string text, PolicyResult result) {
  Expression out;
  out.text = Trimmed(text);
  auto program = scope.Compile(out.text, result);
  if (program.ok()) {
    out.program = std::move(*program);
  } else {
    out.error = "compilation error: " + program.error().message();
  }
  return out;
}

std::vector<NamedExpression> ParseConditions(const Json& owner, const PolicyScope& scope) {
  std::vector<NamedExpression> out;
  for (const Json& item : ArrayAt(owner, {"matchConditions"})) {
    out.push_back({StringAt(item, {"name"}),
                   Expression::Make(scope, StringAt(item, {"expression"}), PolicyResult::kBool)});
  }
  return out;
}

Policy ParsePolicy(const Json& object) {
  Policy policy;
  policy.name = StringAt(object, {"metadata", "name"});
  static const Json kEmpty = Json::object();
  const Json* found = Find(object, {"spec"});
  const Json& spec = found != nullptr ? *found : kEmpty;
  policy.ignore_failure = StringAt(spec, {"failurePolicy"}) == "Ignore";
  policy.reinvoke = StringAt(spec, {"reinvocationPolicy"}) == "IfNeeded";
  if (const std::string kind = StringAt(spec, {"paramKind", "kind"}); !kind.empty()) {
    const std::string api = StringAt(spec, {"paramKind", "apiVersion"});
    const std::size_t slash = api.find('/');
    policy.param_kind = slash == std::string::npos
                            ? GroupVersionKind{"", api, kind}
                            : GroupVersionKind{api.substr(0, slash), api.substr(slash + 1), kind};
  }
  if (const Json* match = Find(spec, {"matchConstraints"})) {
    policy.constraints = ParseConstraints(*match, "resourceRules");
  }
  const auto params = policy.param_kind ? PolicyScope::Params::kGiven : PolicyScope::Params::kNone;
  PolicyScope scope(params, Find(spec, {"mutations"}) != nullptr ? PolicyScope::Patches::kAllowed
                                                                 : PolicyScope::Patches::kNone);
  policy.conditions =
      ParseConditions(spec, PolicyScope(params, PolicyScope::Patches::kNone));
  for (const Json& item : ArrayAt(spec, {"variables"})) {
    const std::string name = StringAt(item, {"name"});
    Expression expression =
        Expression::Make(scope, StringAt(item, {"expression"}), PolicyResult::kAny);
    scope.Declare(name, expression.program ? expression.program->type()
                                           : cel::Simple(cel::Kind::kDyn));
    policy.variables.push_back({name, std::move(expression)});
  }
  ParseValidations(spec, scope, policy);
  ParseMutations(spec, scope, policy);
  FindError(policy);
  return policy;
}

Binding ParseBinding(const Json& object) {
  Binding binding;
  binding.name = StringAt(object, {"metadata", "name"});
  if (const Json* match = Find(object, {"spec", "matchResources"})) {
    binding.constraints = ParseConstraints(*match, "resourceRules");
    binding.constraints->all_without_rules = true;
  }
  binding.actions = StringsAt(object, {"spec", "validationActions"});
  const Json* ref = Find(object, {"spec", "paramRef"});
  if (ref == nullptr || !ref->is_object()) return binding;
  ParamRef params;
  params.name = StringAt(*ref, {"name"});
  params.ns = StringAt(*ref, {"namespace"});
  params.deny_when_missing = StringAt(*ref, {"parameterNotFoundAction"}) == "Deny";
  if (const Json* selector = Find(*ref, {"selector"})) {
    if (auto parsed = LabelSelector::FromJson(*selector); parsed.ok()) {
      params.selector = std::move(*parsed);
    }
  }
  binding.params = std::move(params);
  return binding;
}

}  // namespace mailroom::admission
