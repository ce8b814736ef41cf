// Admission policies and their bindings, expressions included: one that does not compile is
// refused when it is written.
#include <algorithm>
#include <set>

#include "openapi/policy_expressions.h"
#include "openapi/validate_names.h"
#include "openapi/validate_rules.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kAuditAnnotations = 20;

bool IsIdentifier(const std::string& name) {
  static const std::set<std::string> kReserved = {
      "true", "false", "null",   "in",   "as",      "break",     "const",  "continue", "else", "for", "function",
      "if",   "import", "let",   "loop", "package", "namespace", "return", "var",      "void", "while"};
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0]) || kReserved.contains(name)) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// The program, or null after telling why there is none.
cel::ProgramPtr CheckExpression(const BuiltinCheck& check, const PolicyScope& scope,
                                const std::string& text, PolicyResult result,
                                const std::string& field) {
  auto program = scope.Compile(text, result);
  if (program.ok()) return std::move(*program);
  check.Invalid(field, text, program.error().message());
  return nullptr;
}

void CheckConditionsCompile(const BuiltinCheck& check, const Json& owner, const PolicyScope& scope,
                            const std::string& path) {
  const Json& conditions = ArrayAt(owner, {"matchConditions"});
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string text = Trimmed(StringAt(conditions[i], {"expression"}));
    if (text.empty()) continue;
    CheckExpression(check, scope, text, PolicyResult::kBool,
                    At(path + ".matchConditions", i) + ".expression");
  }
}

void CheckMatch(const BuiltinCheck& check, const Json& match, const std::string& path) {
  CheckOneOf(check, path + ".matchPolicy", StringAt(match, {"matchPolicy"}),
             {"Equivalent", "Exact"});
  CheckAdmissionSelectors(check, match, path);
  CheckAdmissionRules(check, ArrayAt(match, {"resourceRules"}), path + ".resourceRules");
  CheckAdmissionRules(check, ArrayAt(match, {"excludeResourceRules"}),
                      path + ".excludeResourceRules");
}

void CheckParamKind(const BuiltinCheck& check, const Json& kind) {
  const std::string api = StringAt(kind, {"apiVersion"});
  if (api.empty()) {
    check.Required("spec.paramKind.apiVersion");
  } else {
    const std::size_t slash = api.find('/');
    const std::string group = slash == std::string::npos ? "" : api.substr(0, slash);
    const std::string version = slash == std::string::npos ? api : api.substr(slash + 1);
    if (!group.empty()) {
      AddInvalid(check.causes, "spec.paramKind.apiVersion", group, CheckSubdomain(group));
    }
    AddInvalid(check.causes, "spec.paramKind.apiVersion", version, Check1035Label(version));
  }
  if (StringAt(kind, {"kind"}).empty()) check.Required("spec.paramKind.kind");
}

// What both kinds of policy have. The scope then knows the variables.
void CheckCommon(const BuiltinCheck& check, const Json& spec, PolicyScope& scope,
                 PolicyScope::Params params) {
  CheckOneOf(check, "spec.failurePolicy", StringAt(spec, {"failurePolicy"}), {"Fail", "Ignore"});
  if (const Json* kind = Find(spec, {"paramKind"})) CheckParamKind(check, *kind);
  if (const Json* match = Find(spec, {"matchConstraints"})) {
    CheckMatch(check, *match, "spec.matchConstraints");
    if (ArrayAt(*match, {"resourceRules"}).empty()) {
      check.Required("spec.matchConstraints.resourceRules");
    }
  } else {
    check.Required("spec.matchConstraints");
  }
  CheckMatchConditions(check, spec, "spec");
  CheckConditionsCompile(check, spec, PolicyScope(params, PolicyScope::Patches::kNone), "spec");
  const Json& variables = ArrayAt(spec, {"variables"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string field = At("spec.variables", i);
    const std::string name = StringAt(variables[i], {"name"});
    if (name.empty()) {
      check.Required(field + ".name", "name is not specified");
    } else if (!IsIdentifier(name)) {
      check.Invalid(field + ".name", name, "name is not a valid CEL identifier");
    }
    const std::string text = Trimmed(StringAt(variables[i], {"expression"}));
    cel::ProgramPtr program;
    if (text.empty()) {
      check.Required(field + ".expression", "expression is not specified");
    } else {
      program = CheckExpression(check, scope, text, PolicyResult::kAny, field + ".expression");
    }
    scope.Declare(name, program ? program->type() : cel::Simple(cel::Kind::kDyn));
  }
}

void CheckMessage(const BuiltinCheck& check, const Json& validation, const std::string& field) {
  const std::string given = StringAt(validation, {"message"});
  const std::string message = Trimmed(given);
  const auto lines = [](const std::string& text) { return text.find('\n') != std::string::npos; };
  if (!given.empty() && message.empty()) {
    check.Invalid(field + ".message", given, "message must be non-empty if specified");
  } else if (lines(message)) {
    check.Invalid(field + ".message", given, "message must not contain line breaks");
  } else if (message.empty() && lines(Trimmed(StringAt(validation, {"expression"})))) {
    check.Required(field + ".message",
                   "message must be specified if expression contains line breaks");
  }
}

void CheckValidation(const BuiltinCheck& check, const Json& validation, const PolicyScope& scope,
                     const std::string& field) {
  const std::string text = Trimmed(StringAt(validation, {"expression"}));
  if (text.empty()) {
    check.Required(field + ".expression", "expression is not specified");
  } else {
    CheckExpression(check, scope, text, PolicyResult::kBool, field + ".expression");
  }
  if (const std::string given = StringAt(validation, {"messageExpression"}); !given.empty()) {
    if (Trimmed(given).empty()) {
      check.Invalid(field + ".messageExpression", given, "must be non-empty if specified");
    } else {
      CheckExpression(check, scope, Trimmed(given), PolicyResult::kString,
                      field + ".messageExpression");
    }
  }
  CheckMessage(check, validation, field);
  CheckOneOf(check, field + ".reason", StringAt(validation, {"reason"}),
             {"Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"});
}

void CheckAnnotations(const BuiltinCheck& check, const Json& list, const PolicyScope& scope) {
  if (list.size() > kAuditAnnotations) {
    check.Invalid("spec.auditAnnotations", list, "must not have more than 20 auditAnnotations");
  }
  std::set<std::string> keys;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = At("spec.auditAnnotations", i);
    const std::string key = StringAt(list[i], {"key"});
    const std::string policy = StringAt(check.object, {"metadata", "name"});
    AddInvalid(check.causes, field + ".key", key, CheckQualifiedName(policy + "/" + key));
    if (!keys.insert(key).second) {
      check.causes.push_back(DuplicateValue(field + ".key", Quoted(key)));
    }
    const std::string text = Trimmed(StringAt(list[i], {"valueExpression"}));
    if (text.empty()) {
      check.Required(field + ".valueExpression", "valueExpression is not specified");
    } else {
      CheckExpression(check, scope, text, PolicyResult::kStringOrNull, field + ".valueExpression");
    }
  }
}

void CheckMutation(const BuiltinCheck& check, const Json& mutation, const PolicyScope& scope,
                   const std::string& field) {
  const std::string type = StringAt(mutation, {"patchType"});
  if (type.empty()) return check.Required(field + ".patchType");
  CheckOneOf(check, field + ".patchType", type, {"ApplyConfiguration", "JSONPatch"});
  const bool patch = type == "JSONPatch";
  const std::string wanted = patch ? "jsonPatch" : "applyConfiguration";
  const std::string other = patch ? "applyConfiguration" : "jsonPatch";
  const Json* given = Find(mutation, {wanted});
  if (Find(mutation, {other}) != nullptr) {
    check.Invalid(field + "." + other, "{" + other + "}",
                  "must not be specified when patchType is " + type);
  }
  if (given == nullptr) {
    return check.Required(field + "." + wanted, "must be specified when patchType is " + type);
  }
  const std::string text = Trimmed(StringAt(*given, {"expression"}));
  if (text.empty()) return check.Required(field + "." + wanted + ".expression");
  CheckExpression(check, scope, text, patch ? PolicyResult::kPatches : PolicyResult::kObject,
                  field + "." + wanted + ".expression");
}

const Json& SpecOf(const BuiltinCheck& check) {
  static const Json kEmpty = Json::object();
  const Json* spec = Find(check.object, {"spec"});
  return spec != nullptr ? *spec : kEmpty;
}

PolicyScope::Params ParamsOf(const Json& spec) {
  return Find(spec, {"paramKind"}) != nullptr ? PolicyScope::Params::kGiven
                                              : PolicyScope::Params::kNone;
}

void CheckBinding(const BuiltinCheck& check, const Json& spec) {
  const std::string policy = StringAt(spec, {"policyName"});
  if (policy.empty()) {
    check.Required("spec.policyName");
  } else {
    AddInvalid(check.causes, "spec.policyName", policy, CheckSubdomain(policy));
  }
  if (const Json* match = Find(spec, {"matchResources"})) {
    CheckMatch(check, *match, "spec.matchResources");
  }
  const Json* ref = Find(spec, {"paramRef"});
  if (ref == nullptr) return;
  const std::string name = StringAt(*ref, {"name"});
  const Json* selector = Find(*ref, {"selector"});
  if (!name.empty() && selector != nullptr) {
    check.Forbidden("spec.paramRef.name", "name and selector are mutually exclusive");
    check.Forbidden("spec.paramRef.selector", "name and selector are mutually exclusive");
  } else if (name.empty() && selector == nullptr) {
    check.Required("spec.paramRef", "one of name or selector must be specified");
  }
  if (!name.empty()) {
    AddInvalid(check.causes, "spec.paramRef.name", name, CheckPathSegment(name));
  }
  if (selector != nullptr) CheckSelector(check, *selector, "spec.paramRef.selector");
  const std::string action = StringAt(*ref, {"parameterNotFoundAction"});
  if (action.empty()) check.Required("spec.paramRef.parameterNotFoundAction");
  CheckOneOf(check, "spec.paramRef.parameterNotFoundAction", action, {"Deny", "Allow"});
}

}  // namespace

void CheckValidatingPolicy(const BuiltinCheck& check) {
  const Json& spec = SpecOf(check);
  PolicyScope scope(ParamsOf(spec), PolicyScope::Patches::kNone);
  CheckCommon(check, spec, scope, ParamsOf(spec));
  const Json& validations = ArrayAt(spec, {"validations"});
  const Json& annotations = ArrayAt(spec, {"auditAnnotations"});
  if (validations.empty() && annotations.empty()) {
    for (const char* member : {"spec.validations", "spec.auditAnnotations"}) {
      check.Required(member, "validations or auditAnnotations must contain at least one item");
    }
  }
  for (std::size_t i = 0; i < validations.size(); ++i) {
    CheckValidation(check, validations[i], scope, At("spec.validations", i));
  }
  CheckAnnotations(check, annotations, scope);
}

void CheckMutatingPolicy(const BuiltinCheck& check) {
  const Json& spec = SpecOf(check);
  PolicyScope scope(ParamsOf(spec), PolicyScope::Patches::kAllowed);
  CheckCommon(check, spec, scope, ParamsOf(spec));
  for (const Json& rule : ArrayAt(spec, {"matchConstraints", "resourceRules"})) {
    for (const std::string& operation : StringsAt(rule, {"operations"})) {
      CheckOneOf(check, "spec.matchConstraints.resourceRules.operations", operation,
                 {"*", "CONNECT", "CREATE", "UPDATE"});
    }
  }
  const Json& mutations = ArrayAt(spec, {"mutations"});
  if (mutations.empty()) {
    check.Required("spec.mutations", "mutations must contain at least one item");
  }
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    CheckMutation(check, mutations[i], scope, At("spec.mutations", i));
  }
  const std::string reinvocation = StringAt(spec, {"reinvocationPolicy"});
  if (reinvocation.empty()) check.Required("spec.reinvocationPolicy");
  CheckOneOf(check, "spec.reinvocationPolicy", reinvocation, {"IfNeeded", "Never"});
}

void CheckMutatingBinding(const BuiltinCheck& check) { CheckBinding(check, SpecOf(check)); }

void CheckValidatingBinding(const BuiltinCheck& check) {
  const Json& spec = SpecOf(check);
  CheckBinding(check, spec);
  const std::vector<std::string> actions = StringsAt(spec, {"validationActions"});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::string field = At("spec.validationActions", i);
    CheckOneOf(check, field, actions[i], {"Audit", "Deny", "Warn"});
    if (!seen.insert(actions[i]).second) {
      check.causes.push_back(DuplicateValue(field, Quoted(actions[i])));
    }
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    check.Invalid("spec.validationActions", actions,
                  "must not contain both Deny and Warn (repeating the same validation failure "
                  "information in the API response and headers serves no purpose)");
  }
  if (actions.empty()) {
    check.Required("spec.validationActions", "at least one validation action is required");
  }
}

void CheckWebhookConditions(const BuiltinCheck& check, const Json& hook, const std::string& path) {
  CheckConditionsCompile(check, hook,
                         PolicyScope(PolicyScope::Params::kNone, PolicyScope::Patches::kNone), path);
}

}  // namespace mailroom::openapi
