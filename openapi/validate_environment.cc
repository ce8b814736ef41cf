// Environment variables and references to fields and amounts of a pod.
#include <algorithm>
#include <array>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::array<std::string_view, 9> kEnvironmentFields = {
    "metadata.name",  "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"};
constexpr std::array<std::string_view, 5> kVolumeFields = {
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"};
constexpr std::array<std::string_view, 2> kMaps = {"metadata.annotations", "metadata.labels"};
// Known fields that neither a variable nor a volume may refer to.
constexpr std::array<std::string_view, 3> kOtherFields = {"spec.restartPolicy", "spec.schedulerName",
                                                          "status.phase"};
constexpr std::array<std::string_view, 6> kAmounts = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

template <std::size_t N>
bool Holds(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <std::size_t N>
std::vector<std::string> Sorted(const std::array<std::string_view, N>& list) {
  return {list.begin(), list.end()};
}

void CheckVariableName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const bool printable = std::all_of(name.begin(), name.end(),
                                     [](char c) { return c >= 0x20 && c < 0x7f && c != '='; });
  if (printable) return;
  check.Invalid(path, name,
                "a valid environment variable name must consist only of printable ASCII "
                "characters other than '='");
}

void CheckKeyRef(const BuiltinCheck& check, const Json& ref, const std::string& path) {
  const std::string name = StringAt(ref, {"name"}), key = StringAt(ref, {"key"});
  AddInvalid(check.causes, path + ".name", name, CheckSubdomain(name));
  if (key.empty()) return check.Required(path + ".key");
  AddInvalid(check.causes, path + ".key", key, CheckConfigKey(key));
}

// A variable in a file of a volume.
void CheckFileRef(const BuiltinCheck& check, const Json& ref, const std::string& path) {
  const std::string key = StringAt(ref, {"key"}), volume = StringAt(ref, {"volumeName"});
  const std::string file = StringAt(ref, {"path"});
  if (key.empty()) {
    check.Required(path + ".key");
  } else {
    CheckVariableName(check, key, path + ".key");
  }
  if (volume.empty()) {
    check.Required(path + ".volumeName");
  } else {
    AddInvalid(check.causes, path + ".volumeName", volume, CheckLabel(volume));
  }
  if (file.empty()) return check.Required(path + ".path");
  CheckNoBacksteps(check, file, path + ".path");
}

void CheckValueFrom(const BuiltinCheck& check, const Json& variable, const std::string& path) {
  const Json* source = Find(variable, {"valueFrom"});
  if (source == nullptr) return;
  int sources = 0;
  if (const Json* ref = Find(*source, {"fieldRef"})) {
    ++sources;
    CheckFieldRef(check, *ref, path + ".fieldRef", RefHome::kEnvironment);
  }
  if (const Json* ref = Find(*source, {"resourceFieldRef"})) {
    ++sources;
    CheckAmountRef(check, *ref, path + ".resourceFieldRef", RefHome::kEnvironment);
  }
  for (const char* member : {"configMapKeyRef", "secretKeyRef"}) {
    if (const Json* ref = Find(*source, {member})) {
      ++sources;
      CheckKeyRef(check, *ref, path + "." + member);
    }
  }
  if (const Json* ref = Find(*source, {"fileKeyRef"})) {
    ++sources;
    CheckFileRef(check, *ref, path + ".fileKeyRef");
  }
  if (sources == 0) {
    check.Invalid(path, "",
                  "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                  "`secretKeyRef` or `fileKeyRef`");
  } else if (!StringAt(variable, {"value"}).empty()) {
    check.Invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    check.Invalid(path, "", "may not have more than one field specified at a time");
  }
}

void CheckImported(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const Json& list = ArrayAt(container, {"envFrom"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path, i);
    CheckVariableName(check, StringAt(list[i], {"prefix"}), field + ".prefix");
    int sources = 0;
    for (const char* member : {"configMapRef", "secretRef"}) {
      if (Find(list[i], {member}) == nullptr) continue;
      ++sources;
      const std::string name = StringAt(list[i], {member, "name"});
      if (name.empty()) {
        check.Required(field + "." + member + ".name");
      } else {
        AddInvalid(check.causes, field + "." + member + ".name", name, CheckSubdomain(name));
      }
    }
    if (sources == 0) check.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    if (sources > 1) {
      check.Invalid(path, "", "may not have more than one field specified at a time");
    }
  }
}

// `metadata.labels['key']` is split; anything else has no subscript.
bool SplitSubscript(const std::string& text, std::string& field, std::string& subscript) {
  const std::size_t open = text.find("['");
  if (open == std::string::npos || !text.ends_with("']")) return false;
  field = text.substr(0, open);
  subscript = text.substr(open + 2, text.size() - open - 4);
  return !field.empty();
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// In what an amount is counted.
void CheckDivisor(const BuiltinCheck& check, const std::string& name, const std::string& given,
                  const std::string& path) {
  const std::string divisor = CanonicalQuantity(given);
  if (divisor.empty() || divisor == "0") return;
  if (name == "limits.cpu" || name == "requests.cpu") {
    if (divisor == "1" || divisor == "1m") return;
    check.Invalid(path, name, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  static constexpr std::array<std::string_view, 13> kDivisors = {
      "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  const bool huge = name.starts_with("limits.hugepages-") || name.starts_with("requests.hugepages-");
  if (Holds(kDivisors, divisor) || (!huge && !Holds(kAmounts, name))) return;
  const std::string what = huge                        ? "hugepages"
                           : name.ends_with(".memory") ? "memory"
                                                       : "local ephemeral storage";
  check.Invalid(path, name,
                "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are "
                "supported with the " + what + " resource");
}

}  // namespace

void CheckFieldRef(const BuiltinCheck& check, const Json& ref, const std::string& path,
                   RefHome home) {
  std::string text = StringAt(ref, {"fieldPath"});
  const std::string version = StringAt(ref, {"apiVersion"});
  if (version.empty()) return check.Required(path + ".apiVersion");
  if (text.empty()) return check.Required(path + ".fieldPath");
  auto unconvertible = [&](const std::string& why) {
    check.Invalid(path + ".fieldPath", text, "error converting fieldPath: " + why);
  };
  if (version != "v1") return unconvertible("unsupported pod version: " + version);
  std::string field, subscript;
  if (SplitSubscript(text, field, subscript)) {
    if (!Holds(kMaps, field)) return unconvertible("field label does not support subscript: " + text);
    if (field == "metadata.annotations") subscript = LowerCase(subscript);
    AddInvalid(check.causes, path, subscript, CheckQualifiedName(subscript));
    return;
  }
  if (text == "spec.host") text = "spec.nodeName";  // its name before there was v1
  if (!Holds(kEnvironmentFields, text) && !Holds(kMaps, text) && !Holds(kOtherFields, text)) {
    return unconvertible("field label not supported: " + text);
  }
  if (home == RefHome::kVolume) {
    if (!Holds(kVolumeFields, text)) {
      check.causes.push_back(NotSupported(path + ".fieldPath", text, Sorted(kVolumeFields)));
    }
  } else if (!Holds(kEnvironmentFields, text)) {
    check.causes.push_back(NotSupported(path + ".fieldPath", text, Sorted(kEnvironmentFields)));
  }
}

void CheckAmountRef(const BuiltinCheck& check, const Json& ref, const std::string& path,
                    RefHome home) {
  const std::string name = StringAt(ref, {"resource"});
  if (home == RefHome::kVolume && StringAt(ref, {"containerName"}).empty()) {
    check.Required(path + ".containerName");
  } else if (name.empty()) {
    check.Required(path + ".resource");
  } else if (!Holds(kAmounts, name) && !name.starts_with("limits.hugepages-") &&
             !name.starts_with("requests.hugepages-")) {
    check.causes.push_back(NotSupported(path + ".resource", name, Sorted(kAmounts)));
  }
  CheckDivisor(check, name, StringAt(ref, {"divisor"}), path + ".divisor");
}

void CheckEnvironment(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const Json& list = ArrayAt(container, {"env"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path + ".env", i);
    const std::string name = StringAt(list[i], {"name"});
    if (name.empty()) {
      check.Required(field + ".name");
    } else {
      CheckVariableName(check, name, field + ".name");
    }
    CheckValueFrom(check, list[i], field + ".valueFrom");
  }
  CheckImported(check, container, path + ".envFrom");
}

void CheckFileVariables(const PodCheck& pod) {
  std::map<std::string, const Json*> volumes;
  for (const Json& volume : ArrayAt(pod.spec, {"volumes"})) volumes[StringAt(volume, {"name"})] = &volume;
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    const Json& list = ArrayAt(container, {"env"});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json* ref = Find(list[i], {"valueFrom", "fileKeyRef"});
      if (ref == nullptr) continue;
      const std::string name = StringAt(*ref, {"volumeName"});
      const std::string field = Indexed(path + ".env", i) + ".valueFrom.fileKeyRef.volumeName";
      const auto volume = volumes.find(name);
      if (volume == volumes.end()) {
        pod.check.causes.push_back({"FieldValueNotFound", "Not found: " + Quoted(name), field});
      } else if (Find(*volume->second, {"emptyDir"}) == nullptr) {
        pod.check.Invalid(field, name, "referenced volume must be of type emptyDir");
      }
    }
  });
}

}  // namespace mailroom::openapi
