// PersistentVolumes.
#include <algorithm>
#include <array>

#include "openapi/builtin.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_causes.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

// In the order in which they count: all but the first are refused.
constexpr std::array<const char*, 22> kSourceTypes = {
    "hostPath",  "gcePersistentDisk", "awsElasticBlockStore", "glusterfs",     "flocker",
    "nfs",       "rbd",               "quobyte",              "cephfs",        "iscsi",
    "cinder",    "fc",                "flexVolume",           "azureFile",     "vsphereVolume",
    "photonPersistentDisk", "portworxVolume", "azureDisk",    "scaleIO",       "local",
    "storageos", "csi"};

bool IsRoot(const std::string& path) {
  if (!path.starts_with('/')) return false;
  int depth = 0;
  for (std::size_t start = 1; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view step = std::string_view(path).substr(start, end - start);
    if (step == "..") {
      depth -= depth > 0 ? 1 : 0;
    } else if (!step.empty() && step != ".") {
      ++depth;
    }
    start = end + 1;
  }
  return depth == 0;
}

void CheckCapacity(const BuiltinCheck& check, const Json& spec) {
  const Json* found = Find(spec, {"capacity"});
  const bool some = found != nullptr && found->is_object() && !found->empty();
  if (!some) check.Required("spec.capacity");
  if (!some || found->size() > 1 || !found->contains("storage")) {
    check.causes.push_back(
        NotSupported("spec.capacity", found == nullptr ? Json() : *found, {"storage"}));
  }
  if (!some) return;
  for (const auto& [name, value] : found->items()) {
    const std::string field = EntryPath("spec.capacity", name);
    const std::string amount = value.is_string() ? value.get<std::string>() : value.dump();
    const int sign = CompareQuantities(amount, "0");
    if (sign < 0) {
      // Rounded up: what is between -1 and 0 counts as none.
      const std::string whole = WholeQuantity(amount);
      if (CompareQuantities(whole, "0") < 0) {
        check.causes.push_back(InvalidValue(field, whole, "must be a valid resource quantity"));
      }
    }
    if (sign <= 0) check.Invalid(field, CanonicalQuantity(amount), "must be greater than zero");
  }
}

// False when no node affinity is given.
bool CheckNodes(const BuiltinCheck& check, const Json& spec) {
  const Json* affinity = Find(spec, {"nodeAffinity"});
  if (affinity == nullptr) return false;
  const std::string field = "spec.nodeAffinity.required";
  const Json* required = Find(*affinity, {"required"});
  if (required == nullptr) {
    check.Required(field, "must specify required node constraints");
    return true;
  }
  const Json* before =
      check.old == nullptr ? nullptr : Find(*check.old, {"spec", "nodeAffinity", "required"});
  CheckNodeSelector(check, *required, field, before == nullptr || HasLabelValues(*before));
  return true;
}

void CheckSources(const BuiltinCheck& check, const Json& spec, bool affinity) {
  int count = 0;
  for (const char* type : kSourceTypes) {
    const Json* source = Find(spec, {type});
    if (source == nullptr) continue;
    const std::string name = type, path = "spec." + name;
    if (count > 0 && name != "flexVolume") {
      // The type facts have looked into it, too.
      check.Forbidden(name == "cephfs" ? "spec.cephFS" : path, "may not specify more than 1 volume type");
      continue;
    }
    ++count;
    CheckVolumeKind(check, name, *source, path);
    if (name == "gcePersistentDisk") TellAt(check.causes, path, "spec.persistentDisk");
    if (name == "local" && !affinity) {
      check.Required("spec.nodeAffinity", "Local volume requires node affinity");
    }
  }
  if (count == 0) check.Required("spec", "must specify a volume type");
}

void CheckClass(const BuiltinCheck& check, const Json& spec) {
  const std::string name = StringAt(spec, {"storageClassName"});
  if (!name.empty()) AddInvalid(check.causes, "spec.storageClassName", name, CheckSubdomain(name));
  if (Find(spec, {"volumeAttributesClassName"}) == nullptr) return;
  const std::string attributes = StringAt(spec, {"volumeAttributesClassName"});
  const std::string field = "spec.volumeAttributesClassName";
  if (attributes.empty()) {
    check.Required(field, "an empty string is disallowed");
  } else {
    AddInvalid(check.causes, field, attributes, CheckSubdomain(attributes));
  }
  if (Find(spec, {"csi"}) == nullptr) {
    check.Required("spec.csi", "has to be specified when using volumeAttributesClassName");
  }
}

Json SourcesOf(const Json& spec) {
  Json out = Json::object();
  for (const char* type : kSourceTypes) {
    if (const Json* source = Find(spec, {type})) out[type] = *source;
  }
  return out;
}

// Labels of nodes that were renamed may be written by their new names.
bool SameNodes(const Json* affinity, const Json& before) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRenamed = {{
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
  }};
  if (affinity == nullptr) return false;
  Json now = *affinity;
  Json* terms = Find(now, {"required", "nodeSelectorTerms"});
  const Json& old_terms = ArrayAt(before, {"required", "nodeSelectorTerms"});
  if (terms == nullptr || terms->size() != old_terms.size()) return now == before;
  for (std::size_t i = 0; i < old_terms.size(); ++i) {
    Json* list = Find((*terms)[i], {"matchExpressions"});
    const Json& old_list = ArrayAt(old_terms[i], {"matchExpressions"});
    if (list == nullptr || list->size() != old_list.size()) continue;
    for (std::size_t k = 0; k < old_list.size(); ++k) {
      const std::string key = StringAt((*list)[k], {"key"}), old_key = StringAt(old_list[k], {"key"});
      for (const auto& [from, to] : kRenamed) {
        if (old_key == from && key == to) (*list)[k]["key"] = old_key;
      }
    }
  }
  return now == before;
}

void CheckVolumeChange(const BuiltinCheck& check, const Json& spec, const Json& old_spec) {
  Json now = SourcesOf(spec);
  const Json before = SourcesOf(old_spec);
  // A secret for expansion may be added.
  if (before.contains("csi") && !before["csi"].contains("controllerExpandSecretRef")) {
    Erase(now, {"csi", "controllerExpandSecretRef"});
  }
  if (now != before && !IsSameValue(*BuiltinType("core/v1.PersistentVolumeSpec"), &now, &before)) {
    check.Forbidden("spec.persistentvolumesource",
                    "spec.persistentvolumesource is immutable after creation");
  }
  CheckImmutable(check.causes, "volumeMode", Find(spec, {"volumeMode"}), Find(old_spec, {"volumeMode"}));
  const Json* affinity = Find(spec, {"nodeAffinity"});
  const Json* old_affinity = Find(old_spec, {"nodeAffinity"});
  if (old_affinity != nullptr && !SameNodes(affinity, *old_affinity)) {
    const std::string rule = "field is immutable, except for updating from beta label to GA";
    if (affinity == nullptr) {
      check.Invalid("nodeAffinity", Json(), rule);
    } else {
      InvalidInternal(check, "nodeAffinity", "core/v1.VolumeNodeAffinity", affinity, rule);
    }
  }
  if (Find(old_spec, {"volumeAttributesClassName"}) != nullptr &&
      Find(spec, {"volumeAttributesClassName"}) == nullptr) {
    check.Forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
  }
}

}  // namespace

void CheckPersistentVolume(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  if (check.subresource == "status") return;
  const Json* given = Find(check.object, {"spec"});
  const Json& spec = given == nullptr ? kNone : *given;
  if (ArrayAt(spec, {"accessModes"}).empty()) check.Required("spec.accessModes");
  CheckAccessModes(check, spec, "spec");
  CheckCapacity(check, spec);
  CheckSources(check, spec, CheckNodes(check, spec));
  if (StringAt(spec, {"persistentVolumeReclaimPolicy"}) == "Recycle" &&
      IsRoot(StringAt(spec, {"hostPath", "path"}))) {
    check.Forbidden("spec.persistentVolumeReclaimPolicy",
                    "may not be 'recycle' for a hostPath mount of '/'");
  }
  CheckClass(check, spec);
  const Json* old_spec = check.old == nullptr ? nullptr : Find(*check.old, {"spec"});
  if (old_spec != nullptr) CheckVolumeChange(check, spec, *old_spec);
}

}  // namespace mailroom::openapi
