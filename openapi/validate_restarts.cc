// When containers are started anew: by their own policy and rules, and to be resized.
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kRules = 20;
constexpr std::size_t kExitCodes = 255;

void CheckRule(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  CheckChoice(check, StringAt(rule, {"action"}), path + ".action", {"Restart", "RestartAllContainers"});
  const Json* codes = Find(rule, {"exitCodes"});
  if (codes == nullptr) return check.Required(path + ".exitCodes", "must be specified");
  CheckChoice(check, StringAt(*codes, {"operator"}), path + ".exitCodes.operator", {"In", "NotIn"});
  const std::size_t values = ArrayAt(*codes, {"values"}).size();
  if (values > kExitCodes) {
    check.causes.push_back(TooMany(path + ".exitCodes.values", values, kExitCodes));
  }
}

}  // namespace

void CheckRestartPolicy(const PodCheck& pod, const Json& container, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  const Json* policy = Find(container, {"restartPolicy"});
  const Json& rules = ArrayAt(container, {"restartPolicyRules"});
  if (policy == nullptr) {
    if (rules.empty()) return;
    check.Required(path + ".restartPolicy", "must specify restartPolicy when restart rules are used");
    // Of init containers no more is said.
    if (path.starts_with(pod.path + ".initContainers[")) return;
  }
  CheckGivenChoice(check, policy, path + ".restartPolicy", {"Always", "Never", "OnFailure"});
  const std::string field = path + ".restartPolicyRules";
  if (rules.size() > kRules) check.causes.push_back(TooMany(field, rules.size(), kRules));
  for (std::size_t i = 0; i < rules.size(); ++i) CheckRule(check, rules[i], Indexed(field, i));
}

void CheckResizePolicy(const PodCheck& pod, const Json& container, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  const bool never = StringAt(pod.spec, {"restartPolicy"}) == "Never";
  const std::string field = path + ".resizePolicy";
  const Json& list = ArrayAt(container, {"resizePolicy"});
  std::set<std::string> known;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = StringAt(list[i], {"resourceName"});
    const std::string policy = StringAt(list[i], {"restartPolicy"});
    if (!known.insert(name).second) {
      check.causes.push_back(DuplicateValue(Indexed(field, i), Quoted(name)));
    }
    CheckNeededChoice(check, name, field, {"cpu", "memory"});
    CheckNeededChoice(check, policy, field, {"NotRequired", "RestartContainer"});
    if (never && policy != "NotRequired") {
      check.Invalid(field, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

}  // namespace mailroom::openapi
