// Volumes of a pod and how containers mount them.
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kModeText = "must be a number between 0 and 0777 (octal), both inclusive";
constexpr std::int64_t kModeMax = 0777;
constexpr std::int64_t kTokenShortest = 600;

void CheckMode(const BuiltinCheck& check, const Json& source, const char* member,
               const std::string& path) {
  const Json* mode = Find(source, {member});
  if (mode == nullptr || !mode->is_number_integer()) return;
  const auto value = mode->get<std::int64_t>();
  if (value < 0 || value > kModeMax) check.Invalid(path + "." + member, *mode, kModeText);
}

// A path below a volume that does not look like one of the kubelet's own files.
void CheckFilePath(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  CheckDescending(check, text, path);
  if (text.starts_with("..") && !text.starts_with("../")) {
    check.Invalid(path, text, "must not start with '..'");
  }
}

void CheckItems(const BuiltinCheck& check, const Json& source, const std::string& path) {
  const Json& items = ArrayAt(source, {"items"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string field = Indexed(path + ".items", i);
    CheckFilePath(check, StringAt(items[i], {"path"}), field + ".path");
    CheckMode(check, items[i], "mode", field);
  }
}

void CheckPodFiles(const BuiltinCheck& check, const Json& source, const std::string& path) {
  for (const Json& file : ArrayAt(source, {"items"})) {
    CheckFilePath(check, StringAt(file, {"path"}), path + ".path");
    const Json* field = Find(file, {"fieldRef"});
    const Json* amount = Find(file, {"resourceFieldRef"});
    if (field != nullptr) {
      CheckFieldRef(check, *field, path + ".fieldRef", RefHome::kVolume);
      if (amount != nullptr) {
        check.Invalid(path, "resource",
                      "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (amount != nullptr) {
      CheckAmountRef(check, *amount, path + ".resourceFieldRef", RefHome::kVolume);
    } else {
      check.Required(path, "one of fieldRef and resourceFieldRef is required");
    }
    CheckMode(check, file, "mode", path);
  }
}

void CheckToken(const BuiltinCheck& check, const Json& token, const std::string& path,
                const std::string& volume) {
  const std::int64_t seconds = IntAt(token, {"expirationSeconds"}, kTokenShortest);
  if (seconds < kTokenShortest) {
    check.Invalid(path + ".expirationSeconds", seconds,
                  "may not specify a duration less than 10 minutes");
  }
  if (seconds > std::int64_t{1} << 32) {
    check.Invalid(path + ".expirationSeconds", seconds,
                  "may not specify a duration larger than 2^32 seconds");
  }
  const std::string file = StringAt(token, {"path"});
  if (file.empty()) {
    check.Required(volume + ".path");
  } else {
    CheckFilePath(check, file, volume + ".path");
  }
}

void CheckProjected(const BuiltinCheck& check, const Json& projected, const std::string& path) {
  CheckMode(check, projected, "defaultMode", path);
  const Json& sources = ArrayAt(projected, {"sources"});
  std::set<std::string> files;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string field = Indexed(path + ".sources", i);
    for (const char* member : {"secret", "configMap"}) {
      const Json* source = Find(sources[i], {member});
      if (source == nullptr) continue;
      const std::string name = StringAt(*source, {"name"});
      if (name.empty()) check.Required(field + "." + member + ".name");
      CheckItems(check, *source, field + "." + member);
      for (const Json& item : ArrayAt(*source, {"items"})) {
        const std::string file = StringAt(item, {"path"});
        if (!file.empty() && !files.insert(file).second) {
          check.Invalid(path, name, "conflicting duplicate paths");
        }
      }
    }
    if (const Json* source = Find(sources[i], {"downwardAPI"})) {
      CheckPodFiles(check, *source, field + ".downwardAPI");
    }
    if (const Json* token = Find(sources[i], {"serviceAccountToken"})) {
      CheckToken(check, *token, field + ".serviceAccountToken", path);
    }
    if (sources[i].size() > 1) {
      check.Forbidden(field, "may not specify more than 1 volume type");
    }
  }
}

void CheckSource(const BuiltinCheck& check, const std::string& type, const Json& source,
                 const std::string& path) {
  if (type == "hostPath") {
    const std::string place = StringAt(source, {"path"});
    if (HasBackstep(place)) check.Invalid(path + ".path", place, "must not contain '..'");
  } else if (type == "emptyDir") {
    const auto size = QuantityMillis(StringAt(source, {"sizeLimit"}));
    if (size && *size < 0) {
      check.Forbidden(path + ".sizeLimit", "SizeLimit field must be a valid resource quantity");
    }
  } else if (type == "secret" || type == "configMap") {
    const char* member = type == "secret" ? "secretName" : "name";
    if (StringAt(source, {member}).empty()) check.Required(path + "." + member);
    CheckMode(check, source, "defaultMode", path);
    CheckItems(check, source, path);
  } else if (type == "downwardAPI") {
    CheckMode(check, source, "defaultMode", path);
    CheckPodFiles(check, source, path);
  } else if (type == "projected") {
    CheckProjected(check, source, path);
  } else if (type == "nfs") {
    const std::string place = StringAt(source, {"path"});
    if (!place.starts_with('/')) check.Invalid(path + ".path", place, "must be an absolute path");
  } else if (type == "gitRepo") {
    CheckDescending(check, StringAt(source, {"directory"}), path + ".directory");
  }
}

// The one source of a volume; a second one is refused. The name is no source.
void CheckVolumeSource(const BuiltinCheck& check, const Json& volume, const std::string& path) {
  int sources = 0;
  for (const auto& [type, source] : volume.items()) {
    if (type == "name") continue;
    if (++sources > 1) {
      check.Forbidden(path + "." + type, "may not specify more than 1 volume type");
    } else {
      CheckSource(check, type, source, path + "." + type);
    }
  }
  if (sources == 0) check.Required(path, "must specify a volume type");
}

std::set<std::string> MembersOf(const Json& list, const char* member) {
  std::set<std::string> out;
  for (const Json& item : list) out.insert(StringAt(item, {member}));
  return out;
}

void CheckDevices(const PodCheck& pod, const Json& container, const std::string& container_path) {
  const Json& list = ArrayAt(container, {"volumeDevices"});
  const std::set<std::string> mounted = MembersOf(ArrayAt(container, {"volumeMounts"}), "name");
  std::set<std::string> names, places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(container_path + ".volumeDevices", i);
    const std::string name = StringAt(list[i], {"name"}), place = StringAt(list[i], {"devicePath"});
    if (!name.empty() && !names.insert(name).second) {
      pod.check.Invalid(path + ".name", name, "must be unique");
    }
    auto volume = pod.volumes.find(name);
    if (volume == pod.volumes.end()) {
      pod.check.causes.push_back({"FieldValueNotFound", "Not found: " + Quoted(name), path + ".name"});
    } else if (volume->second != nullptr && !volume->second->contains("persistentVolumeClaim") &&
               !volume->second->contains("ephemeral")) {
      pod.check.Invalid(path + ".name", name,
                        "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                        "block mode");
    }
    if (HasBackstep(place)) {
      pod.check.Invalid(path + ".devicePath", place, "can not contain backsteps ('..')");
    } else if (!place.empty() && !places.insert(place).second) {
      pod.check.Invalid(path + ".devicePath", place, "must be unique");
    }
    if (mounted.contains(name)) {
      pod.check.Invalid(path + ".name", name, "must not already exist in volumeMounts");
    }
  }
}

void CheckMount(const PodCheck& pod, const Json& container, const Json& mount,
                const std::string& path, const std::string& list) {
  const BuiltinCheck& check = pod.check;
  const std::string part = StringAt(mount, {"subPath"}), expanded = StringAt(mount, {"subPathExpr"});
  CheckDescending(check, part, list + ".subPath");
  if (!expanded.empty()) {
    if (!part.empty()) {
      check.Invalid(path + ".subPathExpr", expanded,
                    "subPathExpr and subPath are mutually exclusive");
    }
    CheckDescending(check, expanded, list + ".subPathExpr");
  }
  if (StringAt(mount, {"mountPropagation"}) == "Bidirectional" &&
      !BoolAt(container, {"securityContext", "privileged"})) {
    check.Forbidden(list + ".mountPropagation",
                    "Bidirectional mount propagation is available only to privileged containers");
  }
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

void CheckDescending(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  if (text.starts_with('/')) check.Invalid(path, text, "must be a relative path");
  if (HasBackstep(text)) check.Invalid(path, text, "must not contain '..'");
}

void CheckVolumes(PodCheck& pod) {
  const Json& list = ArrayAt(pod.spec, {"volumes"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".volumes", i);
    const std::string name = StringAt(list[i], {"name"});
    const std::size_t before = pod.check.causes.size();
    CheckVolumeSource(pod.check, list[i], path);
    if (name.empty()) {
      pod.check.Required(path + ".name");
    } else {
      AddInvalid(pod.check.causes, path + ".name", name, CheckLabel(name));
    }
    if (!name.empty() && names.contains(name)) {
      pod.check.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
    }
    names.insert(name);
    // A volume with a mistake of its own cannot be mounted either.
    if (pod.check.causes.size() == before) pod.volumes[name] = &list[i];
  }
}

void CheckMounts(const PodCheck& pod, const Json& container, const std::string& container_path) {
  const std::string path = container_path + ".volumeMounts";
  const Json& list = ArrayAt(container, {"volumeMounts"});
  const std::set<std::string> devices = MembersOf(ArrayAt(container, {"volumeDevices"}), "name");
  std::set<std::string> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path, i);
    const std::string name = StringAt(list[i], {"name"});
    const std::string place = StringAt(list[i], {"mountPath"});
    if (name.empty()) pod.check.Required(field + ".name");
    if (!pod.volumes.contains(name)) {
      pod.check.causes.push_back(
          {"FieldValueNotFound", "Not found: " + Quoted(name), field + ".name"});
    }
    if (place.empty()) pod.check.Required(field + ".mountPath");
    if (!places.insert(place).second) {
      pod.check.Invalid(field + ".mountPath", place, "must be unique");
    }
    if (devices.contains(name)) {
      pod.check.Invalid(field + ".name", name, "must not already exist in volumeDevices");
    }
    CheckMount(pod, container, list[i], field, path);
  }
  CheckDevices(pod, container, container_path);
}

}  // namespace mailroom::openapi
