// What nodes have to do with admission: new ones are not ready, and pods learn where theirs stands.
#include <algorithm>

#include "apiserver/admission/plugins.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kNodes{"", "nodes"};

// The node's place overwrites what the pod, or its binding, says of it.
void TakeTopology(const PluginCall& call, const std::string& node, Json& object) {
  if (node.empty()) return;
  const Json found = call.Find(kNodes, node);
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
    const Json* value = Find(found, {"metadata", "labels", label});
    if (value != nullptr) Set(object, {"metadata", "labels", label}, *value);
  }
}

}  // namespace

Result<void> TaintNode(const PluginCall& call, Json& node) {
  if (!call.creates()) return Ok();
  constexpr const char* kKey = "node.kubernetes.io/not-ready";
  constexpr const char* kEffect = "NoSchedule";
  Json taints = openapi::ArrayAt(node, {"spec", "taints"});
  const bool known = std::any_of(taints.begin(), taints.end(), [&](const Json& taint) {
    return StringAt(taint, {"key"}) == kKey && StringAt(taint, {"effect"}) == kEffect;
  });
  if (known) return Ok();
  taints.push_back({{"key", kKey}, {"effect", kEffect}});
  Set(node, {"spec", "taints"}, std::move(taints));
  return Ok();
}

Result<void> LabelPod(const PluginCall& call, Json& pod) {
  if (call.creates()) TakeTopology(call, StringAt(pod, {"spec", "nodeName"}), pod);
  return Ok();
}

Result<void> LabelBinding(const PluginCall& call, Json& binding) {
  if (StringAt(binding, {"target", "kind"}) == "Node") {
    TakeTopology(call, StringAt(binding, {"target", "name"}), binding);
  }
  return Ok();
}

}  // namespace mailroom::admission
