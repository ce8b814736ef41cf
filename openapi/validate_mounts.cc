// How containers mount the volumes of their pod.
#include <map>
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

// What a list names, and where it puts that; of one name the last place counts.
struct Places {
  Places(const Json& list, const char* member) {
    std::map<std::string, std::string> by_name;
    for (const Json& item : list) by_name[StringAt(item, {"name"})] = StringAt(item, {member});
    for (auto& [name, place] : by_name) {
      names.insert(name);
      taken.insert(std::move(place));
    }
  }

  std::set<std::string> names, taken;
};

void CheckPropagation(const BuiltinCheck& check, const Json& container, const Json& mount,
                      const std::string& path) {
  const Json* mode = Find(mount, {"mountPropagation"});
  if (mode == nullptr) return;
  CheckGivenChoice(check, mode, path, {"Bidirectional", "HostToContainer", "None"});
  if (*mode == "Bidirectional" && !BoolAt(container, {"securityContext", "privileged"})) {
    check.Forbidden(path,
                    "Bidirectional mount propagation is available only to privileged containers");
  }
}

void CheckReadOnly(const BuiltinCheck& check, const Json& mount, const std::string& path) {
  const Json* mode = Find(mount, {"recursiveReadOnly"});
  if (mode == nullptr || *mode == "Disabled") return;
  if (*mode != "Enabled" && *mode != "IfPossible") {
    return CheckGivenChoice(check, mode, path, {"Disabled", "Enabled", "IfPossible"});
  }
  if (!BoolAt(mount, {"readOnly"})) check.Forbidden(path, "may only be specified when readOnly is true");
  const Json* propagation = Find(mount, {"mountPropagation"});
  if (propagation != nullptr && *propagation != "None") {
    check.Forbidden(path, "may only be specified when mountPropagation is None or not specified");
  }
}

// The path of some faults is that of the list.
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
  CheckPropagation(check, container, mount, list + ".mountPropagation");
  CheckReadOnly(check, mount, list + ".recursiveReadOnly");
}

void TellNotFound(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  check.causes.push_back({"FieldValueNotFound", "Not found: " + Quoted(name), path});
}

void CheckDeviceName(const PodCheck& pod, const std::string& name, const std::string& path,
                     const std::set<std::string>& names) {
  if (name.empty()) pod.check.Required(path);
  if (names.contains(name)) pod.check.Invalid(path, name, "must be unique");
  const auto volume = pod.volumes.find(name);
  if (volume == pod.volumes.end()) return TellNotFound(pod.check, name, path);
  if (volume->second != nullptr && !volume->second->contains("persistentVolumeClaim") &&
      !volume->second->contains("ephemeral")) {
    pod.check.Invalid(path, name,
                      "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                      "block mode");
  }
}

void CheckDevices(const PodCheck& pod, const Json& container, const std::string& container_path) {
  const Json& list = ArrayAt(container, {"volumeDevices"});
  const Places mounted(ArrayAt(container, {"volumeMounts"}), "mountPath");
  std::set<std::string> names, places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(container_path + ".volumeDevices", i);
    const std::string name = StringAt(list[i], {"name"}), place = StringAt(list[i], {"devicePath"});
    CheckDeviceName(pod, name, path + ".name", names);
    if (place.empty()) pod.check.Required(path + ".devicePath");
    if (places.contains(place)) pod.check.Invalid(path + ".devicePath", place, "must be unique");
    if (HasBackstep(place)) {
      pod.check.Invalid(path + ".devicePath", place, "can not contain backsteps ('..')");
    } else {
      places.insert(place);
    }
    if (mounted.names.contains(name)) {
      pod.check.Invalid(path + ".name", name, "must not already exist in volumeMounts");
    }
    if (mounted.taken.contains(place)) {
      pod.check.Invalid(path + ".devicePath", place,
                        "must not already exist as a path in volumeMounts");
    }
    if (!name.empty()) names.insert(name);
  }
}

}  // namespace

void CheckMounts(const PodCheck& pod, const Json& container, const std::string& container_path) {
  const std::string path = container_path + ".volumeMounts";
  const Json& list = ArrayAt(container, {"volumeMounts"});
  const Places devices(ArrayAt(container, {"volumeDevices"}), "devicePath");
  std::set<std::string> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path, i);
    const std::string name = StringAt(list[i], {"name"});
    const std::string place = StringAt(list[i], {"mountPath"});
    if (name.empty()) pod.check.Required(field + ".name");
    if (!pod.volumes.contains(name)) TellNotFound(pod.check, name, field + ".name");
    if (place.empty()) pod.check.Required(field + ".mountPath");
    if (!places.insert(place).second) {
      pod.check.Invalid(field + ".mountPath", place, "must be unique");
    }
    if (devices.names.contains(name)) {
      pod.check.Invalid(field + ".name", name, "must not already exist in volumeDevices");
    }
    if (devices.taken.contains(place)) {
      pod.check.Invalid(field + ".mountPath", place,
                        "must not already exist as a path in volumeDevices");
    }
    CheckMount(pod, container, list[i], field, path);
  }
  CheckDevices(pod, container, container_path);
}

}  // namespace mailroom::openapi
