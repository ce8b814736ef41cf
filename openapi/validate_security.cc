// Security contexts of pods and containers.
#include <algorithm>
#include <array>
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_shown.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kProfileBytes = 4095;

// Segments of [a-z0-9] with '-' and '_' inside, joined by '.' or '/'.
bool IsSysctlName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  auto joint = [](char c) { return c == '.' || c == '/'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool edge = i == 0 || i + 1 == text.size() || joint(text[i - 1]) || joint(text[i + 1]);
    if (alnum(c) || (!edge && (c == '-' || c == '_'))) continue;
    if (!joint(c) || i == 0 || i + 1 == text.size() || joint(text[i - 1])) return false;
  }
  return true;
}

// Which separator comes first is the one that counts; the other stands for it.
std::string DottedSysctl(std::string name) {
  const std::size_t first = name.find_first_of("./");
  if (first == std::string::npos || name[first] == '.') return name;
  for (char& c : name) {
    if (c == '/') {
      c = '.';
    } else if (c == '.') {
      c = '/';
    }
  }
  return name;
}

// What the pod would change for the whole node; "" when nothing.
std::string SharedWithHost(const Json& spec, const std::string& sysctl) {
  static constexpr std::array<std::string_view, 10> kOfProcesses = {
      "kernel.sem",   "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
      "kernel.shm",   "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};
  const std::string name = DottedSysctl(sysctl);
  if (BoolAt(spec, {"hostNetwork"}) && name.starts_with("net.")) return "hostNetwork";
  const bool of_processes =
      name.starts_with("fs.mqueue.") ||
      std::find(kOfProcesses.begin(), kOfProcesses.end(), name) != kOfProcesses.end();
  return BoolAt(spec, {"hostIPC"}) && of_processes ? "hostIPC" : "";
}

bool SharedBefore(const Json& spec) {
  for (const Json& sysctl : ArrayAt(spec, {"securityContext", "sysctls"})) {
    if (!SharedWithHost(spec, StringAt(sysctl, {"name"})).empty()) return true;
  }
  return false;
}

void CheckSysctls(const PodCheck& pod, const Json& context, const std::string& path) {
  const Json& list = ArrayAt(context, {"sysctls"});
  const bool shared_before = SharedBefore(pod.before);
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path, i) + ".name";
    const std::string name = StringAt(list[i], {"name"});
    if (name.empty()) {
      pod.check.Required(field);
    } else if (!IsSysctlName(name)) {
      pod.check.Invalid(field, name,
                        "must have at most 253 characters and match regex "
                        "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (names.contains(name)) {
      pod.check.causes.push_back(DuplicateValue(field, Quoted(name)));
    }
    const std::string shared = shared_before ? "" : SharedWithHost(pod.spec, name);
    if (!shared.empty()) {
      pod.check.Invalid(field, name, "may not be specified when '" + shared + "' is true");
    }
    names.insert(name);
  }
}

// Volumes are relabelled file by file, unless the stored pod said something of it.
void CheckRelabelling(const PodCheck& pod, const Json& context, const std::string& path) {
  const Json* policy = Find(context, {"seLinuxChangePolicy"});
  if (policy == nullptr || !policy->is_string()) return;
  if (Find(pod.before, {"securityContext", "seLinuxChangePolicy"}) != nullptr) {
    CheckGivenChoice(pod.check, policy, path + ".seLinuxChangePolicy", {"MountOption", "Recursive"});
  } else {
    CheckGivenChoice(pod.check, policy, path + ".seLinuxChangePolicy", {"Recursive"});
  }
}

void CheckEscalation(const BuiltinCheck& check, const Json& context, const std::string& path) {
  if (BoolAt(context, {"allowPrivilegeEscalation"}, true)) return;
  const Json& added = ArrayAt(context, {"capabilities", "add"});
  const auto all = static_cast<std::size_t>(std::count(added.begin(), added.end(), "CAP_SYS_ADMIN"));
  const bool privileged = BoolAt(context, {"privileged"});
  if (all == 0 && !privileged) return;
  const std::string shown = ShownSecurityContext(context);
  if (privileged) {
    check.causes.push_back(
        InvalidValue(path, shown,
                     "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
  }
  for (std::size_t i = 0; i < all && !check.causes.full(); ++i) {
    check.causes.push_back(
        InvalidValue(path, shown,
                     "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                     "CAP_SYS_ADMIN"));
  }
}

}  // namespace

void CheckId(const BuiltinCheck& check, const Json* id, const std::string& path) {
  if (id == nullptr || !id->is_number_integer()) return;
  const auto value = id->get<std::int64_t>();
  if (value < 0 || value > INT32_MAX) {
    check.Invalid(path, *id, "must be between 0 and 2147483647, inclusive");
  }
}

void CheckSeccomp(const BuiltinCheck& check, const Json* profile, const std::string& path) {
  if (profile == nullptr) return;
  const Json* file = Find(*profile, {"localhostProfile"});
  const std::string type = StringAt(*profile, {"type"});
  if (type.empty()) {
    check.Required(path + ".type", "type is required when seccompProfile is set");
  } else {
    CheckChoice(check, type, path + ".type", {"Localhost", "RuntimeDefault", "Unconfined"});
  }
  if (type != "Localhost") {
    if (file == nullptr) return;
    check.causes.push_back(InvalidValue(path + ".localhostProfile", ShownProfile(profile),
                                        "can only be set when seccomp type is Localhost"));
  } else if (file == nullptr) {
    check.Required(path + ".localhostProfile", "must be set when seccomp type is Localhost");
  } else if (file->is_string()) {
    CheckDescending(check, file->get<std::string>(), path + ".localhostProfile");
  }
}

void CheckAppArmor(const BuiltinCheck& check, const Json* profile, const std::string& path) {
  if (profile == nullptr) return;
  const Json* file = Find(*profile, {"localhostProfile"});
  const std::string type = StringAt(*profile, {"type"}), field = path + ".localhostProfile";
  const std::string missing = "must be set when AppArmor type is Localhost";
  if (type.empty()) {
    return check.Required(path + ".type", "type is required when appArmorProfile is set");
  }
  if (type != "Localhost") {
    CheckChoice(check, type, path + ".type", {"Localhost", "RuntimeDefault", "Unconfined"});
    const bool known = type == "RuntimeDefault" || type == "Unconfined";
    if (!known || file == nullptr) return;
    return check.Invalid(field, *file, "can only be set when AppArmor type is Localhost");
  }
  if (file == nullptr || !file->is_string()) return check.Required(field, missing);
  const std::string name = file->get<std::string>();
  constexpr const char* kBlanks = " \t\n\v\f\r";
  if (!name.empty() &&
      (name.find_first_of(kBlanks) == 0 || name.find_last_of(kBlanks) == name.size() - 1)) {
    check.Invalid(field, name, "must not be padded with whitespace");
  } else if (name.empty()) {
    check.Required(field, missing);
  }
  if (name.size() > kProfileBytes) check.causes.push_back(TooLong(field, kProfileBytes));
}

void CheckPodSecurity(const PodCheck& pod) {
  const std::string path = pod.path + ".securityContext";
  const BuiltinCheck& check = pod.check;
  const Json* found = Find(pod.spec, {"securityContext"});
  const Json& context = found == nullptr ? PodCheck::kNoSpec : *found;
  for (const char* member : {"fsGroup", "runAsUser", "runAsGroup"}) {
    CheckId(check, Find(context, {member}), path + "." + member);
  }
  const Json& groups = ArrayAt(context, {"supplementalGroups"});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CheckId(check, &groups[i], Indexed(path + ".supplementalGroups", i));
  }
  if (BoolAt(pod.spec, {"hostPID"}) && BoolAt(pod.spec, {"shareProcessNamespace"})) {
    check.Invalid(path + ".shareProcessNamespace", true,
                  "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  CheckSysctls(pod, context, path + ".sysctls");
  CheckGivenChoice(check, Find(context, {"fsGroupChangePolicy"}), path + ".fsGroupChangePolicy",
                   {"Always", "OnRootMismatch"});
  CheckSeccomp(check, Find(context, {"seccompProfile"}), path + ".seccompProfile");
  CheckWindowsOptions(check, Find(context, {"windowsOptions"}), path + ".windowsOptions");
  CheckAppArmor(check, Find(context, {"appArmorProfile"}), path + ".appArmorProfile");
  CheckGivenChoice(check, Find(context, {"supplementalGroupsPolicy"}),
                   path + ".supplementalGroupsPolicy", {"Merge", "Strict"});
  CheckRelabelling(pod, context, path);
}

void CheckHostUsers(const PodCheck& pod) {
  if (pod.HostUsers()) return;
  const std::string why = "when `hostUsers` is false";
  const auto apart = [](const Json& spec) { return !BoolAt(spec, {"hostUsers"}, true); };
  const bool network_before = apart(pod.before) && BoolAt(pod.before, {"hostNetwork"});
  if (BoolAt(pod.spec, {"hostNetwork"}) && !network_before) {
    pod.check.Forbidden(pod.path + ".hostNetwork", why);
  }
  if (BoolAt(pod.spec, {"hostPID"})) pod.check.Forbidden(pod.path + ".HostPID", why);
  if (BoolAt(pod.spec, {"hostIPC"})) pod.check.Forbidden(pod.path + ".HostIPC", why);
  const auto has_devices = [](const Json& container) {
    return !ArrayAt(container, {"volumeDevices"}).empty();
  };
  bool devices_before = false;
  ForEachContainer(pod.before, "", [&](const Json& container, const std::string&) {
    devices_before |= has_devices(container);
  });
  if (devices_before && apart(pod.before)) return;
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    if (has_devices(container)) pod.check.Forbidden(path + ".volumeDevices", why);
  });
}

void CheckContainerSecurity(const PodCheck& pod, const Json& container,
                            const std::string& container_path) {
  const Json* context = Find(container, {"securityContext"});
  if (context == nullptr) return;
  const BuiltinCheck& check = pod.check;
  const std::string path = container_path + ".securityContext";
  for (const char* member : {"runAsUser", "runAsGroup"}) {
    CheckId(check, Find(*context, {member}), path + "." + member);
  }
  CheckGivenChoice(check, Find(*context, {"procMount"}), path + ".procMount", {"Default", "Unmasked"});
  if (pod.HostUsers() && StringAt(*context, {"procMount"}) == "Unmasked") {
    check.Invalid(path + ".procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`");
  }
  CheckSeccomp(check, Find(*context, {"seccompProfile"}), path + ".seccompProfile");
  CheckEscalation(check, *context, path);
  CheckWindowsOptions(check, Find(*context, {"windowsOptions"}), path + ".windowsOptions");
  CheckAppArmor(check, Find(*context, {"appArmorProfile"}), path + ".appArmorProfile");
}

}  // namespace mailroom::openapi
