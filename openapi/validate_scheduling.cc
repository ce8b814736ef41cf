// Where a pod may run: node selector, affinity, tolerations, spreading, gates.
#include <algorithm>
#include <set>

#include "openapi/validate.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

void CheckRequirement(const BuiltinCheck& check, const Json& requirement, const std::string& path,
                      bool strict) {
  const std::string op = StringAt(requirement, {"operator"});
  const Json& values = ArrayAt(requirement, {"values"});
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      check.Required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      check.Forbidden(path + ".values",
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      check.Required(path + ".values",
                     "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    check.Invalid(path + ".operator", op, "not a valid selector operator");
  }
  const std::string key = StringAt(requirement, {"key"});
  AddInvalid(check.causes, path + ".key", key, CheckQualifiedName(key));
  for (std::size_t i = 0; strict && i < values.size(); ++i) {
    if (!values[i].is_string()) continue;
    const std::string complaint = CheckLabelValue(values[i].get<std::string>());
    if (!complaint.empty()) check.Invalid(Indexed(path + ".values", i), values[i], complaint);
  }
}

void CheckFieldRequirement(const BuiltinCheck& check, const Json& requirement,
                           const std::string& path) {
  const std::string op = StringAt(requirement, {"operator"});
  const std::string key = StringAt(requirement, {"key"});
  const Json& values = ArrayAt(requirement, {"values"});
  if (op != "In" && op != "NotIn") {
    check.Invalid(path + ".operator", op, "not a valid selector operator");
  } else if (values.size() != 1) {
    check.Required(path + ".values",
                   "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                   "selector");
  }
  if (key != "metadata.name") {
    return check.Invalid(path + ".key", key, "not a valid field selector key");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_string()) continue;
    AddInvalid(check.causes, Indexed(path + ".values", i), values[i],
               CheckSubdomain(values[i].get<std::string>()));
  }
}

void CheckNodeTerm(const BuiltinCheck& check, const Json& term, const std::string& path,
                   bool strict) {
  const Json& expressions = ArrayAt(term, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    CheckRequirement(check, expressions[i], Indexed(path + ".matchExpressions", i), strict);
  }
  const Json& fields = ArrayAt(term, {"matchFields"});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    CheckFieldRequirement(check, fields[i], Indexed(path + ".matchFields", i));
  }
}

void CheckWeight(const BuiltinCheck& check, const Json& term, const std::string& path) {
  const std::int64_t weight = IntAt(term, {"weight"});
  if (weight <= 0 || weight > 100) {
    check.Invalid(path + ".weight", weight, "must be in the range 1-100");
  }
}

constexpr const char* kMust = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kShould = "preferredDuringSchedulingIgnoredDuringExecution";

void CheckNodeAffinity(const BuiltinCheck& check, const Json& affinity, const std::string& path) {
  if (const Json* must = Find(affinity, {kMust})) {
    CheckNodeSelector(check, *must, path + "." + kMust, true);
  }
  const Json& should = ArrayAt(affinity, {kShould});
  for (std::size_t i = 0; i < should.size(); ++i) {
    const std::string field = Indexed(path + "." + kShould, i);
    CheckWeight(check, should[i], field);
    if (const Json* preference = Find(should[i], {"preference"})) {
      CheckNodeTerm(check, *preference, field + ".preference", false);
    }
  }
}

void CheckPodTerm(const BuiltinCheck& check, const Json& term, const std::string& path,
                  SelectorValues values) {
  for (const char* member : {"labelSelector", "namespaceSelector"}) {
    if (const Json* selector = Find(term, {member})) {
      CheckSelector(check, *selector, path + "." + member, values);
    }
  }
  for (const std::string& name : StringsAt(term, {"namespaces"})) {
    AddInvalid(check.causes, path + ".namespace", name, CheckLabel(name));
  }
  const std::string key = StringAt(term, {"topologyKey"});
  if (key.empty()) check.Required(path + ".topologyKey", "can not be empty");
  AddInvalid(check.causes, path + ".topologyKey", key, CheckQualifiedName(key));
}

void CheckPodAffinity(const BuiltinCheck& check, const Json& affinity, const std::string& path) {
  const SelectorValues values = SelectorRule(check);
  const Json& must = ArrayAt(affinity, {kMust});
  for (std::size_t i = 0; i < must.size(); ++i) {
    CheckPodTerm(check, must[i], Indexed(path + "." + kMust, i), values);
  }
  const Json& should = ArrayAt(affinity, {kShould});
  for (std::size_t i = 0; i < should.size(); ++i) {
    const std::string field = Indexed(path + "." + kShould, i);
    CheckWeight(check, should[i], field);
    if (const Json* term = Find(should[i], {"podAffinityTerm"})) {
      CheckPodTerm(check, *term, field + ".podAffinityTerm", values);
    }
  }
}

void CheckSpread(const BuiltinCheck& check, const Json& constraints, const std::string& path) {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Json& one = constraints[i];
    const std::string field = Indexed(path, i);
    const std::int64_t skew = IntAt(one, {"maxSkew"});
    if (skew <= 0) check.Invalid(field + ".maxSkew", skew, "must be greater than zero");
    const std::string key = StringAt(one, {"topologyKey"});
    const std::string action = StringAt(one, {"whenUnsatisfiable"});
    if (key.empty()) check.Required(field + ".topologyKey", "can not be empty");
    for (std::size_t k = i + 1; k < constraints.size(); ++k) {
      if (StringAt(constraints[k], {"topologyKey"}) == key &&
          StringAt(constraints[k], {"whenUnsatisfiable"}) == action) {
        check.causes.push_back(DuplicateValue(field + ".{topologyKey, whenUnsatisfiable}",
                                              Quoted("{" + key + ", " + action + "}")));
        break;
      }
    }
    if (const Json* domains = Find(one, {"minDomains"}); domains && domains->is_number_integer()) {
      if (domains->get<std::int64_t>() <= 0) {
        check.Invalid(field + ".minDomains", *domains, "must be greater than zero");
      }
      if (action != "DoNotSchedule") {
        check.Invalid(field + ".minDomains", *domains,
                      "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + action);
      }
    }
    if (const Json* selector = Find(one, {"labelSelector"})) {
      CheckSelector(check, *selector, field + ".labelSelector");
    }
  }
}

// Whether all values of the expressions of all label selectors in there are label values.
bool HasValidSelectors(const Json& value) {
  if (!value.is_structured()) return true;
  for (const Json& expression : ArrayAt(value, {"matchExpressions"})) {
    for (const std::string& text : StringsAt(expression, {"values"})) {
      if (!CheckLabelValue(text).empty()) return false;
    }
  }
  return std::all_of(value.begin(), value.end(), HasValidSelectors);
}

}  // namespace

void CheckToleration(const BuiltinCheck& check, const Json& toleration, const std::string& path) {
  const std::string key = StringAt(toleration, {"key"}), op = StringAt(toleration, {"operator"});
  const std::string value = StringAt(toleration, {"value"});
  const std::string effect = StringAt(toleration, {"effect"});
  if (!key.empty()) AddInvalid(check.causes, path + ".key", key, CheckQualifiedName(key));
  if (key.empty() && op != "Exists") {
    check.Invalid(path + ".operator", op,
                  "operator must be Exists when `key` is empty, which means \"match all values and "
                  "all keys\"");
  }
  if (Find(toleration, {"tolerationSeconds"}) != nullptr && effect != "NoExecute") {
    check.Invalid(path + ".effect", effect,
                  "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (op == "Equal" || op.empty()) {
    const std::string complaint = CheckLabelValue(value);
    if (!complaint.empty()) check.Invalid(path + ".operator", value, complaint);
  } else if (op == "Exists" && !value.empty()) {
    check.Invalid(path + ".operator", value, "value must be empty when `operator` is 'Exists'");
  }
}

void CheckNodeSelector(const BuiltinCheck& check, const Json& selector, const std::string& path,
                       bool strict) {
  const std::string field = path + ".nodeSelectorTerms";
  const Json& terms = ArrayAt(selector, {"nodeSelectorTerms"});
  if (terms.empty()) check.Required(field, "must have at least one node selector term");
  for (std::size_t i = 0; i < terms.size(); ++i) {
    CheckNodeTerm(check, terms[i], Indexed(field, i), strict);
  }
}

bool HasLabelValues(const Json& node_selector) {
  for (const Json& term : ArrayAt(node_selector, {"nodeSelectorTerms"})) {
    for (const Json& expression : ArrayAt(term, {"matchExpressions"})) {
      for (const std::string& value : StringsAt(expression, {"values"})) {
        if (!CheckLabelValue(value).empty()) return false;
      }
    }
  }
  return true;
}

SelectorValues SelectorRule(const BuiltinCheck& check) {
  if (check.old == nullptr || HasValidSelectors(*check.old)) return SelectorValues::kChecked;
  return SelectorValues::kAny;
}

void CheckScheduling(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  for (Cause& cause :
       ValidateLabels(Find(pod.spec, {"nodeSelector"}), pod.path + ".nodeSelector")) {
    check.causes.push_back(std::move(cause));
  }
  if (const Json* node = Find(pod.spec, {"affinity", "nodeAffinity"})) {
    CheckNodeAffinity(check, *node, pod.path + ".affinity.nodeAffinity");
  }
  for (const char* member : {"podAffinity", "podAntiAffinity"}) {
    if (const Json* affinity = Find(pod.spec, {"affinity", member})) {
      CheckPodAffinity(check, *affinity, pod.path + ".affinity." + member);
    }
  }
  const Json& gates = ArrayAt(pod.spec, {"readinessGates"});
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string type = StringAt(gates[i], {"conditionType"});
    AddInvalid(check.causes, Indexed(pod.path + ".readinessGates", i) + ".conditionType", type,
               CheckQualifiedName(type));
  }
  const Json& holds = ArrayAt(pod.spec, {"schedulingGates"});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const std::string name = StringAt(holds[i], {"name"});
    const std::string field = Indexed(pod.path + ".schedulingGates", i);
    AddInvalid(check.causes, field, name, CheckQualifiedName(name));
    if (!seen.insert(name).second) check.causes.push_back(DuplicateValue(field, Quoted(name)));
  }
  CheckSpread(check, ArrayAt(pod.spec, {"topologySpreadConstraints"}),
              pod.path + ".topologySpreadConstraints");
  const Json& tolerations = ArrayAt(pod.spec, {"tolerations"});
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    CheckToleration(check, tolerations[i], Indexed(pod.path + ".tolerations", i));
  }
}

}  // namespace mailroom::openapi
