#include "apiserver/admission/plugins.h"
#include "apiserver/admission/resource_list.h"
#include "apiserver/admission/tolerations.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kRuntimeClasses{"node.k8s.io", "runtimeclasses"};
constexpr const char* kMismatch =
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

// The class a pod names; null when it names none.
Result<Json> ClassOf(const PluginCall& call, const Json& pod) {
  const std::string name = StringAt(pod, {"spec", "runtimeClassName"});
  if (name.empty()) return Json();
  Json found = call.Find(kRuntimeClasses, name);
  if (found.is_null()) {
    return Refuse(call.attributes, "pod rejected: RuntimeClass " + Quoted(name) + " not found");
  }
  return found;
}

bool SameOverhead(const Json& pod, const Json& found) {
  return SameAmounts(ListAt(pod, {"spec", "overhead"}), ListAt(found, {"overhead", "podFixed"}));
}

Result<void> SetOverhead(const PluginCall& call, const Json& found, Json& pod) {
  if (Find(found, {"overhead"}) == nullptr) return Ok();
  if (!ListAt(pod, {"spec", "overhead"}).empty() && !SameOverhead(pod, found)) {
    return Refuse(call.attributes, kMismatch);
  }
  if (const Json* fixed = Find(found, {"overhead", "podFixed"})) {
    Set(pod, {"spec", "overhead"}, *fixed);
  } else {
    Erase(pod, {"spec", "overhead"});
  }
  return Ok();
}

Result<void> Select(const PluginCall& call, const Json& wanted, Json& pod) {
  const Json* given = Find(pod, {"spec", "nodeSelector"});
  Json selector = given != nullptr && given->is_object() ? *given : Json::object();
  for (const auto& [key, value] : wanted.items()) {
    const auto own = selector.find(key);
    if (own != selector.end() && *own != value) {
      return Refuse(call.attributes,
                    "conflict: runtimeClass.scheduling.nodeSelector[" + key + "] = " +
                        value.get<std::string>() + "; pod.spec.nodeSelector[" + key + "] = " +
                        own->get<std::string>());
    }
    selector[key] = value;
  }
  Set(pod, {"spec", "nodeSelector"}, std::move(selector));
  return Ok();
}

Result<void> SetScheduling(const PluginCall& call, const Json& found, Json& pod) {
  const Json* scheduling = Find(found, {"scheduling"});
  if (scheduling == nullptr) return Ok();
  if (const Json* wanted = Find(*scheduling, {"nodeSelector"})) TRY(Select(call, *wanted, pod));
  // Those the pod came with are made few even where the class adds none.
  Json merged = MergeTolerations(openapi::ArrayAt(pod, {"spec", "tolerations"}),
                                 openapi::ArrayAt(*scheduling, {"tolerations"}));
  if (!merged.empty()) Set(pod, {"spec", "tolerations"}, std::move(merged));
  return Ok();
}

}  // namespace

Result<void> ApplyRuntimeClass(const PluginCall& call, Json& pod) {
  if (!call.creates()) return Ok();
  const Json found = TRY(ClassOf(call, pod));
  TRY(SetOverhead(call, found, pod));
  return SetScheduling(call, found, pod);
}

Result<void> CheckOverhead(const PluginCall& call, const Json& pod) {
  if (!call.creates()) return Ok();
  const Json found = TRY(ClassOf(call, pod));
  if (Find(found, {"overhead"}) != nullptr) {
    if (SameOverhead(pod, found)) return Ok();
    return Refuse(call.attributes, kMismatch);
  }
  if (Find(pod, {"spec", "overhead"}) == nullptr) return Ok();
  return Refuse(call.attributes,
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
                "Overhead");
}

}  // namespace mailroom::admission
