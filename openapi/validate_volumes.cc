// Volumes of a pod.
#include <array>
#include <set>

#include "openapi/builtin.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate.h"
#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kPortalBytes = 64;

// Sources in the order in which they count; all but the first are refused, some under other names.
struct SourceType {
  std::string_view member;
  std::string_view refused_as = "";
};
constexpr std::array<SourceType, 30> kSourceTypes = {{
    {"emptyDir"}, {"hostPath"}, {"gitRepo"}, {"gcePersistentDisk"}, {"awsElasticBlockStore"},
    {"secret"}, {"nfs"}, {"iscsi"}, {"glusterfs"}, {"flocker"}, {"persistentVolumeClaim"}, {"rbd"},
    {"cinder"}, {"cephfs", "cephFS"}, {"quobyte"}, {"downwardAPI", "downwarAPI"}, {"fc"},
    {"flexVolume"}, {"configMap"}, {"azureFile"}, {"vsphereVolume"}, {"photonPersistentDisk"},
    {"portworxVolume"}, {"azureDisk"}, {"storageos"}, {"projected"}, {"scaleIO"}, {"csi"},
    {"ephemeral"}, {"image"},
}};

// What the type facts say of a source, or of what it holds.
const Schema& SchemaOf(Path members) {
  const Schema* volume = BuiltinKind({"", "v1", "Pod"})->Find("spec")->schema->Find("volumes")->schema->items;
  for (std::string_view member : members) volume = volume->Find(member)->schema;
  return *volume;
}

void CheckHostPath(const BuiltinCheck& check, const Json& source, const std::string& path) {
  const std::string place = StringAt(source, {"path"});
  if (place.empty()) return check.Required(path + ".path");
  CheckNoBacksteps(check, place, path + ".path");
  CheckGivenChoice(check, Find(source, {"type"}), path + ".type",
                   {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                    "FileOrCreate", "Socket"});
}

void CheckSecretKeys(const BuiltinCheck& check, const Json& source, const std::string& path,
                     const std::string& member) {
  if (StringAt(source, {member}).empty()) check.Required(path + "." + member);
  CheckMode(check, source, "defaultMode", path);
  CheckItems(check, source, path);
}

void CheckNfs(const BuiltinCheck& check, const Json& source, const std::string& path) {
  const std::string place = StringAt(source, {"path"});
  if (StringAt(source, {"server"}).empty()) check.Required(path + ".server");
  if (place.empty()) check.Required(path + ".path");
  if (!place.starts_with('/')) check.Invalid(path + ".path", place, "must be an absolute path");
}

void CheckDriver(const BuiltinCheck& check, const Json& source, const std::string& path) {
  const std::string driver = StringAt(source, {"driver"});
  if (driver.empty()) check.Required(path + ".driver");
  CheckDriverName(check, driver, path + ".driver");
  if (Find(source, {"nodePublishSecretRef"}) == nullptr) return;
  const std::string secret = StringAt(source, {"nodePublishSecretRef", "name"});
  if (secret.empty()) return check.Required(path + ".nodePublishSecretRef.name");
  AddInvalid(check.causes, path + ".name", secret, CheckSubdomain(secret));
}

// Claims that are made for a pod have labels and annotations, and nothing else of their own.
void CheckClaimMetadata(const BuiltinCheck& check, const Json& claim, const std::string& path) {
  check.causes.Add(ValidateAnnotations(Find(claim, {"metadata", "annotations"}), path + ".annotations"));
  check.causes.Add(ValidateLabels(Find(claim, {"metadata", "labels"}), path + ".labels"));
  for (const std::string member :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences",
        "finalizers", "managedFields"}) {
    const Json* found = Find(claim, {"metadata", member});
    if (found == nullptr || found->is_null() || *found == "") continue;
    check.Forbidden(path + "." + (member == "uid" ? "uID" : member), "cannot be set");
  }
}

void CheckEphemeral(const PodCheck& pod, const Json& volume, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  const std::string place = path + ".ephemeral.volumeClaimTemplate";
  const Json* claim = Find(volume, {"ephemeral", "volumeClaimTemplate"});
  if (claim == nullptr) {
    check.Required(place);
  } else {
    const Json* found = Find(*claim, {"spec"});
    const Json& spec = found == nullptr ? PodCheck::kNoSpec : *found;
    CheckClaimMetadata(check, *claim, place + ".metadata");
    CheckDeclared(SchemaOf({"ephemeral", "volumeClaimTemplate", "spec"}), spec, place + ".spec",
                  check.causes);
    CheckClaimSpec(check, spec, place + ".spec");
  }
  const std::string name = StringAt(volume, {"name"});
  const std::string owner = pod.IsPod() ? StringAt(check.object, {"metadata", "name"}) : "";
  if (owner.empty() || name.empty()) return;
  const std::string made = owner + "-" + name;
  for (const std::string& complaint : CheckSubdomain(made)) {
    check.Invalid(path + ".name", name, "PVC name " + Quoted(made) + ": " + complaint);
  }
}

void CheckImage(const PodCheck& pod, const Json& source, const std::string& path) {
  if (pod.IsPod() && StringAt(source, {"reference"}).empty()) pod.check.Required(path + ".reference");
  CheckNeededChoice(pod.check, StringAt(source, {"pullPolicy"}), path + ".pullPolicy",
                    {"Always", "IfNotPresent", "Never"});
}

// Sources that are rare, or that volumes of their own have, too.
void CheckOtherSource(const BuiltinCheck& check, const std::string& type, const Json& source,
                      const std::string& path) {
  if (type == "rbd" && ArrayAt(source, {"monitors"}).empty()) check.Required(path + ".monitors");
  CheckDeclared(SchemaOf({type}), source, path, check.causes);
  if (type != "rbd") CheckVolumeKind(check, type, source, path, VolumeHome::kPod);
}

void CheckSource(const PodCheck& pod, const Json& volume, const std::string& type,
                 const std::string& volume_path) {
  const BuiltinCheck& check = pod.check;
  const Json& source = *Find(volume, {type});
  const std::string path = volume_path + "." + type;
  if (type == "emptyDir") {
    const std::string size = StringAt(source, {"sizeLimit"});
    if (CompareQuantities(size, "0") < 0) {
      check.Forbidden(path + ".sizeLimit", "SizeLimit field must be a valid resource quantity");
    }
  } else if (type == "hostPath") {
    CheckHostPath(check, source, path);
  } else if (type == "gitRepo") {
    if (StringAt(source, {"repository"}).empty()) check.Required(path + ".repository");
    CheckDescending(check, StringAt(source, {"directory"}), path + ".directory");
  } else if (type == "secret" || type == "configMap") {
    CheckSecretKeys(check, source, path, type == "secret" ? "secretName" : "name");
  } else if (type == "nfs") {
    CheckNfs(check, source, path);
  } else if (type == "persistentVolumeClaim") {
    if (StringAt(source, {"claimName"}).empty()) check.Required(path + ".claimName");
  } else if (type == "downwardAPI") {
    CheckPodFiles(check, source, path);
  } else if (type == "projected") {
    CheckProjected(pod, source, path);
  } else if (type == "csi") {
    CheckDriver(check, source, path);
  } else if (type == "ephemeral") {
    CheckEphemeral(pod, volume, volume_path);
  } else if (type == "image") {
    CheckImage(pod, source, path);
  } else {
    CheckOtherSource(check, type, source,
                     type == "gcePersistentDisk" ? volume_path + ".persistentDisk" : path);
  }
}

void CheckVolumeSource(const PodCheck& pod, const Json& volume, const std::string& path) {
  int sources = 0;
  for (const SourceType& type : kSourceTypes) {
    const Json* source = Find(volume, {type.member});
    if (source == nullptr) continue;
    const std::string member(type.member);
    if (++sources > 1) {
      pod.check.Forbidden(path + "." + (type.refused_as.empty() ? member : std::string(type.refused_as)),
                          "may not specify more than 1 volume type");
    } else {
      CheckSource(pod, volume, member, path);
    }
    const std::string name = StringAt(volume, {"name"});
    if (member == "iscsi" && Find(*source, {"initiatorName"}) != nullptr &&
        name.size() + 1 + StringAt(*source, {"targetPortal"}).size() > kPortalBytes) {
      pod.check.Invalid(path + ".name", name,
                        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                        "characters if iscsi.initiatorName is specified.");
    }
  }
  if (sources == 0) pod.check.Required(path, "must specify a volume type");
}

// Names of the claims that are made for the pod.
std::set<std::string> ClaimsMade(const PodCheck& pod) {
  std::set<std::string> out;
  const std::string owner = pod.IsPod() ? StringAt(pod.check.object, {"metadata", "name"}) : "";
  if (owner.empty()) return out;
  for (const Json& volume : ArrayAt(pod.spec, {"volumes"})) {
    if (Find(volume, {"ephemeral"}) != nullptr) out.insert(owner + "-" + StringAt(volume, {"name"}));
  }
  return out;
}

}  // namespace

bool HasBackstep(std::string_view text) {
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('/', start), text.size());
    if (text.substr(start, end - start) == "..") return true;
    start = end + 1;
  }
  return false;
}

void CheckNoBacksteps(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  if (HasBackstep(text)) check.Invalid(path, text, "must not contain '..'");
}

void CheckDescending(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  if (text.starts_with('/')) check.Invalid(path, text, "must be a relative path");
  CheckNoBacksteps(check, text, path);
}

void CheckFilePath(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  CheckDescending(check, text, path);
  if (text.starts_with("..") && !text.starts_with("../")) {
    check.Invalid(path, text, "must not start with '..'");
  }
}

void CheckVolumes(PodCheck& pod) {
  const Json& list = ArrayAt(pod.spec, {"volumes"});
  const std::set<std::string> made = ClaimsMade(pod);
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".volumes", i);
    const std::string name = StringAt(list[i], {"name"});
    const std::size_t before = pod.check.causes.size();
    CheckVolumeSource(pod, list[i], path);
    if (name.empty()) {
      pod.check.Required(path + ".name");
    } else {
      AddInvalid(pod.check.causes, path + ".name", name, CheckLabel(name));
    }
    if (names.contains(name)) {
      pod.check.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
    }
    // A volume with a mistake of its own cannot be mounted either.
    if (pod.check.causes.size() == before) {
      names.insert(name);
      pod.volumes[name] = &list[i];
    }
    const std::string claim = StringAt(list[i], {"persistentVolumeClaim", "claimName"});
    if (Find(list[i], {"persistentVolumeClaim"}) != nullptr && made.contains(claim)) {
      pod.check.Invalid(path + ".persistentVolumeClaim.claimName", claim,
                        "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
}

}  // namespace mailroom::openapi
