// Containers of a pod: names, ports and what may be said of which kind of container.
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

void CheckNameOfPort(const BuiltinCheck& check, const std::string& name, const std::string& path,
                     std::set<std::string>& names) {
  if (name.empty()) return;
  const Complaints complaints = CheckPortName(name);
  AddInvalid(check.causes, path, name, complaints);
  if (complaints.empty() && !names.insert(name).second) {
    check.causes.push_back(DuplicateValue(path, Quoted(name)));
  }
}

void CheckPorts(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const Json& list = ArrayAt(container, {"ports"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path + ".ports", i);
    CheckNameOfPort(check, StringAt(list[i], {"name"}), field + ".name", names);
    const std::int64_t port = IntAt(list[i], {"containerPort"});
    if (port == 0) {
      check.Required(field + ".containerPort");
    } else {
      AddInvalid(check.causes, field + ".containerPort", port, CheckPort(port));
    }
    if (const std::int64_t host = IntAt(list[i], {"hostPort"}); host != 0) {
      AddInvalid(check.causes, field + ".hostPort", host, CheckPort(host));
    }
    CheckNeededChoice(check, StringAt(list[i], {"protocol"}), field + ".protocol",
                      {"SCTP", "TCP", "UDP"});
  }
}

// A port of the node is taken once.
void CheckHostPorts(const BuiltinCheck& check, const Json& container, const std::string& path,
                    std::set<std::string>& taken) {
  const Json& list = ArrayAt(container, {"ports"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t host = IntAt(list[i], {"hostPort"});
    if (host == 0) continue;
    const std::string port = StringAt(list[i], {"protocol"}) + "/" + StringAt(list[i], {"hostIP"}) +
                             "/" + std::to_string(host);
    if (!taken.insert(port).second) {
      check.causes.push_back(DuplicateValue(Indexed(path + ".ports", i) + ".hostPort", Quoted(port)));
    }
  }
}

// What containers of every kind must have.
void CheckContainer(const PodCheck& pod, const Json& container, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  const std::string name = StringAt(container, {"name"});
  if (name.empty()) {
    check.Required(path + ".name");
  } else {
    AddInvalid(check.causes, path + ".name", name, CheckLabel(name));
  }
  if (StringAt(container, {"image"}).empty()) check.Required(path + ".image");
  CheckNeededChoice(check, StringAt(container, {"terminationMessagePolicy"}),
                    path + ".terminationMessagePolicy", {"File", "FallbackToLogsOnError"});
  CheckPorts(check, container, path);
  CheckEnvironment(check, container, path);
  CheckMounts(pod, container, path);
  CheckNeededChoice(check, StringAt(container, {"imagePullPolicy"}), path + ".imagePullPolicy",
                    {"Always", "IfNotPresent", "Never"});
  const Json* resources = Find(container, {"resources"});
  CheckAmounts(pod, resources == nullptr ? PodCheck::kNoSpec : *resources, path + ".resources");
  CheckResizePolicy(pod, container, path);
  CheckContainerSecurity(pod, container, path);
}

void CheckDuplicate(const BuiltinCheck& check, const Json& container, const std::string& path,
                    std::set<std::string>& names) {
  const std::string name = StringAt(container, {"name"});
  if (names.insert(name).second) return;
  check.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
}

using Members = std::initializer_list<const char*>;

void RefuseGiven(const BuiltinCheck& check, const Json& container, const std::string& path,
                 Members members, const std::string& why) {
  for (const char* member : members) {
    if (Find(container, {member}) != nullptr) check.Forbidden(path + "." + member, why);
  }
}

// Empty ones are as good as none.
void RefuseFilled(const BuiltinCheck& check, const Json& container, const std::string& path,
                  Members members, const std::string& why) {
  for (const char* member : members) {
    const Json* value = Find(container, {member});
    if (value == nullptr || *value == "" || (value->is_structured() && value->empty())) continue;
    check.Forbidden(path + "." + member, why);
  }
}

void CheckOrdinary(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  const Json& list = ArrayAt(pod.spec, {"containers"});
  if (list.empty()) return check.Required(pod.path + ".containers");
  std::set<std::string> names, host_ports;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".containers", i);
    CheckContainer(pod, list[i], path);
    CheckDuplicate(check, list[i], path, names);
    CheckHandlers(pod, list[i], path);
    CheckRestartPolicy(pod, list[i], path);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    CheckHostPorts(check, list[i], Indexed(pod.path + ".containers", i), host_ports);
  }
}

// Only sidecars may be started anew to be resized; pods of before may keep what they had.
bool HadRestartingInit(const Json& spec) {
  for (const Json& container : ArrayAt(spec, {"initContainers"})) {
    if (StringAt(container, {"restartPolicy"}) == "Always") continue;
    for (const Json& policy : ArrayAt(container, {"resizePolicy"})) {
      if (StringAt(policy, {"restartPolicy"}) == "RestartContainer") return true;
    }
  }
  return false;
}

void CheckInitResize(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const Json& policies = ArrayAt(container, {"resizePolicy"});
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (StringAt(policies[i], {"restartPolicy"}) != "RestartContainer") continue;
    check.Invalid(Indexed(path + ".resizePolicy", i) + ".restartPolicy", "RestartContainer",
                  "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

void CheckInit(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  std::set<std::string> names;
  for (const Json& container : ArrayAt(pod.spec, {"containers"})) {
    names.insert(StringAt(container, {"name"}));
  }
  const bool restarted = HadRestartingInit(pod.before);
  const Json& list = ArrayAt(pod.spec, {"initContainers"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".initContainers", i);
    CheckContainer(pod, list[i], path);
    CheckRestartPolicy(pod, list[i], path);
    if (!StringAt(list[i], {"name"}).empty()) CheckDuplicate(check, list[i], path, names);
    std::set<std::string> own_ports;
    // The original counts each of them as the first.
    CheckHostPorts(check, list[i], Indexed(pod.path + ".initContainers", 0), own_ports);
    if (StringAt(list[i], {"restartPolicy"}) == "Always") {
      CheckHandlers(pod, list[i], path);
      continue;
    }
    RefuseGiven(check, list[i], path,
                {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"},
                "may not be set for init containers without restartPolicy=Always");
    if (!restarted) CheckInitResize(check, list[i], path);
  }
}

// Containers that come later look into the pod; they are no part of what it does.
void CheckEphemeral(const PodCheck& pod, const Json& container, const std::string& path,
                    const std::set<std::string>& targets) {
  const std::string why = "cannot be set for an Ephemeral Container";
  const std::string target = StringAt(container, {"targetContainerName"});
  if (!target.empty() && !targets.contains(target)) {
    pod.check.causes.push_back({"FieldValueNotFound", "Not found: " + Quoted(target),
                                path + ".targetContainerName"});
  }
  RefuseFilled(pod.check, container, path, {"ports", "resources", "resizePolicy"}, why);
  RefuseGiven(pod.check, container, path, {"restartPolicy"}, why);
  RefuseFilled(pod.check, container, path, {"restartPolicyRules"}, why);
  RefuseGiven(pod.check, container, path,
              {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}, why);
  const Json& mounts = ArrayAt(container, {"volumeMounts"});
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    RefuseFilled(pod.check, mounts[i], Indexed(path + ".volumeMounts", i),
                 {"subPath", "subPathExpr"}, why);
  }
}

void CheckLater(const PodCheck& pod) {
  const Json& list = ArrayAt(pod.spec, {"ephemeralContainers"});
  std::set<std::string> names;
  for (const char* member : {"containers", "initContainers"}) {
    for (const Json& container : ArrayAt(pod.spec, {member})) names.insert(StringAt(container, {"name"}));
  }
  const std::set<std::string> targets = names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".ephemeralContainers", i);
    CheckContainer(pod, list[i], path);
    CheckImageBlanks(pod.check, list[i], path);
    CheckDuplicate(pod.check, list[i], path, names);
    CheckEphemeral(pod, list[i], path, targets);
  }
}

}  // namespace

void CheckContainers(const PodCheck& pod) {
  CheckOrdinary(pod);
  CheckInit(pod);
  CheckLater(pod);
}

}  // namespace mailroom::openapi
