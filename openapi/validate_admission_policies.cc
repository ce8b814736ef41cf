// Admission policies and their bindings, expressions included: one that does not compile is
// refused when it is written.
#include <algorithm>
#include <set>

#include "openapi/builtin.h"
#include "openapi/policy_expressions.h"
#include "openapi/validate_conditions.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_rules.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kAuditAnnotations = 20;
constexpr std::size_t kAuditExpressionBytes = 5 * 1024;

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

void CheckMatch(const BuiltinCheck& check, const Json& match, const std::string& path) {
  CheckGiven(check, match, path, "matchPolicy", {"Equivalent", "Exact"});
  CheckAdmissionSelectors(check, match, path, SelectorValues::kChecked);
  CheckAdmissionRules(check, ArrayAt(match, {"resourceRules"}), path + ".resourceRules");
  CheckAdmissionRules(check, ArrayAt(match, {"excludeResourceRules"}),
                      path + ".excludeResourceRules");
}

// Requests of which nothing can be changed are no matter of a mutating policy.
void CheckMutableOperations(const BuiltinCheck& check, const Json& match, const std::string& path) {
  for (const Json& rule : ArrayAt(match, {"resourceRules"})) {
    for (const std::string& operation : StringsAt(rule, {"operations"})) {
      CheckOneOf(check, path + ".resourceRules.operations", operation,
                 {"*", "CONNECT", "CREATE", "UPDATE"});
    }
  }
}

std::string Joined(const Complaints& complaints) {
  std::string out;
  for (const std::string& complaint : complaints) out += (out.empty() ? "" : ",") + complaint;
  return out;
}

// One fault for all that is wrong with a part.
void CheckPart(const BuiltinCheck& check, const std::string& field, const std::string& part,
               const Complaints& complaints, const std::string& lead = "") {
  if (!complaints.empty()) check.Invalid(field, part, lead + Joined(complaints));
}

void CheckParamKind(const BuiltinCheck& check, const Json& param) {
  const std::string api = StringAt(param, {"apiVersion"}), kind = StringAt(param, {"kind"});
  const std::string field = "spec.paramKind.apiVersion";
  const std::size_t slash = api.find('/');
  if (api.empty()) {
    check.Required(field);
  } else if (slash != api.rfind('/')) {
    check.Invalid(field, api, "unexpected GroupVersion string: " + api);
  } else {
    const std::string group = slash == std::string::npos ? "" : api.substr(0, slash);
    const std::string version = slash == std::string::npos ? api : api.substr(slash + 1);
    if (!group.empty()) CheckPart(check, field, group, CheckSubdomain(group));
    if (version.empty()) {
      check.Invalid(field, api, "version must be specified");
    } else {
      CheckPart(check, field, version, Check1035Label(version));
    }
  }
  if (kind.empty()) return check.Required("spec.paramKind.kind");
  std::string lower = kind;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  CheckPart(check, "spec.paramKind.kind", kind, Check1035Label(lower),
            "may have mixed case, but should otherwise match: ");
}

// What both kinds of policy have. The scope then knows the variables.
void CheckCommon(const BuiltinCheck& check, const Json& spec, PolicyScope& scope,
                 PolicyScope::Params params, void (*of_match)(const BuiltinCheck&, const Json&)) {
  CheckGiven(check, spec, "spec", "failurePolicy", {"Fail", "Ignore"});
  if (const Json* kind = Find(spec, {"paramKind"})) CheckParamKind(check, *kind);
  if (const Json* match = Find(spec, {"matchConstraints"})) {
    CheckMatch(check, *match, "spec.matchConstraints");
    if (ArrayAt(*match, {"resourceRules"}).empty()) {
      check.Required("spec.matchConstraints.resourceRules");
    }
    of_match(check, *match);
  } else {
    check.Required("spec.matchConstraints");
  }
  CheckMatchConditions(check, spec, PolicyScope(params, PolicyScope::Patches::kNone), "spec");
  const Json& variables = ArrayAt(spec, {"variables"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string field = At("spec.variables", i);
    const std::string name = StringAt(variables[i], {"name"});
    if (Trimmed(name).empty()) {
      check.Required(field + ".name", "name is not specified");
    } else if (!IsIdentifier(name)) {
      check.Invalid(field + ".name", name, "must be a valid CEL identifier");
    }
    const std::string text = StringAt(variables[i], {"expression"});
    cel::ProgramPtr program;
    if (Trimmed(text).empty()) {
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
  if (!given.empty() && message.empty()) {
    check.Invalid(field + ".message", given, "must be non-empty if specified");
  } else if (message.find_first_of("\n\r") != std::string::npos) {
    check.Invalid(field + ".message", given, "must not contain line breaks");
  }
}

void CheckValidation(const BuiltinCheck& check, const Json& validation, const PolicyScope& scope,
                     const std::string& field) {
  const std::string text = StringAt(validation, {"expression"});
  if (Trimmed(text).empty()) {
    check.Required(field + ".expression", "expression is not specified");
  } else {
    CheckExpression(check, scope, text, PolicyResult::kBool, field + ".expression");
  }
  if (const std::string given = StringAt(validation, {"messageExpression"}); !given.empty()) {
    if (Trimmed(given).empty()) {
      check.Invalid(field + ".messageExpression", given, "must be non-empty if specified");
    } else {
      CheckExpression(check, scope, given, PolicyResult::kString, field + ".messageExpression");
    }
  }
  CheckMessage(check, validation, field);
  CheckGiven(check, validation, field, "reason", {"Forbidden", "Invalid", "RequestEntityTooLarge"});
}

void CheckAnnotations(const BuiltinCheck& check, const Json& list, const PolicyScope& scope) {
  if (list.size() > kAuditAnnotations) {
    const Schema* type = BuiltinType("admissionregistration/v1.ValidatingAdmissionPolicySpec")
                             ->Find("auditAnnotations")->schema;
    check.causes.push_back(InvalidValue("spec.auditAnnotations", InternalText(*type, &list),
                                        "must not have more than 20 auditAnnotations"));
  }
  std::set<std::string> keys;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = At("spec.auditAnnotations", i);
    const std::string key = StringAt(list[i], {"key"});
    const std::string policy = StringAt(check.object, {"metadata", "name"});
    AddInvalid(check.causes, field + ".key", policy + "/" + key, CheckQualifiedName(policy + "/" + key));
    const std::string text = Trimmed(StringAt(list[i], {"valueExpression"}));
    if (text.empty()) {
      check.Required(field + ".valueExpression", "valueExpression is not specified");
    } else if (text.size() > kAuditExpressionBytes) {
      check.Required(field + ".valueExpression", "must not exceed 5120 bytes in length");
    } else {
      CheckExpression(check, scope, text, PolicyResult::kStringOrNull, field + ".valueExpression");
    }
    if (!keys.insert(key).second) {
      check.causes.push_back(DuplicateValue(field + ".key", Quoted(key)));
    }
  }
}

void CheckMutation(const BuiltinCheck& check, const Json& mutation, const PolicyScope& scope,
                   const std::string& field) {
  const std::string type = StringAt(mutation, {"patchType"});
  if (type.empty()) return check.Required(field + ".patchType");
  if (type != "JSONPatch" && type != "ApplyConfiguration") {
    return CheckOneOf(check, field + ".patchType", type, {"ApplyConfiguration", "JSONPatch"});
  }
  const bool patch = type == "JSONPatch";
  const std::string wanted = patch ? "jsonPatch" : "applyConfiguration";
  const std::string other = patch ? "applyConfiguration" : "jsonPatch";
  const std::string at = field + "." + wanted + ".expression";
  if (const Json* given = Find(mutation, {wanted}); given == nullptr) {
    check.Required(field + "." + wanted, "must be specified when patchType is " + type);
  } else if (const std::string text = Trimmed(StringAt(*given, {"expression"})); text.empty()) {
    check.Required(at);
  } else {
    CheckExpression(check, scope, text, patch ? PolicyResult::kPatches : PolicyResult::kObject, at);
  }
  if (Find(mutation, {other}) == nullptr) return;
  check.Invalid(field + "." + other, "{" + other + "}",
                "must not be specified when patchType is " + type);
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

void CheckParamRef(const BuiltinCheck& check, const Json& ref) {
  const std::string name = StringAt(ref, {"name"}), path = "spec.paramRef";
  const std::string rule = "name and selector are mutually exclusive";
  const Json* selector = Find(ref, {"selector"});
  if (!name.empty()) {
    AddInvalid(check.causes, path + ".name", name, CheckPathSegment(name));
    if (selector != nullptr) check.Forbidden(path + ".name", rule);
  }
  if (selector != nullptr) {
    CheckSelector(check, *selector, path + ".selector", SelectorValues::kChecked);
    if (!name.empty()) check.Forbidden(path + ".selector", rule);
  }
  if (name.empty() && selector == nullptr) {
    check.Required(path, "one of name or selector must be specified");
  }
  const std::string action = StringAt(ref, {"parameterNotFoundAction"});
  const std::string field = path + ".parameterNotFoundAction";
  if (action.empty()) return check.Required(field);
  CheckOneOf(check, field, action, {"Deny", "Allow"});
}

void CheckBinding(const BuiltinCheck& check, const Json& spec) {
  const std::string policy = StringAt(spec, {"policyName"});
  if (policy.empty()) {
    check.Required("spec.policyName");
  } else {
    AddInvalid(check.causes, "spec.policyName", policy, CheckSubdomain(policy));
  }
  if (const Json* ref = Find(spec, {"paramRef"})) CheckParamRef(check, *ref);
  if (const Json* match = Find(spec, {"matchResources"})) {
    CheckMatch(check, *match, "spec.matchResources");
  }
}

void CheckPolicyStatus(const BuiltinCheck& check) {
  const std::string list = "status.typeChecking.expressionWarnings";
  const Json& warnings = ArrayAt(check.object, {"status", "typeChecking", "expressionWarnings"});
  for (std::size_t i = 0; i < warnings.size() && !check.causes.full(); ++i) {
    for (const char* member : {"warning", "fieldRef"}) {
      const std::string text = StringAt(warnings[i], {member});
      const bool blank = *member == 'f' ? Trimmed(text).empty() : text.empty();
      if (blank) check.Required(ElementPath(list, i) + "." + member);
    }
  }
  CheckConditions(check, ArrayAt(check.object, {"status", "conditions"}), "status.conditions");
}

}  // namespace

void CheckValidatingPolicy(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckPolicyStatus(check);
  const Json& spec = SpecOf(check);
  PolicyScope scope(ParamsOf(spec), PolicyScope::Patches::kNone);
  CheckCommon(check, spec, scope, ParamsOf(spec), [](const BuiltinCheck&, const Json&) {});
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
  CheckCommon(check, spec, scope, ParamsOf(spec), [](const BuiltinCheck& of, const Json& match) {
    CheckMutableOperations(of, match, "spec.matchConstraints");
  });
  const Json& mutations = ArrayAt(spec, {"mutations"});
  if (mutations.empty()) {
    check.Required("spec.mutations", "mutations must contain at least one item");
  }
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    CheckMutation(check, mutations[i], scope, At("spec.mutations", i));
  }
  const std::string reinvocation = StringAt(spec, {"reinvocationPolicy"});
  if (reinvocation.empty()) return check.Required("spec.reinvocationPolicy");
  CheckOneOf(check, "spec.reinvocationPolicy", reinvocation, {"IfNeeded", "Never"});
}

void CheckMutatingBinding(const BuiltinCheck& check) {
  CheckBinding(check, SpecOf(check));
  if (const Json* match = Find(check.object, {"spec", "matchResources"})) {
    CheckMutableOperations(check, *match, "spec.matchResources");
  }
}

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

void CheckMatchConditions(const BuiltinCheck& check, const Json& owner, const PolicyScope& scope,
                          const std::string& path) {
  constexpr std::size_t kMost = 64;
  const Json& conditions = ArrayAt(owner, {"matchConditions"});
  const std::string list = path + ".matchConditions";
  if (conditions.size() > kMost) check.causes.push_back(TooMany(list, conditions.size(), kMost));
  std::set<std::string> names;
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(list, i), name = StringAt(conditions[i], {"name"});
    const std::string text = Trimmed(StringAt(conditions[i], {"expression"}));
    if (text.empty()) {
      check.Required(field + ".expression");
    } else {
      CheckExpression(check, scope, text, PolicyResult::kBool, field + ".expression");
    }
    if (name.empty()) {
      check.Required(field + ".name");
      continue;
    }
    AddInvalid(check.causes, field + ".name", name, CheckQualifiedName(name));
    if (!names.insert(name).second) {
      check.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
    }
  }
}

}  // namespace mailroom::openapi
