#include "apiserver/admission/pod_security_words.h"

namespace mailroom::admission {
namespace {

constexpr std::int64_t kWindows = 25;   // whose pods have nothing of what Linux has
constexpr std::int64_t kOwnUsers = 35;  // where being root does not mean much

std::optional<Violation> Escalation(const PodUnderCheck& pod) {
  if (pod.minor >= kWindows && IsForWindows(pod)) return std::nullopt;
  const auto bad = ContainersThat(pod, [](const Json& container) {
    return BoolAt(container, {"securityContext", "allowPrivilegeEscalation"}, true);
  });
  if (bad.empty()) return std::nullopt;
  return Violation{"allowPrivilegeEscalation != false",
                   ContainersText(bad) +
                       " must set securityContext.allowPrivilegeEscalation=false"};
}

bool Drops(const Json& container, const char* capability) {
  for (const std::string& dropped : StringsAt(container, {"securityContext", "capabilities", "drop"})) {
    if (dropped == capability) return true;
  }
  return false;
}

std::optional<Violation> Capabilities(const PodUnderCheck& pod) {
  if (pod.minor >= kWindows && IsForWindows(pod)) return std::nullopt;
  std::set<std::string> added;
  const auto keeping =
      ContainersThat(pod, [](const Json& container) { return !Drops(container, "ALL"); });
  const auto adding = ContainersThat(pod, [&](const Json& container) {
    bool bad = false;
    for (std::string& name : StringsAt(container, {"securityContext", "capabilities", "add"})) {
      if (name == "NET_BIND_SERVICE") continue;
      bad = true;
      added.insert(std::move(name));
    }
    return bad;
  });
  if (keeping.empty() && adding.empty()) return std::nullopt;
  std::string detail;
  if (!keeping.empty()) {
    detail = ContainersText(keeping) + " must set securityContext.capabilities.drop=[\"ALL\"]";
  }
  if (!adding.empty()) {
    detail += (detail.empty() ? "" : "; ") + ContainersText(adding) + " must not include " +
              InQuotes(added) + " in securityContext.capabilities.add";
  }
  return Violation{"unrestricted capabilities", std::move(detail)};
}

// "" for a volume that anybody may have, else the kind of its source.
std::string RestrictedSource(const Json& volume) {
  for (const char* source : {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image",
                             "persistentVolumeClaim", "projected", "secret"}) {
    if (volume.contains(source)) return "";
  }
  for (const char* source :
       {"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi",
        "glusterfs", "rbd", "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile",
        "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume",
        "scaleIO", "storageos"}) {
    if (volume.contains(source)) return source;
  }
  return "unknown";
}

std::optional<Violation> Volumes(const PodUnderCheck& pod) {
  std::vector<std::string> bad;
  std::set<std::string> sources;
  for (const Json& volume : openapi::ArrayAt(pod.spec, {"volumes"})) {
    std::string source = RestrictedSource(volume);
    if (source.empty()) continue;
    bad.push_back(StringAt(volume, {"name"}));
    sources.insert(std::move(source));
  }
  if (bad.empty()) return std::nullopt;
  std::string detail(Plural("volume ", "volumes ", bad.size()));
  detail += InQuotes(bad);
  detail += Plural(" uses ", " use ", bad.size());
  detail += Plural("restricted volume type ", "restricted volume types ", sources.size());
  return Violation{"restricted volume types", detail + InQuotes(sources)};
}

std::optional<Violation> RunAsNonRoot(const PodUnderCheck& pod) {
  if (pod.minor >= kOwnUsers && HasOwnUsers(pod)) return std::nullopt;
  const Json* whole = Find(pod.spec, {"securityContext", "runAsNonRoot"});
  const bool pod_forbids = whole != nullptr && *whole == true;
  const bool pod_allows = whole != nullptr && !pod_forbids;
  auto own = [](const Json& container) {
    return Find(container, {"securityContext", "runAsNonRoot"});
  };
  const auto bad = ContainersThat(pod, [&](const Json& container) {
    return own(container) != nullptr && *own(container) == false;
  });
  if (pod_allows || !bad.empty()) {
    return Violation{"runAsNonRoot != true",
                     SettersText(pod_allows, bad) + " must not set securityContext.runAsNonRoot=false"};
  }
  if (pod_forbids) return std::nullopt;
  const auto silent =
      ContainersThat(pod, [&](const Json& container) { return own(container) == nullptr; });
  if (silent.empty()) return std::nullopt;
  return Violation{"runAsNonRoot != true", "pod or " + ContainersText(silent) +
                                               " must set securityContext.runAsNonRoot=true"};
}

std::optional<Violation> RunAsUser(const PodUnderCheck& pod) {
  if (pod.minor >= kOwnUsers && HasOwnUsers(pod)) return std::nullopt;
  auto is_root = [](const Json& holder) {
    return IntAt(holder, {"securityContext", "runAsUser"}, 1) == 0;
  };
  const bool whole = is_root(pod.spec);
  const auto bad = ContainersThat(pod, is_root);
  if (!whole && bad.empty()) return std::nullopt;
  return Violation{"runAsUser=0", SettersText(whole, bad) + " must not set runAsUser=0"};
}

std::optional<Violation> Seccomp(const PodUnderCheck& pod) {
  if (pod.minor >= kWindows && IsForWindows(pod)) return std::nullopt;
  if (auto violation = UnsafeSeccomp(pod)) return violation;
  if (Find(pod.spec, {"securityContext", "seccompProfile"}) != nullptr) return std::nullopt;
  const auto silent = ContainersThat(pod, [](const Json& container) {
    return Find(container, {"securityContext", "seccompProfile"}) == nullptr;
  });
  if (silent.empty()) return std::nullopt;
  return Violation{"seccompProfile",
                   "pod or " + ContainersText(silent) +
                       " must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
                       "\"Localhost\""};
}

}  // namespace

const std::vector<SecurityCheck>& RestrictedChecks() {
  static const std::vector<SecurityCheck> checks = {
      {Escalation, 8},   {Capabilities, 22}, {UnmaskedProc, 35}, {Volumes},
      {RunAsNonRoot},    {RunAsUser, 23},    {Seccomp, 19},
  };
  return checks;
}

}  // namespace mailroom::admission
