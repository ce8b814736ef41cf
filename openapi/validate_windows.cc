// What depends on the system that a pod is for: options of Windows, and members that one of the
// systems does not know.
#include <algorithm>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kSpecBytes = 64 * 1024;
constexpr std::size_t kDomainBytes = 256;
constexpr std::size_t kUserBytes = 104;

void ForbidIn(const PodCheck& pod, const Json& holder, const std::string& path,
              std::initializer_list<const char*> members) {
  for (const char* member : members) {
    if (Find(holder, {member}) != nullptr) {
      pod.check.Forbidden(path + "." + member, "cannot be set for a windows pod");
    }
  }
}

void CheckLinux(const PodCheck& pod) {
  const auto forbid = [&](const Json& holder, const std::string& path) {
    if (Find(holder, {"securityContext", "windowsOptions"}) == nullptr) return;
    pod.check.Forbidden(path + ".securityContext.windowsOptions",
                        "windows options cannot be set for a linux pod");
  };
  forbid(pod.spec, pod.path);
  ForEachContainer(pod.spec, pod.path, forbid);
}

void CheckWindowsPod(const PodCheck& pod) {
  const std::string context = pod.path + ".securityContext";
  const Json* found = Find(pod.spec, {"securityContext"});
  const Json& security = found == nullptr ? PodCheck::kNoSpec : *found;
  ForbidIn(pod, security, context, {"appArmorProfile", "seLinuxOptions"});
  ForbidIn(pod, pod.spec, pod.path, {"hostUsers"});
  for (const char* member : {"hostPID", "hostIPC"}) {
    if (BoolAt(pod.spec, {member})) {
      pod.check.Forbidden(pod.path + "." + member, "cannot be set for a windows pod");
    }
  }
  ForbidIn(pod, security, context, {"seccompProfile", "fsGroup", "fsGroupChangePolicy"});
  if (!ArrayAt(security, {"sysctls"}).empty()) ForbidIn(pod, security, context, {"sysctls"});
  ForbidIn(pod, pod.spec, pod.path, {"shareProcessNamespace"});
  ForbidIn(pod, security, context,
           {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
            "seLinuxChangePolicy"});
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    const Json* own = Find(container, {"securityContext"});
    if (own == nullptr) return;
    ForbidIn(pod, *own, path + ".securityContext",
             {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
              "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
              "runAsUser", "runAsGroup"});
  });
}

bool IsDomain(const std::string& text) {
  const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
  return MatchesPattern(R"(^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$)", text) ||
         MatchesPattern("^" + label + "(?:\\." + label + ")*$", text);
}

// Names are shown as JSON has them.
void Refuse(const BuiltinCheck& check, const std::string& path, const std::string& shown,
            const char* why) {
  check.causes.push_back(InvalidValue(path, DumpJson(shown), why));
}

void CheckUser(const BuiltinCheck& check, const std::string& shown, const std::string& user,
               const std::string& path) {
  if (user.empty()) {
    Refuse(check, path, shown, "runAsUserName's User cannot be empty");
  } else if (user.size() > kUserBytes) {
    Refuse(check, path, shown, "runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string::npos) {
    Refuse(check, path, shown, "runAsUserName's User cannot contain only periods or spaces");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string::npos) {
    Refuse(check, path, shown,
           "runAsUserName's User cannot contain the following characters: "
                  "\"/\\:;|=,+*?<>@[]");
  }
}

// `[domain\]user`
void CheckUserName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (name.empty()) {
    return Refuse(check, path, name, "runAsUserName cannot be an empty string");
  }
  if (std::any_of(name.begin(), name.end(), is_control)) {
    return Refuse(check, path, name, "runAsUserName cannot contain control characters");
  }
  const std::size_t slash = name.find('\\');
  if (slash != name.rfind('\\')) {
    return Refuse(check, path, name, "runAsUserName cannot contain more than one backslash");
  }
  if (slash == std::string::npos) return CheckUser(check, name, name, path);
  const std::string domain = name.substr(0, slash);
  if (domain.size() >= kDomainBytes) {
    Refuse(check, path, name, "runAsUserName's Domain length must be under 256 characters");
  }
  if (!IsDomain(domain)) {
    Refuse(check, path, name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  CheckUser(check, name, name.substr(slash + 1), path);
}

const Json* HostProcessOf(const Json& holder) {
  return Find(holder, {"securityContext", "windowsOptions", "hostProcess"});
}

}  // namespace

void CheckWindowsOptions(const BuiltinCheck& check, const Json* options, const std::string& path) {
  if (options == nullptr) return;
  if (Find(*options, {"gmsaCredentialSpecName"}) != nullptr) {
    const std::string name = StringAt(*options, {"gmsaCredentialSpecName"});
    AddInvalid(check.causes, path + ".gmsaCredentialSpecName", name, CheckSubdomain(name));
  }
  if (Find(*options, {"gmsaCredentialSpec"}) != nullptr) {
    const std::string text = StringAt(*options, {"gmsaCredentialSpec"});
    if (text.empty()) {
      check.Invalid(path + ".gmsaCredentialSpec", text, "gmsaCredentialSpec cannot be an empty string");
    } else if (text.size() > kSpecBytes) {
      check.Invalid(path + ".gmsaCredentialSpec", text, "gmsaCredentialSpec size must be under 64 KiB");
    }
  }
  if (Find(*options, {"runAsUserName"}) != nullptr) {
    CheckUserName(check, StringAt(*options, {"runAsUserName"}), path + ".runAsUserName");
  }
}

// Containers that are processes of the node: all of them, or none.
void CheckHostProcess(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  const Json* of_pod = HostProcessOf(pod.spec);
  const bool inherited = of_pod != nullptr && *of_pod == true;
  int all = 0, on_host = 0;
  ForEachContainer(pod.spec, pod.path, [&](const Json& container, const std::string& path) {
    ++all;
    const Json* own = HostProcessOf(container);
    if (of_pod != nullptr && own != nullptr && *of_pod != *own) {
      check.Invalid(path + ".securityContext.windowsOptions.hostProcess", *own,
                    "pod hostProcess value must be identical if both are specified, was " +
                        DumpJson(*of_pod));
    }
    on_host += own == nullptr ? inherited : *own == true;
  });
  if (on_host == 0) return;
  if (on_host != all) {
    check.Invalid(pod.path, "",
                  "If pod contains any hostProcess containers then all containers must be "
                  "HostProcess containers");
  }
  if (!BoolAt(pod.spec, {"hostNetwork"})) {
    check.Invalid(pod.path + ".hostNetwork", false,
                  "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

void CheckSystem(const PodCheck& pod) {
  if (Find(pod.spec, {"os"}) == nullptr) return;
  const std::string name = StringAt(pod.spec, {"os", "name"}), field = pod.path + ".os";
  if (name.empty()) return pod.check.Required(field + ".name");
  if (name == "linux") return CheckLinux(pod);
  if (name == "windows") return CheckWindowsPod(pod);
  CheckChoice(pod.check, name, field, {"linux", "windows"});
}

}  // namespace mailroom::openapi
