// Where a pod may run: node selector, affinity, tolerations, spreading, gates.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

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

void CheckNodeAffinity(const BuiltinCheck& check, const Json& affinity, const std::string& path,
                       bool strict) {
  if (const Json* must = Find(affinity, {kMust})) {
    CheckNodeSelector(check, *must, path + "." + kMust, strict);
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

void CheckKeys(const BuiltinCheck& check, const Json& keys, const Json* selector,
               const std::string& path) {
  if (keys.empty()) return;
  if (selector == nullptr) {
    return check.Forbidden(path, "must not be specified when labelSelector is not set");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].is_string()) {
      AddInvalid(check.causes, Indexed(path, i), keys[i], CheckQualifiedName(keys[i].get<std::string>()));
    }
  }
}

// Keys whose values are taken from the pod: no more is asked of them, and they are in one list.
void CheckLabelKeys(const BuiltinCheck& check, const Json& term, const std::string& path) {
  const Json* selector = Find(term, {"labelSelector"});
  const Json& same = ArrayAt(term, {"matchLabelKeys"});
  const Json& other = ArrayAt(term, {"mismatchLabelKeys"});
  CheckKeys(check, same, selector, path + ".matchLabelKeys");
  CheckKeys(check, other, selector, path + ".mismatchLabelKeys");
  std::set<std::string> selected;
  if (const Json* labels = selector == nullptr ? nullptr : Find(*selector, {"matchLabels"})) {
    for (const auto& [key, value] : labels->items()) selected.insert(key);
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (same[i].is_string()) places[same[i].get<std::string>()] = i;
  }
  // The requirement that came of a key is the first one that names it.
  for (const Json& requirement : selector == nullptr ? PodCheck::kNoSpec : ArrayAt(*selector, {"matchExpressions"})) {
    const std::string key = StringAt(requirement, {"key"});
    const auto place = places.find(key);
    if (!selected.insert(key).second && place != places.end()) {
      check.Invalid(Indexed(path, place->second), key, "exists in both matchLabelKeys and labelSelector");
    }
  }
  const std::set<Json> others(other.begin(), other.end());
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (!others.contains(same[i])) continue;
    check.Invalid(Indexed(path + ".matchLabelKeys", i), same[i],
                  "exists in both matchLabelKeys and mismatchLabelKeys");
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
  CheckLabelKeys(check, term, path);
  const std::string key = StringAt(term, {"topologyKey"});
  if (key.empty()) check.Required(path + ".topologyKey", "can not be empty");
  AddInvalid(check.causes, path + ".topologyKey", key, CheckQualifiedName(key));
}

void CheckPodAffinity(const PodCheck& pod, const std::string& member, SelectorValues values) {
  const Json* affinity = Find(pod.spec, {"affinity", member});
  if (affinity == nullptr) return;
  const std::string path = pod.path + ".affinity." + member;
  const Json& must = ArrayAt(*affinity, {kMust});
  for (std::size_t i = 0; i < must.size(); ++i) {
    CheckPodTerm(pod.check, must[i], Indexed(path + "." + kMust, i), values);
  }
  const Json& should = ArrayAt(*affinity, {kShould});
  for (std::size_t i = 0; i < should.size(); ++i) {
    const std::string field = Indexed(path + "." + kShould, i);
    CheckWeight(pod.check, should[i], field);
    const Json* term = Find(should[i], {"podAffinityTerm"});
    CheckPodTerm(pod.check, term == nullptr ? PodCheck::kNoSpec : *term, field + ".podAffinityTerm",
                 values);
  }
}

// Of a toleration that compares.
void CheckNumber(const BuiltinCheck& check, const std::string& value, const std::string& path) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  const bool digits = !value.empty() && value.find_first_not_of("0123456789", value[0] == '-') ==
                                            std::string::npos && value != "-";
  const bool padded = digits && value != "0" && value[value[0] == '-'] == '0';
  if (value.empty()) {
    check.Invalid(path, value, "must be non-empty");
  } else if (!digits || padded) {
    check.Invalid(path, value, "must be a valid decimal integer in canonical form");
  }
  if (error == std::errc() && stop == end) return;
  check.Invalid(path, value,
                "strconv.ParseInt: parsing " + Quoted(value) + ": " +
                    (digits ? "value out of range" : "invalid syntax"));
}

void CheckOperator(const BuiltinCheck& check, const Json& toleration, const std::string& path,
                   bool comparing) {
  const std::string op = StringAt(toleration, {"operator"}), value = StringAt(toleration, {"value"});
  const std::string field = path + ".operator";
  if (op == "Equal" || op.empty()) {
    const std::string complaint = CheckLabelValue(value);
    if (!complaint.empty()) check.Invalid(field, value, complaint);
  } else if (op == "Exists") {
    if (!value.empty()) check.Invalid(field, value, "value must be empty when `operator` is 'Exists'");
  } else if (op != "Gt" && op != "Lt") {
    CheckChoice(check, op, field, {"Equal", "Exists"});
  } else if (comparing) {
    CheckNumber(check, value, path + ".value");
  } else {
    check.causes.push_back(NotSupported(field, op, {"Equal", "Exists", "Lt", "Gt"}));
  }
}

void CheckToleration(const BuiltinCheck& check, const Json& toleration, const std::string& path,
                     bool comparing) {
  const std::string key = StringAt(toleration, {"key"}), op = StringAt(toleration, {"operator"});
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
  CheckOperator(check, toleration, path, comparing);
  if (effect.empty()) return;
  CheckChoice(check, effect, path + ".effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

// Old pods keep constraints whose keys are asked for twice, under the rules of before.
void CheckKeysOfBefore(const BuiltinCheck& check, const Json& constraint, const std::string& path) {
  const Json* selector = Find(constraint, {"labelSelector"});
  const Json& keys = ArrayAt(constraint, {"matchLabelKeys"});
  std::set<std::string> selected;
  if (const Json* labels = selector == nullptr ? nullptr : Find(*selector, {"matchLabels"})) {
    for (const auto& [key, value] : labels->items()) selected.insert(key);
  }
  if (selector != nullptr) {
    for (const Json& each : ArrayAt(*selector, {"matchExpressions"})) selected.insert(StringAt(each, {"key"}));
  } else if (!keys.empty()) {
    check.Forbidden(path, "must not be specified when labelSelector is not set");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].is_string()) continue;
    const std::string key = keys[i].get<std::string>();
    AddInvalid(check.causes, Indexed(path, i), key, CheckQualifiedName(key));
    if (selected.contains(key)) {
      check.Invalid(Indexed(path, i), key, "exists in both matchLabelKeys and labelSelector");
    }
  }
}

void CheckDomains(const BuiltinCheck& check, const Json& constraint, const std::string& path) {
  const Json* domains = Find(constraint, {"minDomains"});
  if (domains == nullptr || !domains->is_number_integer()) return;
  const std::string action = StringAt(constraint, {"whenUnsatisfiable"});
  if (domains->get<std::int64_t>() <= 0) check.Invalid(path, *domains, "must be greater than zero");
  if (action != "DoNotSchedule") {
    check.Invalid(path, *domains,
                  "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + action);
  }
}

// A key is spread over in one way: the constraints that a later one repeats.
std::vector<bool> Repeated(const Json& constraints) {
  std::set<std::pair<std::string, std::string>> later;
  std::vector<bool> repeated(constraints.size());
  for (std::size_t i = constraints.size(); i-- > 0;) {
    repeated[i] = !later
                       .emplace(StringAt(constraints[i], {"topologyKey"}),
                                StringAt(constraints[i], {"whenUnsatisfiable"}))
                       .second;
  }
  return repeated;
}

void TellRepeated(const BuiltinCheck& check, const Json& constraint, const std::string& path) {
  check.causes.push_back(DuplicateValue(path + ".{topologyKey, whenUnsatisfiable}",
                                        Quoted("{" + StringAt(constraint, {"topologyKey"}) + ", " +
                                               StringAt(constraint, {"whenUnsatisfiable"}) + "}")));
}

// Whether something is to be said of constraints that were stored.
template <typename Say>
bool Complains(const Json& constraints, Say say) {
  Causes causes;
  const BuiltinCheck check{constraints, nullptr, causes};
  for (const Json& constraint : constraints) say(check, constraint);
  return !causes.empty();
}

}  // namespace

bool HasValidSelectors(const Json& value) {
  if (!value.is_structured()) return true;
  for (const Json& expression : ArrayAt(value, {"matchExpressions"})) {
    for (const std::string& text : StringsAt(expression, {"values"})) {
      if (!CheckLabelValue(text).empty()) return false;
    }
  }
  return std::all_of(value.begin(), value.end(), HasValidSelectors);
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

void CheckAffinity(const PodCheck& pod) {
  const std::string path = pod.path + ".affinity.nodeAffinity";
  if (const Json* node = Find(pod.spec, {"affinity", "nodeAffinity"})) {
    const Json* before = Find(pod.before, {"affinity", "nodeAffinity", kMust});
    CheckNodeAffinity(pod.check, *node, path, before == nullptr || HasLabelValues(*before));
  }
  SelectorValues values = SelectorValues::kChecked;
  for (const char* member : {"podAffinity", "podAntiAffinity"}) {
    const Json* before = Find(pod.before, {"affinity", member});
    if (before != nullptr && !HasValidSelectors(*before)) values = SelectorValues::kAny;
  }
  CheckPodAffinity(pod, "podAffinity", values);
  CheckPodAffinity(pod, "podAntiAffinity", values);
}

void CheckGates(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
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
}

void CheckSpread(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  const auto check_selector = [](const BuiltinCheck& into, const Json& one, const std::string& path) {
    if (const Json* selector = Find(one, {"labelSelector"})) {
      CheckSelector(into, *selector, path + ".labelSelector", SelectorValues::kChecked);
    }
  };
  const Json& before = ArrayAt(pod.before, {"topologySpreadConstraints"});
  const bool odd_selectors = Complains(
      before, [&](const BuiltinCheck& into, const Json& one) { check_selector(into, one, ""); });
  const bool odd_keys = Complains(
      before, [](const BuiltinCheck& into, const Json& one) { CheckLabelKeys(into, one, ""); });
  const Json& constraints = ArrayAt(pod.spec, {"topologySpreadConstraints"});
  const std::vector<bool> repeated = Repeated(constraints);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Json& one = constraints[i];
    const std::string field = Indexed(pod.path + ".topologySpreadConstraints", i);
    const std::int64_t skew = IntAt(one, {"maxSkew"});
    if (skew <= 0) check.Invalid(field + ".maxSkew", skew, "must be greater than zero");
    if (StringAt(one, {"topologyKey"}).empty()) {
      check.Required(field + ".topologyKey", "can not be empty");
    }
    CheckChoice(check, StringAt(one, {"whenUnsatisfiable"}), field + ".whenUnsatisfiable",
                {"DoNotSchedule", "ScheduleAnyway"});
    if (repeated[i]) TellRepeated(check, one, field);
    CheckDomains(check, one, field + ".minDomains");
    for (const std::string member : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      CheckGivenChoice(check, Find(one, {member}), field + "." + member, {"Honor", "Ignore"});
    }
    if (odd_keys) {
      CheckKeysOfBefore(check, one, field + ".matchLabelKeys");
    } else {
      CheckLabelKeys(check, one, field);
    }
    if (!odd_selectors) check_selector(check, one, field);
  }
}

bool MayCompare(const PodCheck& pod) {
  for (const Json& toleration : ArrayAt(pod.before, {"tolerations"})) {
    const std::string op = StringAt(toleration, {"operator"});
    if (op == "Gt" || op == "Lt") return true;
  }
  return false;
}

void CheckTolerations(const BuiltinCheck& check, const Json& tolerations, const std::string& path,
                      bool comparing) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    CheckToleration(check, tolerations[i], Indexed(path, i), comparing);
  }
}

}  // namespace mailroom::openapi
