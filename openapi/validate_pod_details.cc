// Members of a pod that few pods have: the system it is for, search domains, a runtime class, drivers
// of volumes and claims made for the pod.
#include <array>

#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

template <typename Visit>
void ForEachContainer(const PodCheck& pod, Visit visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Json& containers = ArrayAt(pod.spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      visit(containers[i], Indexed(pod.path + "." + list, i));
    }
  }
}

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
  ForEachContainer(pod, forbid);
}

void CheckWindows(const PodCheck& pod) {
  const std::string context = pod.path + ".securityContext";
  if (const Json* security = Find(pod.spec, {"securityContext"})) {
    ForbidIn(pod, *security, context, {"appArmorProfile", "seLinuxOptions"});
    ForbidIn(pod, pod.spec, pod.path, {"hostUsers"});
    for (const char* member : {"hostPID", "hostIPC"}) {
      if (BoolAt(pod.spec, {member})) {
        pod.check.Forbidden(pod.path + "." + member, "cannot be set for a windows pod");
      }
    }
    ForbidIn(pod, *security, context, {"seccompProfile", "fsGroup", "fsGroupChangePolicy"});
    if (!ArrayAt(*security, {"sysctls"}).empty()) ForbidIn(pod, *security, context, {"sysctls"});
    ForbidIn(pod, pod.spec, pod.path, {"shareProcessNamespace"});
    ForbidIn(pod, *security, context,
             {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
              "seLinuxChangePolicy"});
  }
  ForEachContainer(pod, [&](const Json& container, const std::string& path) {
    const Json* security = Find(container, {"securityContext"});
    if (security == nullptr) return;
    ForbidIn(pod, *security, path + ".securityContext",
             {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
              "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
              "runAsUser", "runAsGroup"});
  });
}

void CheckSystem(const PodCheck& pod) {
  const Json* found = Find(pod.spec, {"os"});
  if (found == nullptr) return;
  const std::string name = StringAt(*found, {"name"}), field = pod.path + ".os";
  if (name == "linux") return CheckLinux(pod);
  if (name == "windows") return CheckWindows(pod);
  Untell(pod.check.causes, field + ".name");
  if (name.empty()) return pod.check.Required(field + ".name");
  pod.check.causes.push_back(NotSupported(field, name, {"linux", "windows"}));
}

void CheckSearches(const PodCheck& pod) {
  constexpr std::size_t kMostPaths = 32, kMostBytes = 2048;
  const std::string field = pod.path + ".dnsConfig.searches";
  const auto list = StringsAt(pod.spec, {"dnsConfig", "searches"});
  if (list.size() > kMostPaths) {
    pod.check.Invalid(field, list, "must not have more than 32 search paths");
  }
  std::size_t bytes = list.empty() ? 0 : list.size() - 1;
  for (const std::string& text : list) bytes += text.size();
  if (bytes > kMostBytes) {
    pod.check.Invalid(field, list,
                      "must not have more than 2048 characters (including spaces) in the search list");
  }
  const std::string label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ".") continue;
    const std::string text = list[i].ends_with('.') ? list[i].substr(0, list[i].size() - 1) : list[i];
    if (text.size() > 253) {
      pod.check.Invalid(Indexed(field, i), text, "must be no more than 253 characters");
    }
    const std::string form = label + "(\\." + label + ")*";
    if (MatchesPattern("^" + form + "$", text)) continue;
    pod.check.Invalid(Indexed(field, i), text,
                      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                      "characters, '_', '-' or '.', and must start and end with an alphanumeric "
                      "character (e.g. 'example.com', regex used for validation is '" +
                          form + "')");
  }
}

void CheckOverride(const PodCheck& pod) {
  if (Find(pod.spec, {"hostnameOverride"}) == nullptr) return;
  constexpr std::size_t kLongest = 64;
  const std::string name = StringAt(pod.spec, {"hostnameOverride"});
  const std::string field = pod.path + ".hostnameOverride";
  if (BoolAt(pod.spec, {"setHostnameAsFQDN"})) {
    pod.check.Forbidden(field, "may not be specified when setHostnameAsFQDN is true");
  }
  if (BoolAt(pod.spec, {"hostNetwork"})) {
    pod.check.Forbidden(field, "may not be specified when hostNetwork is true");
  }
  if (name.size() > kLongest) pod.check.causes.push_back(TooLong(field, kLongest));
  AddInvalid(pod.check.causes, field, name, CheckSubdomain(name));
}

void CheckVolumeDetails(const PodCheck& pod) {
  const Json& volumes = ArrayAt(pod.spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string path = Indexed(pod.path + ".volumes", i);
    if (const Json* driver = Find(volumes[i], {"csi"})) {
      CheckDriverName(pod.check, StringAt(*driver, {"driver"}), path + ".csi.driver");
      const std::string secret = StringAt(*driver, {"nodePublishSecretRef", "name"});
      if (Find(*driver, {"nodePublishSecretRef"}) == nullptr) continue;
      if (secret.empty()) {
        pod.check.Required(path + ".csi.nodePublishSecretRef.name");
      } else {
        AddInvalid(pod.check.causes, path + ".csi.name", secret, CheckSubdomain(secret));
      }
    }
    const Json* claim = Find(volumes[i], {"ephemeral", "volumeClaimTemplate"});
    const std::string place = path + ".ephemeral.volumeClaimTemplate";
    if (claim == nullptr) {
      if (Find(volumes[i], {"ephemeral"}) != nullptr) {
        Untell(pod.check.causes, place);
        pod.check.Required(place);
      }
      continue;
    }
    static const Json kNone = Json::object();
    const Json* spec = Find(*claim, {"spec"});
    CheckClaimSpec(pod.check, spec == nullptr ? kNone : *spec, place + ".spec");
  }
}

}  // namespace

void CheckPodDetails(const PodCheck& pod) {
  // Templates may still hold places for images.
  if (pod.path == "spec") {
    ForEachContainer(pod, [&](const Json& container, const std::string& path) {
      const std::string image = StringAt(container, {"image"});
      constexpr const char* kBlanks = " \t\r\n\v\f";
      if (image.empty() || (image.find_first_not_of(kBlanks) == 0 &&
                            image.find_last_not_of(kBlanks) == image.size() - 1)) {
        return;
      }
      pod.check.Invalid(path + ".image", image, "must not have leading or trailing whitespace");
    });
  }
  CheckVolumeDetails(pod);
  CheckSystem(pod);
  CheckSearches(pod);
  CheckOverride(pod);
  // A name has been looked at.
  const Json* runtime = Find(pod.spec, {"runtimeClassName"});
  if (runtime != nullptr && *runtime == "") {
    AddInvalid(pod.check.causes, pod.path + ".runtimeClassName", "", CheckSubdomain(""));
  }
}

}  // namespace mailroom::openapi
