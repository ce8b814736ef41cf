// ValidatingAdmissionPolicy.
#include "apiserver/admission/policies.h"
#include "apiserver/admission/policy_run.h"
#include "storage/object/limits.h"

namespace mailroom::admission {
namespace {

using openapi::Trimmed;
constexpr std::size_t kFailuresNoted = 50;

// One reason to refuse.
struct Decision {
  const Policy* policy = nullptr;
  const Binding* binding = nullptr;
  std::string message;
  std::string reason;
};

// What is gathered over all policies of one request.
struct Findings {
  std::vector<Decision> denied;
  Json failures = Json::array();  // for the audit log
  std::map<std::string, std::vector<std::string>> notes;  // annotation, values of its bindings
};

std::string MessageOf(PolicyRun& run, const Validation& validation) {
  if (validation.message_expression) {
    auto value = run.Evaluate(*validation.message_expression);
    if (value.ok() && value->is(cel::Kind::kString)) {
      std::string message = Trimmed(value->text());
      const bool plain =
          message.size() <= limits::kCelMessageBytes && message.find('\n') == std::string::npos;
      if (plain && !message.empty()) return message;
    }
  }
  if (!validation.message.empty()) return validation.message;
  return "failed expression: " + validation.expression.text;
}

void Decide(const PolicyUse& use, std::size_t index, std::string message, std::string reason,
            Attributes& attributes, Findings& findings) {
  const Policy& policy = *use.policy;
  const Binding& binding = *use.binding;
  for (const std::string& action : binding.actions) {
    if (action == "Deny") {
      findings.denied.push_back({&policy, &binding, message, reason});
    } else if (action == "Warn") {
      attributes.warnings.push_back("Validation failed for ValidatingAdmissionPolicy '" +
                                    policy.name + "' with binding '" + binding.name +
                                    "': " + message);
    } else if (action == "Audit" && findings.failures.size() < kFailuresNoted) {
      findings.failures.push_back({{"message", message},
                                   {"policy", policy.name},
                                   {"binding", binding.name},
                                   {"expressionIndex", index},
                                   {"validationActions", binding.actions}});
    }
  }
}

void Annotate(const PolicyUse& use, const PolicyInput& input, Findings& findings) {
  const Policy& policy = *use.policy;
  if (policy.annotations.empty()) return;
  PolicyRun run(input, policy.variables, limits::kCelObjectCost);
  for (const NamedExpression& annotation : policy.annotations) {
    auto value = run.Evaluate(annotation.expression);
    if (!value.ok()) {
      if (!policy.ignore_failure) {
        findings.denied.push_back({&policy, use.binding, value.error().message(), ""});
      }
      continue;
    }
    if (!value->is(cel::Kind::kString)) continue;
    std::string text = Trimmed(value->text()).substr(0, limits::kCelAnnotationBytes);
    auto& values = findings.notes[policy.name + "/" + annotation.name];
    if (!text.empty() && std::find(values.begin(), values.end(), text) == values.end()) {
      values.push_back(std::move(text));
    }
  }
}

void Apply(const PolicyUse& use, const PolicyInput& input, Attributes& attributes,
           Findings& findings) {
  const Policy& policy = *use.policy;
  auto met = ConditionsMet(policy.conditions, input);
  if (!met.ok()) {
    if (!policy.ignore_failure) {
      Decide(use, 0, met.error().message(), "", attributes, findings);
    }
    return;
  }
  if (!*met) return;
  PolicyRun run(input, policy.variables, limits::kCelObjectCost);
  for (std::size_t i = 0; i < policy.validations.size(); ++i) {
    const Validation& validation = policy.validations[i];
    auto value = run.Evaluate(validation.expression);
    if (!value.ok()) {
      if (!policy.ignore_failure) {
        Decide(use, i, value.error().message(), "", attributes, findings);
      }
      if (run.exhausted()) return;
    } else if (!value->is_true()) {
      Decide(use, i, MessageOf(run, validation), validation.reason, attributes, findings);
    }
  }
  Annotate(use, input, findings);
}

Status Denied(const Attributes& attributes, const Decision& decision) {
  std::string message = "ValidatingAdmissionPolicy '" + decision.policy->name + "'";
  if (decision.binding != nullptr) message += " with binding '" + decision.binding->name + "'";
  message += " denied request: " + decision.message;
  const Status forbidden = Refuse(attributes, message);
  Reason reason = Reason::kInvalid;
  if (decision.reason == "Unauthorized") reason = Reason::kUnauthorized;
  if (decision.reason == "Forbidden") reason = Reason::kForbidden;
  if (decision.reason == "RequestEntityTooLarge") reason = Reason::kRequestEntityTooLarge;
  StatusDetails details = forbidden.details();
  details.causes.push_back({"", message, ""});
  return Status(reason, forbidden.message(), std::move(details));
}

}  // namespace

Result<void> ValidateByPolicies(const PolicyContext& context,
                                const std::vector<BoundPolicy>& policies, Attributes& attributes,
                                const Json* object) {
  const std::vector<PolicyUse> uses = FindUses(context, policies, attributes, object);
  if (uses.empty()) return Ok();
  Findings findings;
  const ObjectPtr ns = NamespaceFor(context, attributes);
  for (const PolicyUse& use : uses) {
    if (!use.error.empty()) {
      if (!use.policy->ignore_failure) {
        findings.denied.push_back({use.policy, use.binding, use.error, ""});
      }
      continue;
    }
    std::optional<Json> shown, shown_old;
    PolicyInput input{attributes, use.invocation, object, attributes.old,
                      use.params ? &*use.params : nullptr, ns};
    if (use.invocation.kind != attributes.kind) {
      if (object != nullptr) shown = TRY(attributes.convert(*use.invocation.type, *object));
      if (attributes.old != nullptr) {
        shown_old = TRY(attributes.convert(*use.invocation.type, *attributes.old));
      }
      input.object = shown ? &*shown : nullptr;
      input.old = shown_old ? &*shown_old : nullptr;
    }
    Apply(use, input, attributes, findings);
  }
  for (const auto& [key, values] : findings.notes) {
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ", ") + value;
    if (!joined.empty()) attributes.annotations[key] = joined;
  }
  if (!findings.failures.empty()) {
    attributes.annotations["validation.policy.admission.k8s.io/validation_failure"] =
        DumpJson(findings.failures);
  }
  if (findings.denied.empty()) return Ok();
  return Denied(attributes, findings.denied.front());
}

}  // namespace mailroom::admission
