// PodDisruptionBudgets: how many pods may go, and what their status says.
#include <algorithm>
#include <set>

#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kReasonBytes = 1024, kMessageBytes = 32 * 1024;  // of a condition

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A count, or up to 100%.
void CheckShare(const BuiltinCheck& check, const char* member) {
  const Json* value = Find(check.object, {"spec", member});
  if (value == nullptr) return;
  const std::string path = std::string("spec.") + member;
  if (!value->is_string()) return check.NonNegative({"spec", member});
  const std::string& text = value->get_ref<const std::string&>();
  const std::string digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  if (!text.ends_with('%') || digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), IsDigit)) {
    return check.Invalid(path, *value,
                         "a valid percent string must be a numeric string followed by an ending "
                         "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  }
  const std::string number = digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  if (number.size() > 3 || (number.size() == 3 && number != "100")) {
    check.Invalid(path, *value, "must not be greater than 100%");
  }
}

// A member as errors show it.
std::string Shown(const Json& object, const char* member) {
  const Json* found = Find(object, {member});
  return found == nullptr ? "null" : Rendered(*found);
}

std::string ShownSelector(const Json& spec) {
  const Json* selector = Find(spec, {"selector"});
  if (selector == nullptr) return "null";
  std::string out;
  for (const char* member : {"matchLabels", "matchExpressions"}) {
    const Json* found = Find(*selector, {member});
    if (found == nullptr || found->empty()) continue;
    out += (out.empty() ? "\"" : ",\"") + std::string(member) + "\":" + Rendered(*found);
  }
  return "{" + out + "}";
}

// The spec as errors show it: under other names of its members, in their own order.
std::string ShownSpec(const Json& spec) {
  return "{\"MinAvailable\":" + Shown(spec, "minAvailable") +
         ",\"Selector\":" + ShownSelector(spec) +
         ",\"MaxUnavailable\":" + Shown(spec, "maxUnavailable") +
         ",\"UnhealthyPodEvictionPolicy\":" + Shown(spec, "unhealthyPodEvictionPolicy") + "}";
}

bool IsReason(const std::string& text) {
  auto inner = [](char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == ',' || c == ':'; };
  return IsLetter(text.front()) && text.back() != ',' && text.back() != ':' &&
         std::all_of(text.begin(), text.end(), inner);
}

void CheckCondition(const BuiltinCheck& check, const Json& condition, const std::string& path) {
  const std::string type = StringAt(condition, {"type"}), status = StringAt(condition, {"status"});
  AddInvalid(check.causes, path + ".type", type, CheckQualifiedName(type));
  if (status != "True" && status != "False" && status != "Unknown") {
    check.causes.push_back(NotSupported(path + ".status", status, {"False", "True", "Unknown"}));
  }
  const std::int64_t generation = IntAt(condition, {"observedGeneration"});
  if (generation < 0) {
    check.Invalid(path + ".observedGeneration", generation,
                  "must be greater than or equal to zero");
  }
  if (StringAt(condition, {"lastTransitionTime"}).empty()) {
    check.Required(path + ".lastTransitionTime");
  }
  const std::string reason = StringAt(condition, {"reason"});
  if (reason.empty()) {
    check.Required(path + ".reason");
  } else if (!IsReason(reason)) {
    check.Invalid(path + ".reason", reason,
                  "a condition reason must start with alphabetic character, optionally followed "
                  "by a string of alphanumeric characters or '_,:', and must end with an "
                  "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                  "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > kReasonBytes) check.causes.push_back(TooLong(path + ".reason", kReasonBytes));
  if (StringAt(condition, {"message"}).size() > kMessageBytes) {
    check.causes.push_back(TooLong(path + ".message", kMessageBytes));
  }
}

void CheckBudgetStatus(const BuiltinCheck& check) {
  const Json& conditions = ArrayAt(check.object, {"status", "conditions"});
  std::set<std::string> types;
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string path = Indexed("status.conditions", i);
    const std::string type = StringAt(conditions[i], {"type"});
    if (!types.insert(type).second) {
      check.causes.push_back(DuplicateValue(path + ".type", Quoted(type)));
    }
    CheckCondition(check, conditions[i], path);
  }
  for (const char* count :
       {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}) {
    check.NonNegative({"status", count});
  }
}

// What an older selector had may stay.
SelectorValues ValuesLike(const Json* old) {
  const Json* selector = old == nullptr ? nullptr : Find(*old, {"spec", "selector"});
  if (selector == nullptr) return SelectorValues::kChecked;
  Causes faults;
  CheckSelector({*selector, nullptr, faults}, *selector, "", SelectorValues::kChecked);
  return faults.empty() ? SelectorValues::kChecked : SelectorValues::kAny;
}

}  // namespace

void CheckDisruptionBudget(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckBudgetStatus(check);
  const Json* spec = Find(check.object, {"spec"});
  if (spec == nullptr) return;
  if (Find(*spec, {"minAvailable"}) != nullptr && Find(*spec, {"maxUnavailable"}) != nullptr) {
    check.causes.push_back(InvalidValue("spec", ShownSpec(*spec),
                                        "minAvailable and maxUnavailable cannot be both set"));
  }
  CheckShare(check, "minAvailable");
  CheckShare(check, "maxUnavailable");
  if (const Json* selector = Find(*spec, {"selector"})) {
    CheckSelector(check, *selector, "spec.selector", ValuesLike(check.old));
  }
  const Json* policy = Find(*spec, {"unhealthyPodEvictionPolicy"});
  if (policy != nullptr && *policy != "AlwaysAllow" && *policy != "IfHealthyBudget") {
    check.causes.push_back(NotSupported("spec.unhealthyPodEvictionPolicy", *policy,
                                        {"AlwaysAllow", "IfHealthyBudget"}));
  }
}

}  // namespace mailroom::openapi
