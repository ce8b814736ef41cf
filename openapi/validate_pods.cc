// Pods and their templates: what concerns the pod as a whole, and the order in which its parts are
// looked at.
#include "openapi/validate_pods.h"

#include <algorithm>

#include "openapi/validate.h"
#include "openapi/validate_addresses.h"
#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kNameservers = 3;
constexpr std::size_t kSearches = 32;
constexpr std::size_t kSearchBytes = 2048;
constexpr std::size_t kHostnameBytes = 64;

// Domains to search: a lone dot is one, and labels may begin with '_'.
void CheckSearch(const BuiltinCheck& check, std::string text, const std::string& path) {
  if (text == ".") return;
  if (text.ends_with('.')) text.pop_back();
  if (text.size() > 253) check.Invalid(path, text, "must be no more than 253 characters");
  const std::string label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
  const std::string form = label + "(\\." + label + ")*";
  if (MatchesPattern("^" + form + "$", text)) return;
  check.Invalid(path, text,
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
                "'_', '-' or '.', and must start and end with an alphanumeric character (e.g. "
                "'example.com', regex used for validation is '" + form + "')");
}

void CheckSearches(const BuiltinCheck& check, const Json& searches, const std::string& path) {
  std::size_t bytes = searches.empty() ? 0 : searches.size() - 1;
  for (const Json& search : searches) bytes += search.is_string() ? search.get<std::string>().size() : 0;
  if (searches.size() > kSearches) {
    check.Invalid(path, searches, "must not have more than 32 search paths");
  }
  if (bytes > kSearchBytes) {
    check.Invalid(path, searches,
                  "must not have more than 2048 characters (including spaces) in the search list");
  }
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (searches[i].is_string()) CheckSearch(check, searches[i].get<std::string>(), Indexed(path, i));
  }
}

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
    if (!servers[i].is_string()) continue;
    AddInvalid(pod.check.causes, Indexed(path + ".nameservers", i), servers[i],
               CheckIp(servers[i].get<std::string>()));
  }
  CheckSearches(pod.check, ArrayAt(*config, {"searches"}), path + ".searches");
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
    AddInvalid(pod.check.causes, path + ".ip", ip, CheckIp(ip));
    const Json& names = ArrayAt(aliases[i], {"hostnames"});
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!names[k].is_string()) continue;
      AddInvalid(pod.check.causes, Indexed(path + ".hostnames", k), names[k],
                 CheckSubdomain(names[k].get<std::string>()));
    }
  }
}

void CheckName(const PodCheck& pod, const char* member, Complaints (*complain)(std::string_view)) {
  const std::string value = StringAt(pod.spec, {member});
  if (value.empty()) return;
  AddInvalid(pod.check.causes, pod.path + "." + member, value, complain(value));
}

// The controller names the pods of a set itself, and nobody looks at what the template says.
void CheckHostNames(const PodCheck& pod) {
  if (StringAt(pod.check.object, {"kind"}) == "StatefulSet") return;
  CheckName(pod, "hostname", CheckLabel);
  CheckName(pod, "subdomain", CheckLabel);
}

void CheckOverride(const PodCheck& pod) {
  if (Find(pod.spec, {"hostnameOverride"}) == nullptr) return;
  const std::string name = StringAt(pod.spec, {"hostnameOverride"});
  const std::string field = pod.path + ".hostnameOverride";
  if (BoolAt(pod.spec, {"setHostnameAsFQDN"})) {
    pod.check.Forbidden(field, "may not be specified when setHostnameAsFQDN is true");
  }
  if (BoolAt(pod.spec, {"hostNetwork"})) {
    pod.check.Forbidden(field, "may not be specified when hostNetwork is true");
  }
  if (name.size() > kHostnameBytes) pod.check.causes.push_back(TooLong(field, kHostnameBytes));
  AddInvalid(pod.check.causes, field, name, CheckSubdomain(name));
}

// On the node's own network a container's port is the node's; a template may leave that open.
void CheckHostNetwork(const PodCheck& pod) {
  if (!BoolAt(pod.spec, {"hostNetwork"})) return;
  const Json& containers = ArrayAt(pod.spec, {"containers"});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& ports = ArrayAt(containers[i], {"ports"});
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const std::int64_t host = IntAt(ports[k], {"hostPort"});
      if ((host == 0 && !pod.IsPod()) || host == IntAt(ports[k], {"containerPort"})) continue;
      pod.check.Invalid(
          Indexed(Indexed(pod.path + ".containers", i) + ".ports", k) + ".hostPort", host,
          "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void CheckDeadline(const PodCheck& pod) {
  const Json* deadline = Find(pod.spec, {"activeDeadlineSeconds"});
  if (deadline == nullptr || !deadline->is_number_integer()) return;
  if (deadline->get<std::int64_t>() >= 1 && deadline->get<std::int64_t>() <= INT32_MAX) return;
  pod.check.Invalid(pod.path + ".activeDeadlineSeconds", *deadline,
                    "must be between 1 and 2147483647, inclusive");
}

void CheckRuntimeClass(const PodCheck& pod) {
  if (Find(pod.spec, {"runtimeClassName"}) == nullptr) return;
  const std::string name = StringAt(pod.spec, {"runtimeClassName"});
  AddInvalid(pod.check.causes, pod.path + ".runtimeClassName", name, CheckSubdomain(name));
}

void CheckPolicies(const PodCheck& pod) {
  CheckNeededChoice(pod.check, StringAt(pod.spec, {"restartPolicy"}), pod.path + ".restartPolicy",
                    {"Always", "OnFailure", "Never"});
  CheckNeededChoice(pod.check, StringAt(pod.spec, {"dnsPolicy"}), pod.path + ".dnsPolicy",
                    {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
}

void CheckPlace(const PodCheck& pod) {
  pod.check.causes.Add(
      ValidateLabels(Find(pod.spec, {"nodeSelector"}), pod.path + ".nodeSelector"));
  CheckPodSecurity(pod);
  CheckAffinity(pod);
  CheckNameServers(pod);
  CheckGates(pod);
  CheckSpread(pod);
  CheckHostProcess(pod);
  CheckHostUsers(pod);
  CheckOverride(pod);
}

void CheckRest(const PodCheck& pod) {
  CheckName(pod, "serviceAccountName", CheckSubdomain);
  CheckName(pod, "nodeName", CheckSubdomain);
  CheckDeadline(pod);
  CheckHostNames(pod);
  CheckTolerations(pod.check, ArrayAt(pod.spec, {"tolerations"}), pod.path + ".tolerations",
                   MayCompare(pod));
  CheckHostAliases(pod);
  CheckName(pod, "priorityClassName", CheckSubdomain);
  CheckRuntimeClass(pod);
  if (const Json* policy = Find(pod.spec, {"preemptionPolicy"}); policy != nullptr && policy->is_string()) {
    CheckNeededChoice(pod.check, policy->get<std::string>(), pod.path + ".preemptionPolicy",
                      {"PreemptLowerPriority", "Never"});
  }
  CheckOverhead(pod);
  CheckSystem(pod);
  CheckFileVariables(pod);
}

// What a pod's template may still leave open.
void CheckWhole(const PodCheck& pod) {
  if (StringAt(pod.spec, {"serviceAccountName"}).empty()) {
    const Json& volumes = ArrayAt(pod.spec, {"volumes"});
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      const Json& sources = ArrayAt(volumes[i], {"projected", "sources"});
      for (std::size_t k = 0; k < sources.size(); ++k) {
        if (Find(sources[k], {"serviceAccountToken"}) == nullptr) continue;
        pod.check.Forbidden(Indexed(Indexed("spec.volumes", i) + ".projected.sources", k) +
                                ".serviceAccountToken",
                            "must not be specified when serviceAccountName is not set");
      }
    }
  }
  for (const std::string list : {"containers", "initContainers"}) {
    const Json& containers = ArrayAt(pod.spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      CheckImageBlanks(pod.check, containers[i], Indexed("spec." + list, i));
    }
  }
}

void CheckNewPod(const PodCheck& pod) {
  if (!ArrayAt(pod.spec, {"ephemeralContainers"}).empty()) {
    pod.check.Forbidden("spec.ephemeralContainers", "cannot be set on create");
  }
  if (!StringAt(pod.spec, {"nodeName"}).empty() && !ArrayAt(pod.spec, {"schedulingGates"}).empty()) {
    pod.check.Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
  CheckAnnotatedProfiles(pod, Find(pod.check.object, {"metadata", "annotations"}));
}

const Json& SpecBefore(const BuiltinCheck& check, const std::string& path) {
  const Json* before = check.old == nullptr ? nullptr : FindDotted(*check.old, path);
  return before != nullptr ? *before : PodCheck::kNoSpec;
}

}  // namespace

const Json PodCheck::kNoSpec = Json::object();

std::string Indexed(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

void CheckChoice(const BuiltinCheck& check, const std::string& text, const std::string& path,
                 Choices choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  check.causes.push_back(
      NotSupported(path, text, std::vector<std::string>(choices.begin(), choices.end())));
}

void CheckNeededChoice(const BuiltinCheck& check, const std::string& text, const std::string& path,
                       Choices choices) {
  if (text.empty()) return check.Required(path);
  CheckChoice(check, text, path, choices);
}

void CheckGivenChoice(const BuiltinCheck& check, const Json* text, const std::string& path,
                      Choices choices) {
  if (text != nullptr && text->is_string()) CheckChoice(check, text->get<std::string>(), path, choices);
}

void CheckImageBlanks(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const std::string image = StringAt(container, {"image"});
  constexpr const char* kBlanks = " \t\r\n\v\f";
  if (image.empty() || (image.find_first_not_of(kBlanks) == 0 &&
                        image.find_last_not_of(kBlanks) == image.size() - 1)) {
    return;
  }
  check.Invalid(path + ".image", image, "must not have leading or trailing whitespace");
}

void CheckPodSpec(const BuiltinCheck& check, const Json& spec, const std::string& path,
                  const std::vector<std::string>& extra_volumes) {
  PodCheck pod{check, spec, path, SpecBefore(check, path)};
  for (const std::string& name : extra_volumes) pod.volumes[name] = nullptr;
  if (Find(spec, {"terminationGracePeriodSeconds"}) == nullptr) {
    check.Required(path + ".terminationGracePeriodSeconds");
  }
  CheckVolumes(pod);
  CheckPodClaims(pod);
  CheckContainers(pod);
  CheckPodAmounts(pod);
  CheckHostNetwork(pod);
  CheckPolicies(pod);
  CheckPlace(pod);
  CheckRest(pod);
}

void CheckTemplateSpec(const BuiltinCheck& check, const Json& pod, const std::string& path,
                       const std::vector<std::string>& extra_volumes) {
  const Json* found = Find(pod, {"spec"});
  const Json& spec = found == nullptr ? PodCheck::kNoSpec : *found;
  const Json* annotations = Find(pod, {"metadata", "annotations"});
  check.causes.Add(ValidateLabels(Find(pod, {"metadata", "labels"}), path + ".labels"));
  check.causes.Add(ValidateAnnotations(annotations, path + ".annotations"));
  const PodCheck whole{check, spec, path + ".spec", SpecBefore(check, path + ".spec")};
  CheckPodAnnotations(whole, annotations, path + ".annotations");
  CheckPodSpec(check, spec, path + ".spec", extra_volumes);
  CheckAnnotatedProfiles(whole, annotations);
  if (!ArrayAt(spec, {"ephemeralContainers"}).empty()) {
    check.Forbidden(path + ".spec.ephemeralContainers",
                    "ephemeral containers not allowed in pod template");
  }
}

void CheckPodTemplate(const BuiltinCheck& check) {
  const Json* pod = Find(check.object, {"template"});
  CheckTemplateSpec(check, pod == nullptr ? PodCheck::kNoSpec : *pod, "template");
}

void CheckPod(const BuiltinCheck& check) {
  // Nothing of the spec is written with the status, and nothing but the node by a binding.
  if (check.subresource == "status" || check.subresource == "binding") return;
  const Json* found = Find(check.object, {"spec"});
  const Json& spec = found == nullptr ? PodCheck::kNoSpec : *found;
  const PodCheck pod{check, spec, "spec", SpecBefore(check, "spec")};
  CheckPodAnnotations(pod, Find(check.object, {"metadata", "annotations"}), "metadata.annotations");
  CheckPodSpec(check, spec, "spec");
  CheckWhole(pod);
  if (check.old == nullptr) return CheckNewPod(pod);
  CheckPodChange(check);
}

}  // namespace mailroom::openapi
