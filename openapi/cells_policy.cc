// Columns of access, admission, certificate, scheduling and flow-control kinds.
#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

Json RoleRef(const Json& binding) {
  return TextAt(binding, "roleRef.kind") + "/" + TextAt(binding, "roleRef.name");
}

Cell Subjects(std::string_view kind) {
  return [kind](const Json& binding) {
    std::vector<std::string> names;
    for (const Json& subject : ListAt(binding, "subjects")) {
      if (StringAt(subject, {"kind"}) != kind) continue;
      std::string name = StringAt(subject, {"name"});
      if (kind == "ServiceAccount") name = StringAt(subject, {"namespace"}) + "/" + name;
      names.push_back(std::move(name));
    }
    return Json(Join(names, ", "));
  };
}

std::vector<Column> BindingColumns() {
  return {NameColumn(),
          Shown("Role", RoleRef),
          AgeColumn(),
          Wide("Users", Subjects("User")),
          Wide("Groups", Subjects("Group")),
          Wide("ServiceAccounts", Subjects("ServiceAccount"))};
}

Json RequestedDuration(const Json& request) {
  const Json* seconds = Find(request, {"spec", "expirationSeconds"});
  if (seconds == nullptr || !seconds->is_number()) return "<none>";
  return HumanDuration(seconds->get<std::int64_t>());
}

Json RequestCondition(const Json& request) {
  const Json& conditions = ListAt(request, "status.conditions");
  std::string text = OfType(conditions, "Denied") != nullptr     ? "Denied"
                     : OfType(conditions, "Approved") != nullptr ? "Approved"
                                                                 : "Pending";
  if (OfType(conditions, "Failed") != nullptr) text += ",Failed";
  if (!TextAt(request, "status.certificate").empty()) text += ",Issued";
  return text;
}

Json ParamKind(const Json& policy) {
  const Json* kind = Find(policy, {"spec", "paramKind"});
  if (kind == nullptr || !kind->is_object()) return "<unset>";
  return StringAt(*kind, {"apiVersion"}) + "/" + StringAt(*kind, {"kind"});
}

Json ParamRef(const Json& binding) {
  const Json* ref = Find(binding, {"spec", "paramRef"});
  if (ref == nullptr || !ref->is_object()) return "<unset>";
  const std::string name = StringAt(*ref, {"name"}), ns = StringAt(*ref, {"namespace"});
  if (!name.empty()) return (ns.empty() ? "*" : ns) + "/" + name;
  const Json* selector = Find(*ref, {"selector"});
  return selector == nullptr ? "<unset>" : SelectorText(selector);
}

std::vector<Column> PolicyBindingColumns() {
  return {NameColumn(), Shown("PolicyName", Text("spec.policyName")), Shown("ParamRef", ParamRef),
          AgeColumn()};
}

std::vector<Column> WebhookColumns() {
  return {NameColumn(), ShownAs("Webhooks", "integer", Count("webhooks")), AgeColumn()};
}

Json Dangling(const Json& flow_schema) {
  const Json* dangling = OfType(ListAt(flow_schema, "status.conditions"), "Dangling");
  return dangling == nullptr ? "?" : StringAt(*dangling, {"status"});
}

// A number below spec.limited, which only levels that limit have.
Cell Limit(std::string dotted) {
  return [dotted = "spec.limited." + dotted](const Json& level) -> Json {
    const Json* value = FindDotted(level, dotted);
    return value != nullptr && value->is_number() ? *value : Json("<none>");
  };
}

}  // namespace

std::vector<KindColumns> PolicyColumns() {
  constexpr const char* kAdmission = "admissionregistration.k8s.io";
  constexpr const char* kFlow = "flowcontrol.apiserver.k8s.io";
  const std::string queuing = "limitResponse.queuing.";
  return {
      {"rbac.authorization.k8s.io", "RoleBinding", BindingColumns()},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding", BindingColumns()},
      {"certificates.k8s.io",
       "CertificateSigningRequest",
       {NameColumn(), AgeColumn(), Shown("SignerName", Text("spec.signerName", "<none>")),
        Shown("Requestor", Text("spec.username")), Shown("RequestedDuration", RequestedDuration),
        Shown("Condition", RequestCondition)}},
      {"scheduling.k8s.io",
       "PriorityClass",
       {NameColumn(), ShownAs("Value", "integer", Number("value")),
        ShownAs("Global-Default", "boolean", Flag("globalDefault")), AgeColumn(),
        Shown("PreemptionPolicy", Text("preemptionPolicy"))}},
      {"node.k8s.io",
       "RuntimeClass",
       {NameColumn(), Shown("Handler", Text("handler")), AgeColumn()}},
      {kAdmission, "MutatingWebhookConfiguration", WebhookColumns()},
      {kAdmission, "ValidatingWebhookConfiguration", WebhookColumns()},
      {kAdmission,
       "ValidatingAdmissionPolicy",
       {NameColumn(), ShownAs("Validations", "integer", Count("spec.validations")),
        Shown("ParamKind", ParamKind), AgeColumn()}},
      {kAdmission, "ValidatingAdmissionPolicyBinding", PolicyBindingColumns()},
      {kAdmission,
       "MutatingAdmissionPolicy",
       {NameColumn(), ShownAs("Mutations", "integer", Count("spec.mutations")),
        Shown("ParamKind", ParamKind), AgeColumn()}},
      {kAdmission, "MutatingAdmissionPolicyBinding", PolicyBindingColumns()},
      {kFlow,
       "FlowSchema",
       {NameColumn(), Shown("PriorityLevel", Text("spec.priorityLevelConfiguration.name")),
        Shown("MatchingPrecedence", Number("spec.matchingPrecedence")),
        Shown("DistinguisherMethod", Text("spec.distinguisherMethod.type", "<none>")), AgeColumn(),
        Shown("MissingPL", Dangling)}},
      {kFlow,
       "PriorityLevelConfiguration",
       {NameColumn(), Shown("Type", Text("spec.type")),
        Shown("NominalConcurrencyShares", Limit("nominalConcurrencyShares")),
        Shown("Queues", Limit(queuing + "queues")), Shown("HandSize", Limit(queuing + "handSize")),
        Shown("QueueLengthLimit", Limit(queuing + "queueLengthLimit")), AgeColumn()}},
  };
}

}  // namespace mailroom::openapi
