// What an update of a pod may change: little on the main endpoint, containers that look into it
// through ephemeralcontainers, amounts of cpu and memory through resize.
#include <algorithm>
#include <set>

#include "openapi/defaults.h"
#include "openapi/validate_pods.h"

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
  check.Forbidden("", std::move(why));
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

void CheckDeadline(const BuiltinCheck& check) {
  const Json* now = Find(check.object, {"spec", "activeDeadlineSeconds"});
  const Json* before = Find(*check.old, {"spec", "activeDeadlineSeconds"});
  if (before == nullptr || !before->is_number_integer()) return;
  if (now == nullptr) {
    return check.Invalid("spec.activeDeadlineSeconds", Json(),
                         "must not update from a positive integer to nil value");
  }
  if (now->is_number_integer() && now->get<std::int64_t>() > before->get<std::int64_t>()) {
    check.Invalid("spec.activeDeadlineSeconds", *now,
                  "must be less than or equal to previous value");
  }
}

// Tolerations are only added; how long an old one lasts may change.
void CheckTolerations(const BuiltinCheck& check) {
  const Json& now = ArrayAt(check.object, {"spec", "tolerations"});
  auto lasting = [](Json toleration) {
    Erase(toleration, {"tolerationSeconds"});
    return toleration;
  };
  for (const Json& old : ArrayAt(*check.old, {"spec", "tolerations"})) {
    const Json wanted = lasting(old);
    const bool kept = std::any_of(now.begin(), now.end(),
                                  [&](const Json& each) { return lasting(each) == wanted; });
    if (kept) continue;
    return check.Forbidden("spec.tolerations",
                           "existing toleration can not be modified except its tolerationSeconds");
  }
}

// Scheduling gates are only removed.
void CheckGates(const BuiltinCheck& check) {
  std::set<std::string> known;
  for (const Json& gate : ArrayAt(*check.old, {"spec", "schedulingGates"})) {
    known.insert(StringAt(gate, {"name"}));
  }
  const Json& now = ArrayAt(check.object, {"spec", "schedulingGates"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string name = StringAt(now[i], {"name"});
    if (known.contains(name)) continue;
    check.Forbidden(Indexed("spec.schedulingGates", i) + ".name",
                    "only deletion is allowed, but found new scheduling gate '" + name + "'");
  }
}

void CheckMainChange(const BuiltinCheck& check, const Json& spec, const Json& before) {
  for (const char* list : kLists) {
    if (ArrayAt(spec, {list}).size() == ArrayAt(before, {list}).size()) continue;
    return check.Forbidden(std::string("spec.") + list,
                           "pod updates may not add or remove containers");
  }
  CheckDeadline(check);
  CheckTolerations(check);
  CheckGates(check);
  if (before == spec || WithMutableParts(spec, before) == before) return;
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
  const Json& now = ArrayAt(spec, {"ephemeralContainers"});
  for (const Json& old : ArrayAt(before, {"ephemeralContainers"})) {
    const std::string name = StringAt(old, {"name"});
    auto found = std::find_if(now.begin(), now.end(),
                              [&](const Json& each) { return StringAt(each, {"name"}) == name; });
    if (found != now.end() && *found == old) continue;
    check.Forbidden("spec.ephemeralContainers",
                    "existing ephemeral containers " + Quoted(name) + " may not be " +
                        (found == now.end() ? "removed\n" : "changed\n"));
  }
}

// Before the amounts: which containers there are does not change.
bool SameContainers(const BuiltinCheck& check, const Json& spec, const Json& before) {
  const std::size_t told = check.causes.size();
  for (const std::string list : kLists) {
    const Json &now = ArrayAt(spec, {list}), &old = ArrayAt(before, {list});
    if (now.size() != old.size()) {
      check.Forbidden("spec." + list, list + " may not be added or removed on resize");
      continue;
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (StringAt(now[i], {"name"}) == StringAt(old[i], {"name"})) continue;
      check.Forbidden(Indexed("spec." + list, i) + ".name",
                      list + " may not be renamed or reordered on resize");
    }
  }
  return check.causes.size() == told;
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

void CheckPodAmounts(const BuiltinCheck& check, const Json& spec, const Json& before) {
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
  CheckPodAmounts(check, spec, before);
  if (SameContainers(check, spec, before)) CheckResizedContainers(check, spec, before);
}

}  // namespace

void CheckPodChange(const BuiltinCheck& check) {
  const Json* spec = Find(check.object, {"spec"});
  const Json* before = Find(*check.old, {"spec"});
  if (spec == nullptr || before == nullptr) return;
  if (check.subresource == "ephemeralcontainers")
    return CheckEphemeralChange(check, *spec, *before);
  if (check.subresource == "resize") return CheckResize(check, *spec, *before);
  // Nothing but the node is written by a binding, nothing of the spec with the status.
  if (check.subresource.empty()) CheckMainChange(check, *spec, *before);
}

}  // namespace mailroom::openapi
