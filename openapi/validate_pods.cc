// Pods: what concerns the pod as a whole.
#include "openapi/validate_pods.h"

#include <algorithm>

#include "openapi/normalize_quantity.h"
#include "openapi/validate.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kNameservers = 3;
constexpr std::size_t kSearches = 32;
constexpr std::size_t kSearchBytes = 2048;

void CheckNameServers(const PodCheck& pod) {
  const std::string path = pod.path + ".dnsConfig";
  const Json* config = Find(pod.spec, {"dnsConfig"});
  if (StringAt(pod.spec, {"dnsPolicy"}) == "None") {
    if (config == nullptr) {
      return pod.check.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    }
    if (ArrayAt(*config, {"nameservers"}).empty()) {
      return pod.check.Required(
          path + ".nameservers",
          "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (config == nullptr) return;
  const Json& servers = ArrayAt(*config, {"nameservers"});
  if (servers.size() > kNameservers) {
    pod.check.Invalid(path + ".nameservers", servers, "must not have more than 3 nameservers");
  }
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!servers[i].is_string() || IsIpAddress(servers[i].get<std::string>())) continue;
    pod.check.Invalid(Indexed(path + ".nameservers", i), servers[i],
                      "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  const Json& searches = ArrayAt(*config, {"searches"});
  std::size_t bytes = searches.empty() ? 0 : searches.size() - 1;
  for (const Json& search : searches) bytes += search.is_string() ? search.get<std::string>().size() : 0;
  if (searches.size() > kSearches) {
    pod.check.Invalid(path + ".searches", searches, "must not have more than 32 search paths");
  }
  if (bytes > kSearchBytes) {
    pod.check.Invalid(path + ".searches", searches,
                      "must not have more than 2048 characters (including spaces) in the search list");
  }
  const Json& options = ArrayAt(*config, {"options"});
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (StringAt(options[i], {"name"}).empty()) {
      pod.check.Required(Indexed(path + ".options", i), "must not be empty");
    }
  }
}

void CheckHostAliases(const PodCheck& pod) {
  const Json& aliases = ArrayAt(pod.spec, {"hostAliases"});
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const std::string path = Indexed(pod.path + ".hostAliases", i);
    const std::string ip = StringAt(aliases[i], {"ip"});
    if (!IsIpAddress(ip)) {
      pod.check.Invalid(path + ".ip", ip,
                        "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    const Json& names = ArrayAt(aliases[i], {"hostnames"});
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!names[k].is_string()) continue;
      AddInvalid(pod.check.causes, Indexed(path + ".hostnames", k), names[k],
                 CheckSubdomain(names[k].get<std::string>()));
    }
  }
}

void CheckNames(const PodCheck& pod) {
  struct Row {
    const char* member;
    Complaints (*check)(std::string_view);
  };
  static constexpr Row kRows[] = {
      {"serviceAccountName", CheckSubdomain}, {"nodeName", CheckSubdomain},
      {"hostname", CheckLabel},               {"subdomain", CheckLabel},
      {"priorityClassName", CheckSubdomain},  {"runtimeClassName", CheckSubdomain},
  };
  // The controller names the pods of a set itself, and nobody looks at what the template says.
  const bool of_set = StringAt(pod.check.object, {"kind"}) == "StatefulSet";
  for (const Row& row : kRows) {
    if (of_set && row.check == CheckLabel) continue;
    const std::string value = StringAt(pod.spec, {row.member});
    if (value.empty()) continue;
    AddInvalid(pod.check.causes, pod.path + "." + row.member, value, row.check(value));
  }
}

// On the node's own network a container's port is the node's.
void CheckHostNetwork(const PodCheck& pod) {
  if (!BoolAt(pod.spec, {"hostNetwork"})) return;
  const Json& containers = ArrayAt(pod.spec, {"containers"});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& ports = ArrayAt(containers[i], {"ports"});
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const std::int64_t host = IntAt(ports[k], {"hostPort"});
      if (host == 0 || host == IntAt(ports[k], {"containerPort"})) continue;
      pod.check.Invalid(
          Indexed(Indexed(pod.path + ".containers", i) + ".ports", k) + ".hostPort", host,
          "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace

std::string Indexed(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

void CheckPodSpec(const BuiltinCheck& check, const Json& spec, const std::string& path,
                  const std::vector<std::string>& extra_volumes) {
  PodCheck pod{check, spec, path};
  for (const std::string& name : extra_volumes) pod.volumes[name] = nullptr;
  CheckVolumes(pod);
  CheckContainers(pod);
  CheckHostNetwork(pod);
  CheckPodSecurity(pod);
  CheckGatedSecurity(pod);
  CheckScheduling(pod);
  CheckGatedTolerations(pod);
  CheckNameServers(pod);
  CheckNames(pod);
  CheckHostAliases(pod);
  CheckPodDetails(pod);
  if (path != "spec" && !ArrayAt(spec, {"ephemeralContainers"}).empty()) {
    check.Forbidden(path + ".ephemeralContainers",
                    "ephemeral containers not allowed in pod template");
  }
  const Json* deadline = Find(spec, {"activeDeadlineSeconds"});
  if (deadline != nullptr && deadline->is_number_integer() &&
      (deadline->get<std::int64_t>() < 1 || deadline->get<std::int64_t>() > INT32_MAX)) {
    check.Invalid(path + ".activeDeadlineSeconds", *deadline,
                  "must be between 1 and 2147483647, inclusive");
  }
}

void CheckPodTemplate(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  check.causes.Add(ValidateLabels(Find(check.object, {"template", "metadata", "labels"}), "template.labels"));
  check.causes.Add(
      ValidateAnnotations(Find(check.object, {"template", "metadata", "annotations"}), "template.annotations"));
  const Json* spec = Find(check.object, {"template", "spec"});
  CheckPodSpec(check, spec == nullptr ? kNone : *spec, "template.spec");
}

void CheckPod(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  const Json* spec = Find(check.object, {"spec"});
  CheckPodSpec(check, spec == nullptr ? kNone : *spec, "spec");
  if (check.old != nullptr) return CheckPodChange(check);
  if (!ArrayAt(check.object, {"spec", "ephemeralContainers"}).empty()) {
    check.Forbidden("spec.ephemeralContainers", "cannot be set on create");
  }
}

}  // namespace mailroom::openapi
