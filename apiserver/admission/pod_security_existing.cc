#include "apiserver/admission/pod_security_existing.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "apiserver/admission/pod_security_checks.h"
#include "storage/object/json.h"

namespace mailroom::admission {
namespace {

// The UID of the pod's controller, or "".
std::string ControllerOf(const Object& pod) {
  if (!pod.meta().has_owners) return "";
  for (std::size_t i = 0;; ++i) {
    const std::string owner = "metadata.ownerReferences." + std::to_string(i);
    std::string uid = pod.ScalarAt(owner + ".uid");
    if (uid.empty() || pod.ScalarAt(owner + ".controller") == "true") return uid;
  }
}

// Pods of one controller are much alike: one of each comes before the rest.
std::vector<ObjectPtr> Prioritized(const std::vector<ObjectPtr>& pods) {
  std::vector<ObjectPtr> first, rest;
  std::unordered_set<std::string> seen;
  for (const ObjectPtr& pod : pods) {
    const std::string controller = ControllerOf(*pod);
    const bool again = !controller.empty() && !seen.insert(controller).second;
    (again ? rest : first).push_back(pod);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

struct Offenders {
  std::string name;  // the first by name
  std::size_t count = 0;

  void Add(std::string_view pod) {
    if (count++ == 0 || pod < name) name = pod;
  }
  std::string Text() const {
    if (count == 1) return name;
    if (count == 2) return name + " (and 1 other pod)";
    return name + " (and " + std::to_string(count - 1) + " other pods)";
  }
};

}  // namespace

std::vector<std::string> WarnOfExistingPods(const std::vector<ObjectPtr>& pods, const std::string& ns,
                                            const LevelVersion& enforce,
                                            const std::function<bool()>& late) {
  const std::vector<ObjectPtr> all = Prioritized(pods);
  const std::size_t most = std::min(all.size(), kExistingPodsChecked);
  std::map<std::string, Offenders> offenders;  // by what they do
  std::size_t checked = 0;
  while (checked < most) {
    const Object& pod = *all[checked++];
    const auto violations = FindViolations(enforce, pod.ToJson());
    if (!violations.empty()) offenders[ReasonsText(violations)].Add(pod.meta().name);
    if (late()) break;
  }
  std::vector<std::string> out, named;
  if (checked < all.size()) {
    out.push_back("new PodSecurity enforce level only checked against the first " +
                  std::to_string(checked) + " of " + std::to_string(all.size()) + " existing pods");
  }
  if (offenders.empty()) return out;
  out.push_back("existing pods in namespace " + Quoted(ns) +
                " violate the new PodSecurity enforce level " + Quoted(enforce.Text()));
  for (const auto& [reasons, who] : offenders) named.push_back(who.Text() + ": " + reasons);
  std::sort(named.begin(), named.end());
  out.insert(out.end(), named.begin(), named.end());
  return out;
}

}  // namespace mailroom::admission
