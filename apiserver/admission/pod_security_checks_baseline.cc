#include <map>

#include "apiserver/admission/pod_security_words.h"

namespace mailroom::admission {
namespace {

std::optional<Violation> AppArmor(const PodUnderCheck& pod) {
  constexpr std::string_view kAnnotation = "container.apparmor.security.beta.kubernetes.io/";
  std::set<std::string> types, annotations;
  auto bad_type = [&](const Json& holder) {
    if (Find(holder, {"securityContext", "appArmorProfile"}) == nullptr) return false;
    std::string type = StringAt(holder, {"securityContext", "appArmorProfile", "type"});
    if (type == "RuntimeDefault" || type == "Localhost") return false;
    types.insert(std::move(type));
    return true;
  };
  const bool whole = bad_type(pod.spec);
  std::string setters = SettersText(whole, ContainersThat(pod, bad_type));
  for (const auto& [key, value] : pod.annotations.items()) {
    if (!key.starts_with(kAnnotation) || !value.is_string()) continue;
    const auto& profile = value.get_ref<const std::string&>();
    if (profile.empty() || profile == "runtime/default" || profile.starts_with("localhost/")) continue;
    annotations.insert(key + "=" + Quoted(profile));
  }
  if (!annotations.empty()) {
    setters += setters.empty() ? "" : " and ";
    setters += Plural("annotation", "annotations", annotations.size());
  }
  if (setters.empty()) return std::nullopt;
  std::vector<std::string> values(types.begin(), types.end());
  values.insert(values.end(), annotations.begin(), annotations.end());
  return Violation{std::string(Plural("forbidden AppArmor profile", "forbidden AppArmor profiles",
                                      values.size())),
                   setters + " must not set AppArmor profile type to " + InQuotes(values)};
}

std::optional<Violation> Capabilities(const PodUnderCheck& pod) {
  static const std::set<std::string> usual = {
      "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE",     "FOWNER",  "FSETID", "KILL",    "MKNOD",
      "NET_BIND_SERVICE",     "SETFCAP",          "SETGID",  "SETPCAP", "SETUID", "SYS_CHROOT"};
  std::set<std::string> added;
  const auto bad = ContainersThat(pod, [&](const Json& container) {
    bool any = false;
    for (std::string& name : StringsAt(container, {"securityContext", "capabilities", "add"})) {
      if (usual.contains(name)) continue;
      any = true;
      added.insert(std::move(name));
    }
    return any;
  });
  if (bad.empty()) return std::nullopt;
  return Violation{"non-default capabilities", ContainersText(bad) + " must not include " +
                                                   InQuotes(added) +
                                                   " in securityContext.capabilities.add"};
}

std::optional<Violation> HostNamespaces(const PodUnderCheck& pod) {
  std::string used;
  for (const char* member : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (!BoolAt(pod.spec, {member})) continue;
    used += (used.empty() ? "" : ", ") + std::string(member) + "=true";
  }
  if (used.empty()) return std::nullopt;
  return Violation{"host namespaces", std::move(used)};
}

std::optional<Violation> HostPaths(const PodUnderCheck& pod) {
  std::vector<std::string> bad;
  for (const Json& volume : openapi::ArrayAt(pod.spec, {"volumes"})) {
    if (volume.contains("hostPath")) bad.push_back(StringAt(volume, {"name"}));
  }
  if (bad.empty()) return std::nullopt;
  return Violation{"hostPath volumes",
                   std::string(Plural("volume ", "volumes ", bad.size())) + InQuotes(bad)};
}

std::optional<Violation> HostPorts(const PodUnderCheck& pod) {
  std::set<std::string> used;  // in the order of their texts
  const auto bad = ContainersThat(pod, [&](const Json& container) {
    bool any = false;
    for (const Json& port : openapi::ArrayAt(container, {"ports"})) {
      const std::int64_t number = IntAt(port, {"hostPort"});
      if (number == 0) continue;
      any = true;
      used.insert(std::to_string(number));
    }
    return any;
  });
  if (bad.empty()) return std::nullopt;
  std::string detail = ContainersText(bad);
  detail += Plural(" uses ", " use ", bad.size());
  detail += Plural("hostPort", "hostPorts", used.size());
  const char* separator = " ";
  for (const std::string& port : used) {
    detail += separator + port;
    separator = ", ";
  }
  return Violation{"hostPort", std::move(detail)};
}

// Hosts that a probe or a handler of the container's life names, against which the node would act.
void AddHosts(const Json& container, Path where, std::set<std::string>& hosts) {
  const Json* handler = Find(container, where);
  if (handler == nullptr) return;
  for (const char* way : {"httpGet", "tcpSocket"}) {
    if (std::string host = StringAt(*handler, {way, "host"}); !host.empty()) {
      hosts.insert(std::move(host));
    }
  }
}

std::optional<Violation> Hosts(const PodUnderCheck& pod) {
  std::set<std::string> bad, hosts;
  ForContainers(pod, [&](const Json& container) {
    std::set<std::string> own;
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
      AddHosts(container, {probe}, own);
    }
    for (const char* moment : {"postStart", "preStop"}) {
      AddHosts(container, {"lifecycle", moment}, own);
    }
    if (!own.empty()) bad.insert(StringAt(container, {"name"}));
    hosts.merge(own);
  });
  if (bad.empty()) return std::nullopt;
  std::string detail = ContainersText({bad.begin(), bad.end()});
  detail += Plural(" uses ", " use ", bad.size());
  detail += Plural("probe or lifecycle host ", "probe or lifecycle hosts ", hosts.size());
  return Violation{"probe or lifecycle host", detail + InQuotes(hosts)};
}

std::optional<Violation> Privileged(const PodUnderCheck& pod) {
  const auto bad = ContainersThat(pod, [](const Json& container) {
    return BoolAt(container, {"securityContext", "privileged"});
  });
  if (bad.empty()) return std::nullopt;
  return Violation{"privileged",
                   ContainersText(bad) + " must not set securityContext.privileged=true"};
}

std::optional<Violation> ProcMount(const PodUnderCheck& pod) {
  constexpr std::int64_t kOwnUsers = 35;  // what is hidden from them is not worth much
  if (pod.minor >= kOwnUsers && HasOwnUsers(pod)) return std::nullopt;
  return UnmaskedProc(pod);
}

std::optional<Violation> SeLinux(const PodUnderCheck& pod) {
  constexpr std::int64_t kEngines = 31;
  std::set<std::string> types;
  bool user = false, role = false;
  auto is_bad = [&](const Json& holder) {
    const Json* options = Find(holder, {"securityContext", "seLinuxOptions"});
    if (options == nullptr) return false;
    std::string type = StringAt(*options, {"type"});
    const bool bad_type = !type.empty() && type != "container_t" && type != "container_init_t" &&
                          type != "container_kvm_t" &&
                          !(type == "container_engine_t" && pod.minor >= kEngines);
    const bool own_user = !StringAt(*options, {"user"}).empty();
    const bool own_role = !StringAt(*options, {"role"}).empty();
    if (bad_type) types.insert(std::move(type));
    user = user || own_user;
    role = role || own_role;
    return bad_type || own_user || own_role;
  };
  const bool whole = is_bad(pod.spec);
  const auto bad = ContainersThat(pod, is_bad);
  if (!whole && bad.empty()) return std::nullopt;
  std::string detail = SettersText(whole, bad) + " set forbidden securityContext.seLinuxOptions: ";
  if (!types.empty()) detail += Plural("type ", "types ", types.size());
  detail += InQuotes(types);
  if (user) detail += std::string(types.empty() ? "" : "; ") + "user may not be set";
  if (role) detail += std::string(types.empty() && !user ? "" : "; ") + "role may not be set";
  return Violation{"seLinuxOptions", std::move(detail)};
}

// Annotations that said what a field says today.
std::optional<Violation> SeccompAnnotations(const PodUnderCheck& pod) {
  std::set<std::string> bad;
  auto look = [&](const std::string& key) {
    const Json* found = Find(pod.annotations, {key});
    if (found == nullptr) return;
    const std::string value = StringAt(pod.annotations, {key});
    if (value == "runtime/default" || value == "docker/default" || value.starts_with("localhost/")) {
      return;
    }
    bad.insert(key + "=" + Quoted(value));
  };
  look("seccomp.security.alpha.kubernetes.io/pod");
  ForContainers(pod, [&](const Json& container) {
    look("container.seccomp.security.alpha.kubernetes.io/" + StringAt(container, {"name"}));
  });
  if (bad.empty()) return std::nullopt;
  std::string detail(Plural("forbidden annotation", "forbidden annotations", bad.size()));
  const char* separator = " ";
  for (const std::string& annotation : bad) {
    detail += separator + annotation;
    separator = ", ";
  }
  return Violation{"seccompProfile", std::move(detail)};
}

std::optional<Violation> Seccomp(const PodUnderCheck& pod) {
  constexpr std::int64_t kField = 19;
  return pod.minor < kField ? SeccompAnnotations(pod) : UnsafeSeccomp(pod);
}

std::optional<Violation> Sysctls(const PodUnderCheck& pod) {
  static const std::map<std::string, std::int64_t> safe_since = {
      {"kernel.shm_rmid_forced", 0},        {"net.ipv4.ip_local_port_range", 0},
      {"net.ipv4.tcp_syncookies", 0},       {"net.ipv4.ping_group_range", 0},
      {"net.ipv4.ip_unprivileged_port_start", 0},
      {"net.ipv4.ip_local_reserved_ports", 27},
      {"net.ipv4.tcp_keepalive_time", 29},  {"net.ipv4.tcp_fin_timeout", 29},
      {"net.ipv4.tcp_keepalive_intvl", 29}, {"net.ipv4.tcp_keepalive_probes", 29},
      {"net.ipv4.tcp_rmem", 32},            {"net.ipv4.tcp_wmem", 32}};
  std::string bad;
  for (const Json& sysctl : openapi::ArrayAt(pod.spec, {"securityContext", "sysctls"})) {
    const std::string name = StringAt(sysctl, {"name"});
    const auto safe = safe_since.find(name);
    if (safe != safe_since.end() && pod.minor >= safe->second) continue;
    bad += (bad.empty() ? "" : ", ") + name;
  }
  if (bad.empty()) return std::nullopt;
  return Violation{"forbidden sysctls", std::move(bad)};
}

std::optional<Violation> HostProcess(const PodUnderCheck& pod) {
  auto is_bad = [](const Json& holder) {
    return BoolAt(holder, {"securityContext", "windowsOptions", "hostProcess"});
  };
  const bool whole = is_bad(pod.spec);
  const auto bad = ContainersThat(pod, is_bad);
  if (!whole && bad.empty()) return std::nullopt;
  return Violation{"hostProcess",
                   SettersText(whole, bad) +
                       " must not set securityContext.windowsOptions.hostProcess=true"};
}

}  // namespace

const std::vector<SecurityCheck>& BaselineChecks() {
  static const std::vector<SecurityCheck> checks = {
      {AppArmor},  {Capabilities, 0, 22}, {HostNamespaces}, {HostPaths, 0, 0}, {HostPorts},
      {Hosts, 34}, {Privileged},          {ProcMount, 0, 35}, {SeLinux},       {Seccomp, 0, 19},
      {Sysctls},   {HostProcess},
  };
  return checks;
}

}  // namespace mailroom::admission
