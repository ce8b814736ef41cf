// Sources of persistent volumes, and of those in pods that are alike. Members that must be there are told by the type facts where those
// call them required.
#include <algorithm>
#include <array>

#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

struct Source {
  const BuiltinCheck& check;
  const Json& value;
  std::string path;
  VolumeHome home = VolumeHome::kCluster;

  std::string At(const std::string& member) const { return path + "." + member; }
  std::string Text(std::string_view member) const { return StringAt(value, {member}); }
  void Want(const std::string& member) const {
    if (Text(member).empty()) check.Required(At(member));
  }
  void WantList(const std::string& member) const {
    if (ArrayAt(value, {member}).empty()) check.Required(At(member));
  }
  void Range(const std::string& member, std::int64_t low, std::int64_t high,
             const std::string& text) const {
    const std::int64_t number = IntAt(value, {member});
    if (number < low || number > high) check.Invalid(At(member), number, text);
  }
};

constexpr const char* kUnitText = "must be between 0 and 255, inclusive";
// Zero stands for no partition.
constexpr const char* kPartitionText = "must be between 1 and 255, inclusive";

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void CheckSecretName(const Source& source) {
  const Json* ref = Find(source.value, {"secretRef"});
  if (ref == nullptr) return;
  Source{source.check, *ref, source.At("secretRef")}.Want("name");
}

void CheckSecretPlace(const Source& source) {
  const Json* ref = Find(source.value, {"secretRef"});
  if (ref == nullptr) return;
  CheckSecretName(source);
  if (source.home == VolumeHome::kPod) return;  // it is the pod's own
  Source{source.check, *ref, source.At("secretRef")}.Want("namespace");
}

bool IsInitiator(const std::string& name) {
  if (name.starts_with("iqn")) {
    return MatchesPattern(R"(iqn\.\d{4}-\d{2}\.([[:alnum:]\-.]+)(:[^,;*&$|\s]+)$)", name);
  }
  if (name.starts_with("eui")) return MatchesPattern("^eui.[[:alnum:]]{16}$", name);
  return name.starts_with("naa") && MatchesPattern("^naa.[[:alnum:]]{32}$", name);
}

bool HasInitiatorKind(const std::string& name) {
  return name.starts_with("iqn") || name.starts_with("eui") || name.starts_with("naa");
}

// Of volumes in pods more is said.
void CheckInitiator(const Source& source, const std::string& name, const std::string& field) {
  if (IsInitiator(name)) return;
  const bool more = source.home == VolumeHome::kPod && !HasInitiatorKind(name);
  source.check.Invalid(source.At(field), name,
                       more ? "must be valid format starting with iqn, eui, or naa"
                            : "must be valid format");
}

void CheckIscsi(const Source& source) {
  const BuiltinCheck& check = source.check;
  const bool in_cluster = source.home == VolumeHome::kCluster;
  const bool initiator = Find(source.value, {"initiatorName"}) != nullptr;
  const std::string portal = source.Text("targetPortal"), target = source.Text("iqn");
  if (in_cluster && initiator &&
      StringAt(check.object, {"metadata", "name"}).size() + 1 + portal.size() > 64) {
    check.Invalid(source.At("targetportal"), portal,
                  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                  "if iscsi.initiatorName is specified.");
  }
  if (!target.empty()) CheckInitiator(source, target, "iqn");
  source.Range("lun", 0, 255, kUnitText);
  const bool secret = BoolAt(source.value, {"chapAuthDiscovery"}) || BoolAt(source.value, {"chapAuthSession"});
  if (secret && Find(source.value, {"secretRef"}) == nullptr) check.Required(source.At("secretRef"));
  if (in_cluster) CheckSecretName(source);
  if (initiator) CheckInitiator(source, source.Text("initiatorName"), "initiatorname");
}

void CheckFibre(const Source& source) {
  const Json& targets = ArrayAt(source.value, {"targetWWNs"});
  const bool wwids = !ArrayAt(source.value, {"wwids"}).empty();
  if (targets.empty() && !wwids) {
    source.check.Required(source.At("targetWWNs"),
                          "must specify either targetWWNs or wwids, but not both");
  }
  if (targets.empty()) return;
  if (wwids) {
    source.check.Invalid(source.At("targetWWNs"), targets,
                         "targetWWNs and wwids can not be specified simultaneously");
  }
  if (Find(source.value, {"lun"}) == nullptr) {
    source.check.Required(source.At("lun"), "lun is required if targetWWNs is specified");
  }
  source.Range("lun", 0, 255, kUnitText);
}

void CheckFlex(const Source& source) {
  const Json* options = Find(source.value, {"options"});
  if (options == nullptr || !options->is_object()) return;
  for (const auto& [key, value] : options->items()) {
    const std::string home = "." + Lower(key.substr(0, key.find('/')));
    if (home.ends_with(".kubernetes.io") || home.ends_with(".k8s.io")) {
      source.check.Invalid(EntryPath(source.At("options"), key), key,
                           "kubernetes.io and k8s.io namespaces are reserved");
    }
  }
}

void CheckFlocker(const Source& source) {
  const std::string name = source.Text("datasetName"), id = source.Text("datasetUUID");
  if (name.empty() && id.empty()) {
    source.check.Required(source.path, "one of datasetName and datasetUUID is required");
  }
  if (!name.empty() && !id.empty()) {
    source.check.Invalid(source.path, "resource",
                         "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.find('/') != std::string::npos) {
    source.check.Invalid(source.At("datasetName"), name, "must not contain '/'");
  }
}

void CheckQuobyte(const Source& source) {
  const std::string text = "must be a host:port pair or multiple pairs separated by commas";
  const std::string registry = source.Text("registry");
  if (registry.empty()) return TellRequired(source.check.causes, source.At("registry"), text);
  if (source.Text("tenant").size() > 64) {
    return source.check.Required(source.At("tenant"),
                                 "must be a UUID and may not exceed a length of 64 characters");
  }
  for (std::size_t start = 0; start <= registry.size();) {
    const std::size_t end = std::min(registry.find(',', start), registry.size());
    if (!MatchesPattern(R"(^([^:\[\]]*|\[[^\[\]]*\]):[^:\[\]]*$)", registry.substr(start, end - start))) {
      source.check.Invalid(source.At("registry"), registry, text);
    }
    start = end + 1;
  }
}

void CheckGluster(const Source& source) {
  if (Find(source.value, {"endpointsNamespace"}) == nullptr) return;
  const std::string home = source.Text("endpointsNamespace");
  if (home.empty()) {
    return source.check.Invalid(source.At("endpointsNamespace"), home,
                                "if the endpointnamespace is set, it must be a valid namespace name");
  }
  AddInvalid(source.check.causes, source.At("endpointsNamespace"), home, CheckLabel(home));
}

void CheckAzureDisk(const Source& source) {
  const std::string kind = source.Text("kind"), uri = source.Text("diskURI");
  if (kind == "Managed" && !uri.starts_with("/subscriptions/")) {
    source.check.causes.push_back(NotSupported(
        source.At("diskURI"), uri,
        {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}));
  } else if (kind != "Managed" && !uri.starts_with("https://")) {
    source.check.causes.push_back(
        NotSupported(source.At("diskURI"), uri,
                     {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}));
  }
}

void CheckStorageOs(const Source& source) {
  source.Want("volumeName");
  for (const char* member : {"volumeName", "volumeNamespace"}) {
    const std::string name = source.Text(member);
    if (!name.empty()) AddInvalid(source.check.causes, source.At(member), name, CheckLabel(name));
  }
  CheckSecretPlace(source);
}

void CheckCsi(const Source& source) {
  CheckDriverName(source.check, source.Text("driver"), source.At("driver"));
  for (const char* member : {"controllerPublishSecretRef", "controllerExpandSecretRef",
                             "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    const Json* ref = Find(source.value, {member});
    if (ref == nullptr) continue;
    const Source secret{source.check, *ref, source.At(member)};
    const std::string name = secret.Text("name"), home = secret.Text("namespace");
    secret.Want("name");
    if (!name.empty()) AddInvalid(source.check.causes, secret.At("name"), name, CheckSubdomain(name));
    secret.Want("namespace");
    if (!home.empty()) AddInvalid(source.check.causes, secret.At("namespace"), home, CheckLabel(home));
  }
}

void CheckNoBackstep(const Source& source) {
  const std::string place = source.Text("path");
  if (HasBackstep(place)) source.check.Invalid(source.At("path"), place, "must not contain '..'");
}

struct SourceRow {
  std::string_view type;
  void (*check)(const Source&);
};

constexpr std::array<SourceRow, 19> kSources = {{
    {"hostPath", CheckNoBackstep},
    {"local", CheckNoBackstep},
    {"gcePersistentDisk", [](const Source& s) { s.Range("partition", 0, 255, kPartitionText); }},
    {"awsElasticBlockStore", [](const Source& s) { s.Range("partition", 0, 255, kPartitionText); }},
    {"glusterfs", CheckGluster},
    {"flocker", CheckFlocker},
    {"nfs",
     [](const Source& s) {
       if (!s.Text("path").starts_with('/')) {
         s.check.Invalid(s.At("path"), s.Text("path"), "must be an absolute path");
       }
     }},
    {"rbd", [](const Source& s) { s.WantList("monitors"); }},
    {"quobyte", CheckQuobyte},
    {"cephfs", [](const Source& s) { s.WantList("monitors"); }},
    {"iscsi", CheckIscsi},
    {"cinder", CheckSecretPlace},
    {"fc", CheckFibre},
    {"flexVolume", CheckFlex},
    {"azureFile",
     [](const Source& s) {
       const Json* home = Find(s.value, {"secretNamespace"});
       if (home != nullptr && !home->is_null()) s.Want("secretNamespace");
     }},
    {"azureDisk", CheckAzureDisk},
    {"scaleIO", [](const Source& s) { s.Want("volumeName"); }},
    {"storageos", CheckStorageOs},
    {"csi", CheckCsi},
}};

}  // namespace

void CheckDriverName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  if (name.empty()) return;
  if (name.size() > 63) check.causes.push_back(TooLong(path, 63));
  AddInvalid(check.causes, path, name, CheckSubdomain(Lower(name)));
}

void CheckVolumeKind(const BuiltinCheck& check, const std::string& type, const Json& source,
                     const std::string& path, VolumeHome home) {
  for (const SourceRow& row : kSources) {
    if (row.type == type) row.check({check, source, path, home});
  }
}

}  // namespace mailroom::openapi
