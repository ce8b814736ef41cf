#include "apiserver/admission/plugins.h"
#include "openapi/normalize_quantity.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kStorageClasses{"storage.k8s.io", "storageclasses"};
const GroupResource kIngressClasses{"networking.k8s.io", "ingressclasses"};
constexpr const char* kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

// Of the classes marked as the default the newest, and of those the first by name; "" for none.
std::string DefaultName(const PluginCall& call, const GroupResource& resource,
                        std::initializer_list<const char*> marks) {
  std::string name, made;
  for (const Json& item : call.List(resource)) {
    bool marked = false;
    for (const char* mark : marks) {
      marked = marked || StringAt(item, {"metadata", "annotations", mark}) == "true";
    }
    const std::string time = StringAt(item, {"metadata", "creationTimestamp"});
    // Lists are in the order of names, and times compare as text.
    if (!marked || (!name.empty() && time <= made)) continue;
    name = StringAt(item, {"metadata", "name"});
    made = time;
  }
  return name;
}

// The class of a claim; the annotation is older, and comes first.
std::string ClassOf(const Json& claim) {
  const Json* older = Find(claim, {"metadata", "annotations", kClassAnnotation});
  return older != nullptr ? StringAt(claim, {"metadata", "annotations", kClassAnnotation})
                          : StringAt(claim, {"spec", "storageClassName"});
}

std::string StorageRequest(const Json& claim) {
  return StringAt(claim, {"spec", "resources", "requests", "storage"});
}

}  // namespace

Result<void> SetStorageClass(const PluginCall& call, Json& claim) {
  if (!call.creates() || Find(claim, {"spec", "storageClassName"}) != nullptr ||
      Find(claim, {"metadata", "annotations", kClassAnnotation})) {
    return Ok();
  }
  const std::string name =
      DefaultName(call, kStorageClasses,
                  {"storageclass.kubernetes.io/is-default-class",
                   "storageclass.beta.kubernetes.io/is-default-class"});
  if (!name.empty()) Set(claim, {"spec", "storageClassName"}, name);
  return Ok();
}

Result<void> SetIngressClass(const PluginCall& call, Json& ingress) {
  if (!call.creates() || Find(ingress, {"spec", "ingressClassName"}) != nullptr ||
      Find(ingress, {"metadata", "annotations", "kubernetes.io/ingress.class"}) != nullptr) {
    return Ok();
  }
  const std::string name =
      DefaultName(call, kIngressClasses, {"ingressclass.kubernetes.io/is-default-class"});
  if (!name.empty()) Set(ingress, {"spec", "ingressClassName"}, name);
  return Ok();
}

Result<void> CheckResize(const PluginCall& call, const Json& claim) {
  if (!call.updates() || call.attributes.old == nullptr) return Ok();
  const Json& old = *call.attributes.old;
  const std::string before = StorageRequest(old), now = StorageRequest(claim);
  if (before.empty() || now.empty() || openapi::CompareQuantities(now, before) <= 0) return Ok();
  if (StringAt(old, {"status", "phase"}) != "Bound") {
    return Refuse(call.attributes, "Only bound persistent volume claims can be expanded");
  }
  const std::string name = ClassOf(claim);
  const bool kept = !name.empty() && name == ClassOf(old);
  const Json found = kept ? call.Find(kStorageClasses, name) : Json();
  if (BoolAt(found, {"allowVolumeExpansion"})) return Ok();
  return Refuse(call.attributes,
                "only dynamically provisioned pvc can be resized and the storageclass that "
                "provisions the pvc must support resize");
}

}  // namespace mailroom::admission
