// Columns of volumes, storage classes and devices.
#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

Json Phase(const Json& object) {
  if (!TextAt(object, "metadata.deletionTimestamp").empty()) return "Terminating";
  return TextAt(object, "status.phase");
}

// The annotation came before the field and still wins.
Json StorageClassName(const Json& object) {
  const Json* old =
      Find(object, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  return old != nullptr && old->is_string() ? *old : Json(TextAt(object, "spec.storageClassName"));
}

Json VolumeCapacity(const Json& volume) {
  const std::string size = TextAt(volume, "spec.capacity.storage");
  return size.empty() ? "0" : size;
}

Json Claim(const Json& volume) {
  const Json* claim = Find(volume, {"spec", "claimRef"});
  if (claim == nullptr || !claim->is_object()) return "";
  return StringAt(*claim, {"namespace"}) + "/" + StringAt(*claim, {"name"});
}

bool IsBound(const Json& claim) { return !TextAt(claim, "spec.volumeName").empty(); }

Json ClaimCapacity(const Json& claim) {
  if (!IsBound(claim)) return "";
  const std::string size = TextAt(claim, "status.capacity.storage");
  return size.empty() ? "0" : size;
}

Json ClaimModes(const Json& claim) {
  return IsBound(claim) ? AccessModes(ListAt(claim, "status.accessModes")) : "";
}

Column ClassName() {
  Column column = NameColumn();
  column.cell = [](const Json& storage_class) {
    std::string name = TextAt(storage_class, "metadata.name");
    for (const char* key : {"storageclass.kubernetes.io/is-default-class",
                            "storageclass.beta.kubernetes.io/is-default-class"}) {
      if (StringAt(storage_class, {"metadata", "annotations", key}) == "true") {
        return Json(name + " (default)");
      }
    }
    return Json(name);
  };
  return column;
}

Json TokenAudiences(const Json& driver) {
  if (Find(driver, {"spec", "tokenRequests"}) == nullptr) return "<unset>";
  std::vector<std::string> audiences;
  for (const Json& request : ListAt(driver, "spec.tokenRequests")) {
    audiences.push_back(StringAt(request, {"audience"}));
  }
  return Join(audiences, ",");
}

Json Modes(const Json& driver) {
  const std::string modes = Join(StringsAt(driver, {"spec", "volumeLifecycleModes"}), ",");
  return modes.empty() ? "<none>" : modes;
}

Json ClaimState(const Json& claim) {
  std::vector<std::string> states;
  const bool deleted = !TextAt(claim, "metadata.deletionTimestamp").empty();
  if (deleted) states.emplace_back("deleted");
  if (const Json* allocation = Find(claim, {"status", "allocation"});
      allocation != nullptr && allocation->is_object()) {
    states.emplace_back("allocated");
    if (!ListAt(claim, "status.reservedFor").empty()) states.emplace_back("reserved");
  } else if (!deleted) {
    states.emplace_back("pending");
  }
  return Join(states, ",");
}

}  // namespace

std::vector<KindColumns> StorageColumns() {
  constexpr const char* kStorage = "storage.k8s.io";
  constexpr const char* kResource = "resource.k8s.io";
  return {
      {"",
       "PersistentVolume",
       {NameColumn(), Shown("Capacity", VolumeCapacity),
        Shown("Access Modes",
              [](const Json& pv) { return Json(AccessModes(ListAt(pv, "spec.accessModes"))); }),
        Shown("Reclaim Policy", Text("spec.persistentVolumeReclaimPolicy")), Shown("Status", Phase),
        Shown("Claim", Claim), Shown("StorageClass", StorageClassName),
        Shown("VolumeAttributesClass", Text("spec.volumeAttributesClassName", "<unset>")),
        Shown("Reason", Text("status.reason")), AgeColumn(),
        Wide("VolumeMode", Text("spec.volumeMode", "<unset>"))}},
      {"",
       "PersistentVolumeClaim",
       {NameColumn(), Shown("Status", Phase), Shown("Volume", Text("spec.volumeName")),
        Shown("Capacity", ClaimCapacity), Shown("Access Modes", ClaimModes),
        Shown("StorageClass", StorageClassName),
        Shown("VolumeAttributesClass", Text("spec.volumeAttributesClassName", "<unset>")),
        AgeColumn(), Wide("VolumeMode", Text("spec.volumeMode", "<unset>"))}},
      {kStorage,
       "StorageClass",
       {ClassName(), Shown("Provisioner", Text("provisioner")),
        Shown("ReclaimPolicy", Text("reclaimPolicy", "Delete")),
        Shown("VolumeBindingMode", Text("volumeBindingMode", "Immediate")),
        Shown("AllowVolumeExpansion", Flag("allowVolumeExpansion")), AgeColumn()}},
      {kStorage,
       "VolumeAttributesClass",
       {NameColumn(), Shown("DriverName", Text("driverName")), AgeColumn()}},
      {kStorage,
       "VolumeAttachment",
       {NameColumn(), Shown("Attacher", Text("spec.attacher")),
        Shown("PV", Text("spec.source.persistentVolumeName")), Shown("Node", Text("spec.nodeName")),
        ShownAs("Attached", "boolean", Flag("status.attached")), AgeColumn()}},
      {kStorage,
       "CSINode",
       {NameColumn(), ShownAs("Drivers", "integer", Count("spec.drivers")), AgeColumn()}},
      {kStorage,
       "CSIDriver",
       {NameColumn(), ShownAs("AttachRequired", "boolean", Flag("spec.attachRequired", true)),
        ShownAs("PodInfoOnMount", "boolean", Flag("spec.podInfoOnMount")),
        ShownAs("StorageCapacity", "boolean", Flag("spec.storageCapacity")),
        Shown("TokenRequests", TokenAudiences),
        ShownAs("RequiresRepublish", "boolean", Flag("spec.requiresRepublish")),
        Shown("Modes", Modes), AgeColumn()}},
      {kResource, "DeviceClass", {NameColumn(), AgeColumn()}},
      {kResource, "ResourceClaim", {NameColumn(), Shown("State", ClaimState), AgeColumn()}},
      {kResource, "ResourceClaimTemplate", {NameColumn(), AgeColumn()}},
      {kResource,
       "ResourceSlice",
       {NameColumn(), Shown("Node", Text("spec.nodeName")), Shown("Driver", Text("spec.driver")),
        Shown("Pool", Text("spec.pool.name")), AgeColumn()}},
  };
}

}  // namespace mailroom::openapi
