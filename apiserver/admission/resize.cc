// What a running pod may become on the node it runs on.
#include <algorithm>

#include "apiserver/admission/plugins.h"
#include "apiserver/admission/resource_list.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kNodes{"", "nodes"};

// Whether the write changes what the pod asks for while it is on a node.
bool Concerned(const PluginCall& call, const Json& pod) {
  return call.updates() && call.attributes.old != nullptr &&
         !StringAt(pod, {"spec", "nodeName"}).empty() &&
         IntAt(pod, {"metadata", "generation"}) !=
             IntAt(*call.attributes.old, {"metadata", "generation"});
}

Result<Json> NodeOf(const PluginCall& call, const Json& pod) {
  const std::string name = StringAt(pod, {"spec", "nodeName"});
  Json node = call.Find(kNodes, name);
  if (node.is_null()) return Refuse(call.attributes, "node " + Quoted(name) + " not found");
  return node;
}

Status RefuseFor(const PluginCall& call, const char* cause, const std::string& why) {
  Status refusal = Refuse(call.attributes, why);
  refusal.mutable_details().causes.push_back({cause, "", ""});
  return refusal;
}

std::string Amount(const ResourceList& list, const char* name) {
  const auto found = list.find(name);
  return found == list.end() ? "0" : found->second;
}

// Thousandths of a core, or whole bytes.
std::string Plain(std::string_view name, const std::string& amount) {
  const long long millis = openapi::QuantityMillis(amount).value_or(0);
  return std::to_string(name == "cpu" ? millis : millis / 1000 + (millis % 1000 > 0));
}

// What the node lacks, or "".
std::string Shortage(const Json& pod, const Json& node) {
  const ResourceList wanted = PodTotal(pod, "requests", Overhead::kCounted);
  const ResourceList there = ListAt(node, {"status", "allocatable"});
  std::string out;
  for (const char* name : {"cpu", "memory"}) {
    const std::string more = Amount(wanted, name), less = Amount(there, name);
    if (openapi::CompareQuantities(more, less) <= 0) continue;
    out += (out.empty() ? "" : "; ") + std::string(name) + ", requested: " + Plain(name, more) +
           ", allocatable: " + Plain(name, less);
  }
  return out;
}

bool IsSidecar(const Json& container) {
  return StringAt(container, {"restartPolicy"}) == "Always";
}

bool SameAt(const Json& a, const Json& b, Path path) {
  const Json *x = Find(a, path), *y = Find(b, path);
  return x == nullptr || y == nullptr ? x == y : *x == *y;
}

bool ResizesInitContainers(const Json& old, const Json& pod) {
  const Json& before = openapi::ArrayAt(old, {"spec", "initContainers"});
  const Json& after = openapi::ArrayAt(pod, {"spec", "initContainers"});
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (!IsSidecar(before[i]) && !SameAt(before[i], after[i], {"resources"})) return true;
  }
  return false;
}

}  // namespace

Result<void> CheckPodResize(const PluginCall& call, const Json& pod) {
  if (!Concerned(call, pod)) return Ok();
  const Json node = TRY(NodeOf(call, pod));
  const std::string system = StringAt(node, {"metadata", "labels", "kubernetes.io/os"});
  if (Find(node, {"metadata", "labels", "kubernetes.io/os"}) != nullptr && system != "linux") {
    return RefuseFor(call, "UnsupportedPlatform",
                     "pod resize is only supported on linux nodes, node " +
                         Quoted(StringAt(node, {"metadata", "name"})) + " is " + Quoted(system));
  }
  const std::string shortage = Shortage(pod, node);
  if (shortage.empty()) return Ok();
  return RefuseFor(call, "NodeCapacity",
                   "node didn't have enough allocatable resources: " + shortage);
}

Result<void> CheckNodeFeatures(const PluginCall& call, const Json& pod) {
  if (!Concerned(call, pod)) return Ok();
  const Json& old = *call.attributes.old;
  std::vector<std::string> needed;
  if (!SameAt(old, pod, {"spec", "resources"})) {
    needed.emplace_back("InPlacePodLevelResourcesVerticalScaling");
  }
  if (ResizesInitContainers(old, pod)) {
    needed.emplace_back("InPlacePodVerticalScalingInitContainers");
  }
  if (needed.empty()) return Ok();
  const Json node = TRY(NodeOf(call, pod));
  const auto declared = StringsAt(node, {"status", "declaredFeatures"});
  std::string missing;
  for (const std::string& feature : needed) {
    if (std::find(declared.begin(), declared.end(), feature) != declared.end()) continue;
    missing += (missing.empty() ? "" : ", ") + feature;
  }
  if (missing.empty()) return Ok();
  return Refuse(call.attributes, "pod update requires features " + missing +
                                     " which are not available on node " +
                                     Quoted(StringAt(node, {"metadata", "name"})));
}

}  // namespace mailroom::admission
