// PodDisruptionBudgets: how many pods may go, and what their status says.
#include <algorithm>

#include "openapi/validate_builtin.h"
#include "openapi/validate_conditions.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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

void CheckBudgetStatus(const BuiltinCheck& check) {
  CheckConditions(check, ArrayAt(check.object, {"status", "conditions"}), "status.conditions");
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
    InvalidInternal(check, "spec", "policy/v1.PodDisruptionBudgetSpec", spec,
                    "minAvailable and maxUnavailable cannot be both set");
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
