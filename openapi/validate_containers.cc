// Containers of a pod: names, ports and what may be said of which kind of container.
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

void CheckPorts(const BuiltinCheck& check, const Json& container, const std::string& path) {
  const Json& list = ArrayAt(container, {"ports"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path + ".ports", i);
    const std::string name = StringAt(list[i], {"name"});
    if (!name.empty()) {
      const Complaints complaints = CheckPortName(name);
      AddInvalid(check.causes, field + ".name", name, complaints);
      if (complaints.empty() && !names.insert(name).second) {
        check.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
      }
    }
    const std::int64_t port = IntAt(list[i], {"containerPort"});
    if (port == 0) {
      check.Required(field + ".containerPort");
    } else {
      AddInvalid(check.causes, field + ".containerPort", port, CheckPort(port));
    }
    if (const std::int64_t host = IntAt(list[i], {"hostPort"}); host != 0) {
      AddInvalid(check.causes, field + ".hostPort", host, CheckPort(host));
    }
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

void CheckContainer(const PodCheck& pod, const Json& container, const std::string& path,
                    std::set<std::string>& names) {
  const BuiltinCheck& check = pod.check;
  const std::string name = StringAt(container, {"name"});
  if (name.empty()) {
    check.Required(path + ".name");
  } else {
    AddInvalid(check.causes, path + ".name", name, CheckLabel(name));
  }
  if (StringAt(container, {"image"}).empty()) check.Required(path + ".image");
  CheckPorts(check, container, path);
  CheckEnvironment(check, container, path);
  CheckMounts(pod, container, path);
  CheckAmounts(check, container, path + ".resources");
  CheckContainerSecurity(check, container, path, BoolAt(pod.spec, {"hostUsers"}, true));
  if (!names.insert(name).second && !name.empty()) {
    check.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
  }
}

void Refuse(const BuiltinCheck& check, const Json& container, const std::string& path,
            std::initializer_list<const char*> members, const std::string& why) {
  for (const char* member : members) {
    const Json* value = Find(container, {member});
    if (value == nullptr || (value->is_structured() && value->empty())) continue;
    check.Forbidden(path + "." + member, why);
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
  Refuse(pod.check, container, path,
         {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
          "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"},
         why);
  const Json& mounts = ArrayAt(container, {"volumeMounts"});
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    Refuse(pod.check, mounts[i], Indexed(path + ".volumeMounts", i), {"subPath", "subPathExpr"},
           why);
  }
}

}  // namespace

void CheckContainers(const PodCheck& pod) {
  const BuiltinCheck& check = pod.check;
  const Json& list = ArrayAt(pod.spec, {"containers"});
  if (list.empty()) check.Required(pod.path + ".containers");
  std::set<std::string> names, host_ports;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = Indexed(pod.path + ".containers", i);
    CheckContainer(pod, list[i], path, names);
    CheckHandlers(check, list[i], path);
    CheckHostPorts(check, list[i], path, host_ports);
  }
  const Json& first = ArrayAt(pod.spec, {"initContainers"});
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string path = Indexed(pod.path + ".initContainers", i);
    CheckContainer(pod, first[i], path, names);
    std::set<std::string> own_ports;
    CheckHostPorts(check, first[i], path, own_ports);
    if (StringAt(first[i], {"restartPolicy"}) == "Always") {
      CheckHandlers(check, first[i], path);
    } else {
      Refuse(check, first[i], path, {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"},
             "may not be set for init containers without restartPolicy=Always");
    }
  }
  const Json& later = ArrayAt(pod.spec, {"ephemeralContainers"});
  const std::set<std::string> targets = names;
  for (std::size_t i = 0; i < later.size(); ++i) {
    const std::string path = Indexed(pod.path + ".ephemeralContainers", i);
    CheckContainer(pod, later[i], path, names);
    CheckEphemeral(pod, later[i], path, targets);
  }
}

}  // namespace mailroom::openapi
