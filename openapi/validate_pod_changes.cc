// What an update of a pod may change: little on the main endpoint, containers that look into it
// through ephemeralcontainers, amounts of cpu and memory through resize.
#include <algorithm>
#include <map>
#include <set>

#include "openapi/builtin.h"
#include "openapi/defaults.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_shown.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kLists[] = {"containers", "initContainers"};

// A pod that a kubelet made from a file; here is only its image.
bool IsMirror(const Json& pod) {
  return Find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
}

// The only thing to say about such a pod.
void RefusePod(const BuiltinCheck& check, std::string why) {
  check.causes.clear();
  check.Forbidden(kWholeObject, std::move(why));
}

// The spec with everything an update may change taken from `old`.
Json WithMutableParts(Json spec, const Json& old) {
  for (const char* list : kLists) {
    Json* now = Find(spec, {list});
    const Json& before = ArrayAt(old, {list});
    if (now == nullptr || !now->is_array() || now->size() != before.size()) continue;
    for (std::size_t i = 0; i < before.size(); ++i) {
      Set((*now)[i], {"image"}, StringAt(before[i], {"image"}));
    }
  }
  for (const char* member : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    if (const Json* before = Find(old, {member})) {
      Set(spec, {member}, *before);
    } else {
      Erase(spec, {member});
    }
  }
  if (IntAt(old, {"terminationGracePeriodSeconds"}) < 0 &&
      IntAt(spec, {"terminationGracePeriodSeconds"}) == 1) {
    Set(spec, {"terminationGracePeriodSeconds"}, IntAt(old, {"terminationGracePeriodSeconds"}));
  }
  return spec;
}

// False when no more is to be said.
bool CheckDeadline(const BuiltinCheck& check) {
  const std::string field = "spec.activeDeadlineSeconds";
  const Json* now = Find(check.object, {"spec", "activeDeadlineSeconds"});
  const Json* before = Find(*check.old, {"spec", "activeDeadlineSeconds"});
  if (now == nullptr) {
    if (before != nullptr) {
      check.Invalid(field, Json(), "must not update from a positive integer to nil value");
    }
    return true;
  }
  const auto seconds = now->is_number_integer() ? now->get<std::int64_t>() : 0;
  if (seconds < 0 || seconds > INT32_MAX) {
    check.Invalid(field, *now, "must be between 0 and 2147483647, inclusive");
    return false;
  }
  if (before == nullptr || !before->is_number_integer() || before->get<std::int64_t>() >= seconds) {
    return true;
  }
  check.Invalid(field, *now, "must be less than or equal to previous value");
  return false;
}

// Tolerations are only added; how long an old one lasts may change.
void CheckTolerationChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  const Json& now = ArrayAt(spec, {"tolerations"});
  const auto lasting = [](Json toleration) {
    Erase(toleration, {"tolerationSeconds"});
    return toleration;
  };
  std::set<Json> kept;
  for (const Json& each : now) kept.insert(lasting(each));
  for (const Json& old : ArrayAt(before, {"tolerations"})) {
    if (kept.contains(lasting(old))) continue;
    return check.Forbidden("spec.tolerations",
                           "existing toleration can not be modified except its tolerationSeconds");
  }
  CheckTolerations(check, now, "spec.tolerations", MayCompare({check, spec, "spec", before}));
}

// Scheduling gates are only removed.
void CheckGateChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  std::set<std::string> known;
  for (const Json& gate : ArrayAt(before, {"schedulingGates"})) {
    known.insert(StringAt(gate, {"name"}));
  }
  const Json& now = ArrayAt(spec, {"schedulingGates"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string name = StringAt(now[i], {"name"});
    if (known.contains(name)) continue;
    check.Forbidden(Indexed("spec.schedulingGates", i) + ".name",
                    "only deletion is allowed, but found new scheduling gate '" + name + "'");
  }
}

// A pod that still waits at a gate may be given more labels of nodes to choose by.
void CheckNodeLabels(const BuiltinCheck& check, Json& spec, const Json& before) {
  const Json* now = Find(spec, {"nodeSelector"});
  const Json* old = Find(before, {"nodeSelector"});
  for (const auto& [key, value] : (old == nullptr ? PodCheck::kNoSpec : *old).items()) {
    const Json* kept = now == nullptr ? nullptr : Find(*now, {key});
    if (kept != nullptr && *kept == value) continue;
    check.Invalid("spec.nodeSelector", now == nullptr ? Json() : *now,
                  "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    break;
  }
  if (old == nullptr) {
    Erase(spec, {"nodeSelector"});
  } else {
    Set(spec, {"nodeSelector"}, Json(*old));
  }
}

// Whether `now` begins with all of `before`.
bool OnlyAdds(const Json& now, const Json& before) {
  return now.size() >= before.size() && std::equal(before.begin(), before.end(), now.begin());
}

bool TermOnlyAdds(const Json& now, const Json& before) {
  const Json &labels = ArrayAt(before, {"matchExpressions"}), &fields = ArrayAt(before, {"matchFields"});
  const Json &new_labels = ArrayAt(now, {"matchExpressions"}), &new_fields = ArrayAt(now, {"matchFields"});
  // A term without requirements is met by no node; it stays so.
  if (labels.empty() && fields.empty()) return new_labels.empty() && new_fields.empty();
  return OnlyAdds(new_labels, labels) && OnlyAdds(new_fields, fields);
}

// And its terms may ask for more.
void CheckNodeTerms(const BuiltinCheck& check, Json& spec, const Json& before) {
  constexpr const char* kMust = "requiredDuringSchedulingIgnoredDuringExecution";
  const std::string path = std::string("spec.affinity.nodeAffinity.") + kMust + ".nodeSelectorTerms";
  const Json& old = ArrayAt(before, {"affinity", "nodeAffinity", kMust, "nodeSelectorTerms"});
  const Json& now = ArrayAt(spec, {"affinity", "nodeAffinity", kMust, "nodeSelectorTerms"});
  if (!old.empty() && old.size() != now.size()) {
    check.causes.push_back(
        InvalidValue(path, ShownTerms(now),
                     "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
  } else {
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (TermOnlyAdds(now[i], old[i])) continue;
      check.causes.push_back(
          InvalidValue(Indexed(path, i), ShownTerm(now[i]),
                       "only additions are allowed (no mutations or deletions)"));
    }
  }
  if (const Json* affinity = Find(before, {"affinity", "nodeAffinity"})) {
    Set(spec, {"affinity", "nodeAffinity"}, Json(*affinity));
    return;
  }
  Erase(spec, {"affinity", "nodeAffinity"});
  const Json* left = Find(spec, {"affinity"});
  if (left != nullptr && left->empty() && Find(before, {"affinity"}) == nullptr) Erase(spec, {"affinity"});
}

// False when containers were added or removed.
bool CheckImages(const BuiltinCheck& check, const Json& spec, const Json& before) {
  for (const std::string list : kLists) {
    const Json& now = ArrayAt(spec, {list});
    if (now.size() != ArrayAt(before, {list}).size()) {
      check.Forbidden("spec." + list, "pod updates may not add or remove containers");
      return false;
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::string path = Indexed("spec." + list, i);
      if (StringAt(now[i], {"image"}).empty()) check.Required(path + ".image");
      CheckImageBlanks(check, now[i], path);
    }
  }
  return true;
}

void CheckMainChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  if (!CheckImages(check, spec, before) || !CheckDeadline(check)) return;
  CheckTolerationChange(check, spec, before);
  CheckGateChange(check, spec, before);
  if (before == spec) return;
  Json rest = WithMutableParts(spec, before);
  if (!ArrayAt(before, {"schedulingGates"}).empty()) {
    CheckNodeLabels(check, rest, before);
    CheckNodeTerms(check, rest, before);
  }
  if (rest == before || IsSameValue(*BuiltinType("core/v1.PodSpec"), &rest, &before)) return;
  check.Forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)");
}

void CheckEphemeralChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  if (IsMirror(*check.old)) {
    return RefusePod(check, "static pods do not support ephemeral containers");
  }
  std::map<std::string, const Json*> now;
  for (const Json& each : ArrayAt(spec, {"ephemeralContainers"})) now[StringAt(each, {"name"})] = &each;
  for (const Json& old : ArrayAt(before, {"ephemeralContainers"})) {
    const std::string name = StringAt(old, {"name"});
    const auto found = now.find(name);
    if (found != now.end() && *found->second == old) continue;
    check.Forbidden("spec.ephemeralContainers",
                    "existing ephemeral containers " + Quoted(name) + " may not be " +
                        (found == now.end() ? "removed\n" : "changed\n"));
  }
}

// Before the amounts: which containers there are does not change. Whether it does is no question of what
// was told: after very many faults nothing is.
bool SameContainers(const BuiltinCheck& check, const Json& spec, const Json& before) {
  bool same = true;
  for (const std::string list : kLists) {
    const Json &now = ArrayAt(spec, {list}), &old = ArrayAt(before, {list});
    if (now.size() != old.size()) {
      check.Forbidden("spec." + list, list + " may not be added or removed on resize");
      same = false;
      continue;
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (StringAt(now[i], {"name"}) == StringAt(old[i], {"name"})) continue;
      check.Forbidden(Indexed("spec." + list, i) + ".name",
                      list + " may not be renamed or reordered on resize");
      same = false;
    }
  }
  return same;
}

bool Removes(const Json& now, const Json& before, std::string_view list) {
  const Json* old = Find(before, {"resources", list});
  if (old == nullptr || !old->is_object()) return false;
  const Json* kept = Find(now, {"resources", list});
  for (const auto& [name, amount] : old->items()) {
    if (kept == nullptr || !kept->contains(name)) return true;
  }
  return false;
}

// `owner` (a container, or the whole spec) with the amounts of cpu and memory of `old`.
Json WithOldAmounts(Json owner, const Json& old) {
  for (const char* list : {"requests", "limits"}) {
    Json kept = Json::object();
    if (const Json* now = Find(owner, {"resources", list}); now != nullptr && now->is_object()) {
      kept = *now;
    }
    for (const char* name : {"cpu", "memory"}) {
      kept.erase(name);
      if (const Json* amount = Find(old, {"resources", list, name})) kept[name] = *amount;
    }
    if (!kept.empty()) {
      Set(owner, {"resources", list}, std::move(kept));
    } else {
      Erase(owner, {"resources", list});
    }
  }
  const Json* left = Find(owner, {"resources"});
  if (left != nullptr && left->empty() && Find(old, {"resources"}) == nullptr) {
    Erase(owner, {"resources"});
  }
  return owner;
}

void CheckContainerResize(const BuiltinCheck& check, const Json& now, const Json& before,
                          const std::string& path) {
  for (const std::string list : {"requests", "limits"}) {
    if (!Removes(now, before, list)) continue;
    check.Forbidden(path + ".resources." + list, "resource " + list + " cannot be removed");
  }
}

// Containers that end before the pod runs have nothing to restart for.
bool RestartsForResize(const Json& container) {
  const Json& policies = ArrayAt(container, {"resizePolicy"});
  return std::any_of(policies.begin(), policies.end(), [](const Json& policy) {
    return StringAt(policy, {"restartPolicy"}) == "RestartContainer";
  });
}

void CheckResizedContainers(const BuiltinCheck& check, const Json& spec, const Json& before) {
  for (const char* list : {"initContainers", "containers"}) {
    const Json &now = ArrayAt(spec, {list}), &old = ArrayAt(before, {list});
    for (std::size_t i = 0; i < old.size(); ++i) {
      CheckContainerResize(check, now[i], old[i], Indexed(std::string("spec.") + list, i));
    }
  }
  const Json &now = ArrayAt(spec, {"containers"}), &old = ArrayAt(before, {"containers"});
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (WithOldAmounts(now[i], old[i]) == old[i]) continue;
    check.Forbidden("spec", "only cpu and memory resources are mutable");
  }
  const Json &first = ArrayAt(spec, {"initContainers"}), &was = ArrayAt(before, {"initContainers"});
  for (std::size_t i = 0; i < was.size(); ++i) {
    const std::string path = Indexed("spec.initContainers", i);
    if (WithOldAmounts(first[i], was[i]) != was[i]) {
      check.Forbidden(path,
                      "only cpu and memory resources for init or sidecar containers are mutable");
    }
    const bool sidecar = StringAt(first[i], {"restartPolicy"}) == "Always";
    if (first[i] != was[i] && !sidecar && RestartsForResize(first[i])) {
      check.Forbidden(path,
                      "non-sidecar init containers with a resize policy of RestartContainer "
                      "cannot be resized");
    }
  }
}

void CheckPodAmountChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  const Json *now = Find(spec, {"resources"}), *old = Find(before, {"resources"});
  if (old != nullptr && now == nullptr) {
    return check.Forbidden("spec.resources", "pod-level resources cannot be removed");
  }
  for (const std::string list : {"requests", "limits"}) {
    if (!Removes(spec, before, list)) continue;
    check.Forbidden("spec.resources." + list, "pod-level resource " + list + " cannot be removed");
  }
  const Json masked = WithOldAmounts(spec, before);
  const Json* left = Find(masked, {"resources"});
  if ((left == nullptr) != (old == nullptr) || (left != nullptr && *left != *old)) {
    check.Forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

// A kubelet that cannot resize shows no amounts with its running containers.
bool NodeResizes(const Json& pod) {
  for (const Json& each : ArrayAt(pod, {"status", "containerStatuses"})) {
    if (Find(each, {"state", "running"}) != nullptr) return Find(each, {"resources"}) != nullptr;
  }
  return true;
}

void CheckResize(const BuiltinCheck& check, const Json& spec, const Json& before) {
  if (IsMirror(*check.old)) return RefusePod(check, "static pods cannot be resized");
  if (StringAt(before, {"os", "name"}) == "windows") {
    return RefusePod(check, "windows pods cannot be resized");
  }
  const std::string shown = StringAt(*check.old, {"status", "qosClass"});
  if ((shown.empty() ? QosClassOf(*check.old) : shown) != QosClassOf(check.object)) {
    check.Invalid("spec", shown, "Pod QOS Class may not change as a result of resizing");
  }
  if (!NodeResizes(*check.old)) {
    check.Forbidden("spec", "Pod running on node without support for resize");
  }
  CheckPodAmountChange(check, spec, before);
  if (SameContainers(check, spec, before)) CheckResizedContainers(check, spec, before);
}

}  // namespace

void CheckPodChange(const BuiltinCheck& check) {
  const Json* spec = Find(check.object, {"spec"});
  const Json* before = Find(*check.old, {"spec"});
  if (spec == nullptr || before == nullptr) return;
  if (check.subresource == "resize") return CheckResize(check, *spec, *before);
  CheckAnnotationChanges(check);
  CheckPodAnnotations({check, *spec, "spec", *before}, Find(check.object, {"metadata", "annotations"}),
                      "metadata.annotations");
  if (check.subresource == "ephemeralcontainers") {
    CheckEphemeralChange(check, *spec, *before);
  } else if (check.subresource.empty()) {
    CheckMainChange(check, *spec, *before);
  }
}

}  // namespace mailroom::openapi
