// Services and Ingresses.
#include <set>

#include "openapi/validate.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

bool IsHeadless(const Json& service) {
  return StringAt(service, {"spec", "clusterIP"}) == "None" ||
         (!ArrayAt(service, {"spec", "clusterIPs"}).empty() &&
          ArrayAt(service, {"spec", "clusterIPs"}).front() == "None");
}

void CheckServicePort(const BuiltinCheck& check, const Json& port, const std::string& field,
                      bool needs_name, std::set<std::string>& names) {
  const std::string name = StringAt(port, {"name"});
  if (name.empty()) {
    if (needs_name) check.Required(field + ".name");
  } else {
    AddInvalid(check.causes, field + ".name", name, CheckLabel(name));
    if (!names.insert(name).second) {
      check.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
    }
  }
  const std::int64_t number = IntAt(port, {"port"});
  AddInvalid(check.causes, field + ".port", number, CheckPort(number));
  const Json* target = Find(port, {"targetPort"});
  if (target == nullptr) return;
  if (target->is_string()) {
    AddInvalid(check.causes, field + ".targetPort", *target,
               CheckPortName(target->get<std::string>()));
  } else if (target->is_number_integer()) {
    AddInvalid(check.causes, field + ".targetPort", *target,
               CheckPort(target->get<std::int64_t>()));
  }
}

void CheckServicePorts(const BuiltinCheck& check, const std::string& type) {
  const Json& ports = ArrayAt(check.object, {"spec", "ports"});
  if (ports.empty() && !IsHeadless(check.object) && type != "ExternalName") {
    check.Required("spec.ports");
  }
  std::set<std::string> names, numbers, node_ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string field = Indexed("spec.ports", i);
    CheckServicePort(check, ports[i], field, ports.size() > 1, names);
    const Json key = {{"protocol", StringAt(ports[i], {"protocol"})},
                      {"port", IntAt(ports[i], {"port"})}};
    if (!numbers.insert(DumpJson(key)).second) {
      check.causes.push_back(DuplicateValue(field, DumpJson(key)));
    }
    const std::int64_t node_port = IntAt(ports[i], {"nodePort"});
    if (node_port == 0) continue;
    if (type == "ClusterIP") {
      check.Forbidden(field + ".nodePort", "may not be used when `type` is 'ClusterIP'");
    }
    if (!node_ports.insert(StringAt(ports[i], {"protocol"}) + std::to_string(node_port)).second) {
      check.causes.push_back(DuplicateValue(field + ".nodePort", std::to_string(node_port)));
    }
  }
}

void CheckHost(const BuiltinCheck& check, const std::string& field, const std::string& host) {
  if (host.empty()) return;
  if (IsIpAddress(host)) check.Invalid(field, host, "must be a DNS name, not an IP address");
  if (host.starts_with("*.")) {
    if (!CheckSubdomain(host.substr(2)).empty()) {
      check.Invalid(field, host,
                    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
                    "subdomain, which must consist of lower case alphanumeric characters, '-' or "
                    "'.' and end with an alphanumeric character (e.g. '*.example.com', regex used "
                    "for validation is "
                    "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    }
    return;
  }
  AddInvalid(check.causes, field, host, CheckSubdomain(host));
}

void CheckBackend(const BuiltinCheck& check, const Json& backend, const std::string& path) {
  const Json* service = Find(backend, {"service"});
  const Json* resource = Find(backend, {"resource"});
  if (service != nullptr && resource != nullptr) {
    return check.Invalid(path, "", "cannot set both resource and service backends");
  }
  if (service == nullptr) {
    if (resource == nullptr) check.Required(path, "resource or service backend is required");
    return;
  }
  const std::string name = StringAt(*service, {"name"});
  if (!name.empty()) {
    AddInvalid(check.causes, path + ".service.name", name, Check1035Label(name));
  }
  const std::string port_name = StringAt(*service, {"port", "name"});
  const std::int64_t number = IntAt(*service, {"port", "number"});
  if (!port_name.empty() && number != 0) {
    check.Invalid(path, "", "cannot set both port name & port number");
  } else if (!port_name.empty()) {
    AddInvalid(check.causes, path + ".service.port.name", port_name, CheckPortName(port_name));
  } else if (number != 0) {
    AddInvalid(check.causes, path + ".service.port.number", number, CheckPort(number));
  } else {
    check.Required(path, "port name or number is required");
  }
}

void CheckIngressPath(const BuiltinCheck& check, const Json& entry, const std::string& field) {
  const std::string type = StringAt(entry, {"pathType"});
  if (type.empty()) return check.Required(field + ".pathType", "pathType must be specified");
  const std::string path = StringAt(entry, {"path"});
  const bool absolute = path.starts_with('/');
  if (!absolute && (type != "ImplementationSpecific" || !path.empty())) {
    check.Invalid(field + ".path", path, "must be an absolute path");
  }
  if (const Json* backend = Find(entry, {"backend"})) {
    CheckBackend(check, *backend, field + ".backend");
  }
}

}  // namespace

void CheckService(const BuiltinCheck& check) {
  const std::string type = StringAt(check.object, {"spec", "type"});
  CheckServicePorts(check, type);
  if (type == "ExternalName") {
    std::string name = StringAt(check.object, {"spec", "externalName"});
    if (name.ends_with('.')) name.pop_back();
    if (name.empty()) {
      check.Required("spec.externalName");
    } else {
      AddInvalid(check.causes, "spec.externalName", name, CheckSubdomain(name));
    }
    if (!ArrayAt(check.object, {"spec", "clusterIPs"}).empty()) {
      check.Forbidden("spec.clusterIPs", "may not be set for ExternalName services");
    }
  } else if (IsHeadless(check.object) && type != "ClusterIP") {
    check.Invalid("spec.clusterIPs[0]", "None",
                  "may not be set to 'None' for " + type + " services");
  }
  const Json& ips = ArrayAt(check.object, {"spec", "clusterIPs"});
  const std::string ip = StringAt(check.object, {"spec", "clusterIP"});
  if (!ips.empty() && ips.front() != ip) {
    check.Invalid("spec.clusterIPs", ips, "first value must match `clusterIP`");
  }
  if (!ip.empty() && ip != "None" && !IsIpAddress(ip)) {
    check.Invalid("spec.clusterIPs[0]", ip,
                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  for (Cause& cause : ValidateLabels(Find(check.object, {"spec", "selector"}), "spec.selector")) {
    check.causes.push_back(std::move(cause));
  }
}

void CheckIngress(const BuiltinCheck& check) {
  const Json& rules = ArrayAt(check.object, {"spec", "rules"});
  const Json* backend = Find(check.object, {"spec", "defaultBackend"});
  if (rules.empty() && backend == nullptr) {
    check.Invalid("spec", Json(), "either `defaultBackend` or `rules` must be specified");
  }
  if (backend != nullptr) CheckBackend(check, *backend, "spec.defaultBackend");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string field = Indexed("spec.rules", i);
    CheckHost(check, field + ".host", StringAt(rules[i], {"host"}));
    if (Find(rules[i], {"http"}) == nullptr) continue;
    const Json& paths = ArrayAt(rules[i], {"http", "paths"});
    if (paths.empty()) check.Required(field + ".http.paths");
    for (std::size_t k = 0; k < paths.size(); ++k) {
      CheckIngressPath(check, paths[k], Indexed(field + ".http.paths", k));
    }
  }
}

}  // namespace mailroom::openapi
