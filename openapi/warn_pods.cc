#include <array>
#include <functional>
#include <map>
#include <set>

#include "openapi/validate_pods.h"
#include "openapi/warn_builtin.h"

namespace mailroom::openapi {
namespace {

const std::string kAnnotations = "metadata.annotations";

struct Deprecated {
  const char* name;
  const char* why;
};

constexpr std::array<Deprecated, 3> kDeadAnnotations = {{
    {"scheduler.alpha.kubernetes.io/critical-pod",
     "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
    {"security.alpha.kubernetes.io/sysctls",
     "non-functional in v1.11+; use the \"sysctls\" field instead"},
    {"security.alpha.kubernetes.io/unsafe-sysctls",
     "non-functional in v1.11+; use the \"sysctls\" field instead"},
}};

constexpr std::array<Deprecated, 9> kDeadVolumes = {{
    {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
}};

// One pod or template on its way through the checks.
struct Subject {
  const Json& pod;
  const Json& spec;
  const std::string& path;  // of the pod
  Warnings& warnings;

  std::string In(const std::string& member) const { return Below(path, "spec." + member); }
  const Json& List(Path at) const { return ArrayAt(spec, at); }
  bool Annotated(const std::string& key) const {
    const Json* all = Find(pod, {"metadata", "annotations"});
    return all != nullptr && all->contains(key);
  }
  std::string Annotation(const std::string& key) const {
    return Below(path, kAnnotations) + "[" + key + "]";
  }
  void Warn(const std::string& where, const std::string& what) const {
    warnings.push_back(where + ": " + what);
  }
};

void WarnAboutNodes(const Subject& subject) {
  if (const Json* labels = Find(subject.spec, {"nodeSelector"}); labels && labels->is_object()) {
    for (const auto& [label, value] : labels->items()) {
      const std::string why = NodeLabelProblem(label);
      if (!why.empty()) subject.Warn(subject.In("nodeSelector[" + label + "]"), why);
    }
  }
  const std::string affinity = subject.In("affinity.nodeAffinity.");
  const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  const char* preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const Json& terms = subject.List({"affinity", "nodeAffinity", required, "nodeSelectorTerms"});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    WarnAboutNodeTerm(terms[i], false,
                      Indexed(affinity + required + ".nodeSelectorTerms", i), subject.warnings);
  }
  const Json& wishes = subject.List({"affinity", "nodeAffinity", preferred});
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const Json* term = Find(wishes[i], {"preference"});
    if (term == nullptr) continue;
    WarnAboutNodeTerm(*term, true, Indexed(affinity + preferred, i) + ".preference",
                      subject.warnings);
  }
}

constexpr const char* kNoSelector = "a null labelSelector results in matching no pod";

void WarnAboutSpreading(const Subject& subject) {
  const Json& constraints = subject.List({"topologySpreadConstraints"});
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = Indexed(subject.In("topologySpreadConstraints"), i);
    const std::string key = StringAt(constraints[i], {"topologyKey"});
    const std::string why = NodeLabelProblem(key);
    if (!why.empty()) subject.Warn(at + ".topologyKey", key + " is " + why);
    if (Find(constraints[i], {"labelSelector"}) == nullptr) {
      subject.Warn(at + ".labelSelector", kNoSelector);
    }
  }
}

void WarnAboutCompany(const Subject& subject) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
    const char* preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    const std::string at = subject.In("affinity." + std::string(kind) + ".");
    const Json& terms = subject.List({"affinity", kind, required});
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (Find(terms[i], {"labelSelector"}) != nullptr) continue;
      subject.Warn(Indexed(at + required, i) + ".labelSelector", kNoSelector);
    }
    const Json& wishes = subject.List({"affinity", kind, preferred});
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      if (Find(wishes[i], {"podAffinityTerm", "labelSelector"}) != nullptr) continue;
      subject.Warn(Indexed(at + preferred, i) + ".podAffinityTerm.labelSelector", kNoSelector);
    }
  }
}

void WarnAboutVolumes(const Subject& subject) {
  const Json& volumes = subject.List({"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string at = Indexed(subject.In("volumes"), i);
    for (const Deprecated& dead : kDeadVolumes) {
      if (!volumes[i].contains(dead.name)) continue;
      const std::string_view name = dead.name;
      subject.Warn(at + "." + std::string(name == "storageos" ? "storageOS" : name), dead.why);
    }
    const Json* claim = Find(volumes[i], {"ephemeral", "volumeClaimTemplate", "spec"});
    if (claim == nullptr) continue;
    WarnAboutClaimSpec(*claim, at + ".ephemeral.volumeClaimTemplate.spec", subject.warnings);
  }
  WarnAboutOverlaps(volumes, subject.warnings);
}

// Entries of a list that repeat what identifies them.
void WarnAboutRepeated(const Subject& subject, const char* list, const char* key) {
  std::set<std::string> seen;
  const Json& items = subject.List({list});
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string value = StringAt(items[i], {key});
    if (seen.insert(value).second) continue;
    subject.Warn(Indexed(subject.In(list), i) + "." + key,
                 "duplicate " + std::string(key) + " " + Quoted(value));
  }
}

using VisitContainer = std::function<void(const Json& container, const std::string& path)>;

void ForContainers(const Subject& subject, const VisitContainer& visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Json& containers = subject.List({list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      visit(containers[i], Indexed(subject.In(list), i));
    }
  }
}

// The field that says what an annotation of old said; null when nothing does.
Json ArmorOf(const std::string& annotation) {
  constexpr std::string_view kLocal = "localhost/";
  if (annotation == "unconfined") return {{"type", "Unconfined"}};
  if (annotation == "runtime/default") return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocal)) return nullptr;
  return {{"type", "Localhost"}, {"localhostProfile", annotation.substr(kLocal.size())}};
}

void WarnAboutProfiles(const Subject& subject, const Json& container) {
  const std::string name = StringAt(container, {"name"});
  const std::string seccomp = "container.seccomp.security.alpha.kubernetes.io/" + name;
  if (Find(container, {"securityContext", "seccompProfile"}) == nullptr &&
      subject.Annotated(seccomp)) {
    subject.Warn(subject.Annotation(seccomp),
                 "non-functional in v1.27+; use the \"seccompProfile\" field instead");
  }
  const std::string armor = "container.apparmor.security.beta.kubernetes.io/" + name;
  if (Find(container, {"securityContext", "appArmorProfile"}) != nullptr ||
      !subject.Annotated(armor)) {
    return;
  }
  // Of a pod for Windows nobody reads it.
  if (subject.path.empty() && StringAt(subject.spec, {"os", "name"}) == "windows") return;
  const Json* whole = Find(subject.spec, {"securityContext", "appArmorProfile"});
  if (whole != nullptr && *whole == ArmorOf(StringAt(subject.pod, {"metadata", "annotations", armor}))) {
    return;
  }
  subject.Warn(subject.Annotation(armor),
               "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

void WarnAboutVariables(const Subject& subject, const Json& container, const std::string& path) {
  std::set<std::string> seen;
  const Json& variables = ArrayAt(container, {"env"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string name = StringAt(variables[i], {"name"});
    if (seen.insert(name).second) continue;
    // Only a value that builds on the one before is no mistake.
    const std::string reference = "$(" + name + ")";
    const std::string value = StringAt(variables[i], {"value"});
    const bool builds_on = Find(variables[i], {"valueFrom"}) == nullptr && value != reference &&
                           value.find(reference) != std::string::npos;
    if (builds_on) continue;
    subject.Warn(Indexed(path + ".env", i), "hides previous definition of " + Quoted(name) +
                                                ", which may be dropped when using apply");
  }
}

// What Go prints for a port.
std::string PortText(const Json& port) {
  return "{Name:" + StringAt(port, {"name"}) +
         " HostPort:" + std::to_string(IntAt(port, {"hostPort"})) +
         " ContainerPort:" + std::to_string(IntAt(port, {"containerPort"})) +
         " Protocol:" + StringAt(port, {"protocol"}) + " HostIP:" + StringAt(port, {"hostIP"}) + "}";
}

// How two uses of the same port and protocol stand to each other; "" when they get along.
std::string Clash(const Json& port, const Json& other) {
  const std::int64_t host = IntAt(port, {"hostPort"}), other_host = IntAt(other, {"hostPort"});
  const std::string ip = StringAt(port, {"hostIP"}), other_ip = StringAt(other, {"hostIP"});
  if (ip == other_ip && host == other_host) return "duplicate port definition with ";
  if (host == 0 || other_host == 0) return "overlapping port definition with ";
  if (host == other_host && ip.empty() != other_ip.empty()) {
    return "dangerously ambiguous port definition with ";
  }
  return "";
}

void WarnAboutPorts(const Subject& subject) {
  struct Use {
    const Json* port;
    std::string path;
  };
  std::map<std::string, std::vector<Use>> uses;
  ForContainers(subject, [&](const Json& container, const std::string& path) {
    const Json& ports = ArrayAt(container, {"ports"});
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string at = Indexed(path + ".ports", i);
      if (!StringAt(ports[i], {"hostIP"}).empty() && IntAt(ports[i], {"hostPort"}) == 0) {
        subject.Warn(at, "hostIP set without hostPort: " + PortText(ports[i]));
      }
      auto& others = uses[std::to_string(IntAt(ports[i], {"containerPort"})) + "/" +
                          StringAt(ports[i], {"protocol"})];
      for (const Use& other : others) {
        const std::string clash = Clash(ports[i], *other.port);
        if (!clash.empty()) subject.Warn(at, clash + other.path);
      }
      others.push_back({&ports[i], at});
    }
  });
  std::map<std::string, std::string> names;
  ForContainers(subject, [&](const Json& container, const std::string& path) {
    const Json& ports = ArrayAt(container, {"ports"});
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string name = StringAt(ports[i], {"name"});
      if (name.empty()) continue;
      const auto [first, fresh] = names.emplace(name, Indexed(path + ".ports", i));
      if (fresh) continue;
      subject.Warn(Indexed(path + ".ports", i),
                   "duplicate port name " + Quoted(name) + " with " + first->second +
                       ", services and probes that select ports by name will use " + first->second);
    }
  });
}

void WarnAboutContainers(const Subject& subject) {
  ForContainers(subject, [&](const Json& container, const std::string& path) {
    WarnAboutProfiles(subject, container);
    for (const char* amount : {"memory", "ephemeral-storage"}) {
      for (const char* list : {"limits", "requests"}) {
        const Json* amounts = Find(container, {"resources", list});
        if (amounts == nullptr) continue;
        WarnAboutFraction(*amounts, amount, path + ".resources." + list, subject.warnings);
      }
    }
    WarnAboutVariables(subject, container, path);
  });
  WarnAboutPorts(subject);
}

void WarnAboutAddresses(const Subject& subject) {
  const Json& servers = subject.List({"dnsConfig", "nameservers"});
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!servers[i].is_string()) continue;
    WarnAboutIp(Indexed(subject.In("dnsConfig.nameservers"), i), servers[i].get<std::string>(),
                subject.warnings);
  }
  const Json& aliases = subject.List({"hostAliases"});
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    WarnAboutIp(Indexed(subject.In("hostAliases"), i) + ".ip", StringAt(aliases[i], {"ip"}),
                subject.warnings);
  }
}

}  // namespace

void WarnAboutPod(const Json& pod, const std::string& path, Warnings& warnings) {
  const Json* spec = Find(pod, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  const Subject subject{pod, *spec, path, warnings};
  WarnAboutNodes(subject);
  WarnAboutSpreading(subject);
  for (const Deprecated& dead : kDeadAnnotations) {
    if (subject.Annotated(dead.name)) subject.Warn(subject.Annotation(dead.name), dead.why);
  }
  WarnAboutVolumes(subject);
  WarnAboutRepeated(subject, "hostAliases", "ip");
  WarnAboutRepeated(subject, "imagePullSecrets", "name");
  const Json& secrets = subject.List({"imagePullSecrets"});
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    if (!StringAt(secrets[i], {"name"}).empty()) continue;
    subject.Warn(Indexed(subject.In("imagePullSecrets"), i) + ".name", "invalid empty name \"\"");
  }
  if (const Json* overhead = Find(*spec, {"overhead"})) {
    WarnAboutFraction(*overhead, "memory", subject.In("overhead"), warnings);
    WarnAboutFraction(*overhead, "ephemeral-storage", subject.In("overhead"), warnings);
  }
  const std::string seccomp = "seccomp.security.alpha.kubernetes.io/pod";
  if (Find(*spec, {"securityContext", "seccompProfile"}) == nullptr && subject.Annotated(seccomp)) {
    subject.Warn(subject.Annotation(seccomp),
                 "non-functional in v1.27+; use the \"seccompProfile\" field instead");
  }
  WarnAboutContainers(subject);
  if (IntAt(*spec, {"terminationGracePeriodSeconds"}) < 0) {
    subject.Warn(subject.In("terminationGracePeriodSeconds"),
                 "must be >= 0; negative values are invalid and will be treated as 1");
  }
  WarnAboutCompany(subject);
  WarnAboutAddresses(subject);
}

}  // namespace mailroom::openapi
