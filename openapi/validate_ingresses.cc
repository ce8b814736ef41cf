// Ingresses: hosts, paths, where they lead, certificates.
#include <algorithm>
#include <set>

#include "openapi/validate_addresses.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kClassAnnotation = "kubernetes.io/ingress.class";

bool IsWildcard(const std::string& host) { return host.find('*') != std::string::npos; }

// A host, or `*.` and one.
Complaints CheckHostName(const std::string& host) {
  if (!IsWildcard(host)) return CheckSubdomain(host);
  Complaints out;
  if (host.size() > 253) out.emplace_back("must be no more than 253 characters");
  const std::string rest = host.starts_with("*.") ? host.substr(2) : "";
  const Complaints inner = CheckSubdomain(rest.substr(0, 253));
  if (rest.empty() || !inner.empty()) {
    out.emplace_back(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character (e.g. '*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

bool IsSecretName(const std::string& name) { return name.empty() || CheckSubdomain(name).empty(); }

void CheckSegment(const BuiltinCheck& check, const Json& object, const char* member,
                  const std::string& path) {
  const std::string text = StringAt(object, {member}), field = path + "." + member;
  if (text.empty()) return check.Required(field);
  AddInvalid(check.causes, field, text, CheckPathSegment(text));
}

void CheckServiceBackend(const BuiltinCheck& check, const Json& service, const std::string& path) {
  const std::string name = StringAt(service, {"name"});
  if (name.empty()) {
    check.Required(path + ".service.name");
  } else {
    AddInvalid(check.causes, path + ".service.name", name, CheckLabel(name));
  }
  const std::string port_name = StringAt(service, {"port", "name"});
  const std::int64_t number = IntAt(service, {"port", "number"});
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

void CheckBackend(const BuiltinCheck& check, const Json* backend, const std::string& path) {
  const Json* service = backend == nullptr ? nullptr : Find(*backend, {"service"});
  const Json* resource = backend == nullptr ? nullptr : Find(*backend, {"resource"});
  if (service != nullptr && resource != nullptr) {
    return check.Invalid(path, "", "cannot set both resource and service backends");
  }
  if (service != nullptr) return CheckServiceBackend(check, *service, path);
  if (resource == nullptr) {
    return check.Invalid(path, "", "resource or service backend is required");
  }
  if (const Json* given = Find(*resource, {"apiGroup"}); given != nullptr && given->is_string()) {
    const std::string group = StringAt(*resource, {"apiGroup"});
    AddInvalid(check.causes, path + ".resource.apiGroup", group, CheckSubdomain(group));
  }
  CheckSegment(check, *resource, "kind", path + ".resource");
  CheckSegment(check, *resource, "name", path + ".resource");
}

void CheckPath(const BuiltinCheck& check, const Json& entry, const std::string& field) {
  const std::string path = StringAt(entry, {"path"}), path_field = field + ".path";
  const bool relative = !path.starts_with('/');
  if (StringAt(entry, {"pathType"}) == "ImplementationSpecific") {
    if (!path.empty() && relative) check.Invalid(path_field, path, "must be an absolute path");
    return;
  }
  if (relative) check.Invalid(path_field, path, "must be an absolute path");
  for (const char* part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (path.find(part) == std::string::npos) continue;
    check.Invalid(path_field, path, std::string("must not contain '") + part + "'");
  }
  for (const char* end : {"/..", "/."}) {
    if (path.ends_with(end)) {
      check.Invalid(path_field, path, std::string("cannot end with '") + end + "'");
    }
  }
}

void CheckPaths(const BuiltinCheck& check, const Json& rule, const std::string& field) {
  if (Find(rule, {"http"}) == nullptr) return;
  const Json& paths = ArrayAt(rule, {"http", "paths"});
  if (paths.empty()) check.Required(field + ".http.paths");
  for (std::size_t i = 0; i < paths.size() && !check.causes.full(); ++i) {
    const std::string entry = Indexed(field + ".http.paths", i);
    const Json* type = Find(paths[i], {"pathType"});
    if (type == nullptr) {
      check.Required(entry + ".pathType", "pathType must be specified");
      continue;
    }
    if (*type == "Exact" || *type == "Prefix" || *type == "ImplementationSpecific") {
      CheckPath(check, paths[i], entry);
    } else {
      check.causes.push_back(
          NotSupported(entry + ".pathType", *type, {"Exact", "ImplementationSpecific", "Prefix"}));
    }
    CheckBackend(check, Find(paths[i], {"backend"}), entry + ".backend");
  }
}

// Rules of wildcard hosts were not looked into once; objects from then may be written on.
bool HasBrokenWildcard(const Json* ingress) {
  if (ingress == nullptr) return false;
  const Json& rules = ArrayAt(*ingress, {"spec", "rules"});
  return std::any_of(rules.begin(), rules.end(), [&](const Json& rule) {
    if (!IsWildcard(StringAt(rule, {"host"}))) return false;
    Causes faults;
    CheckPaths({*ingress, nullptr, faults}, rule, "");
    return !faults.empty();
  });
}

void CheckRules(const BuiltinCheck& check) {
  const bool lenient = HasBrokenWildcard(check.old);
  const Json& rules = ArrayAt(check.object, {"spec", "rules"});
  for (std::size_t i = 0; i < rules.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed("spec.rules", i), host = StringAt(rules[i], {"host"});
    if (!host.empty()) {
      if (ParseAddress(host)) {
        check.Invalid(field + ".host", host, "must be a DNS name, not an IP address");
      }
      AddInvalid(check.causes, field + ".host", host, CheckHostName(host));
    }
    if (!lenient || !IsWildcard(host)) CheckPaths(check, rules[i], field);
  }
}

void CheckCertificates(const BuiltinCheck& check) {
  bool lenient = false;
  if (check.old != nullptr) {
    for (const Json& entry : ArrayAt(*check.old, {"spec", "tls"})) {
      lenient |= !IsSecretName(StringAt(entry, {"secretName"}));
    }
  }
  const Json& list = ArrayAt(check.object, {"spec", "tls"});
  for (std::size_t i = 0; i < list.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed("spec.tls", i);
    const auto hosts = StringsAt(list[i], {"hosts"});
    for (std::size_t k = 0; k < hosts.size(); ++k) {
      AddInvalid(check.causes, Indexed(field + ".hosts", k), hosts[k], CheckHostName(hosts[k]));
    }
    const std::string secret = StringAt(list[i], {"secretName"});
    if (lenient || secret.empty()) continue;
    AddInvalid(check.causes, field + ".secretName", secret, CheckSubdomain(secret));
  }
}

void CheckClass(const BuiltinCheck& check) {
  const Json* given = Find(check.object, {"spec", "ingressClassName"});
  if (given == nullptr || !given->is_string()) return;
  const std::string name = given->get<std::string>();
  AddInvalid(check.causes, "spec.ingressClassName", name, CheckSubdomain(name));
  const Json* noted = Find(check.object, {"metadata", "annotations", kClassAnnotation});
  if (check.old != nullptr || noted == nullptr || *noted == *given) return;
  check.Invalid(std::string("annotations.") + kClassAnnotation, *noted,
                "must match `ingressClassName` when both are specified");
}

// Where the ingress was made reachable; addresses that were told before are taken again.
void CheckIngressStatus(const BuiltinCheck& check) {
  std::set<std::string> known;
  if (check.old != nullptr) {
    for (const Json& point : ArrayAt(*check.old, {"status", "loadBalancer", "ingress"})) {
      known.insert(StringAt(point, {"ip"}));
    }
  }
  const Json& points = ArrayAt(check.object, {"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; i < points.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed("status.loadBalancer.ingress", i);
    const std::string ip = StringAt(points[i], {"ip"}), host = StringAt(points[i], {"hostname"});
    if (!ip.empty() && !known.contains(ip)) {
      AddInvalid(check.causes, field + ".ip", ip, CheckIp(ip));
    }
    if (host.empty()) continue;
    AddInvalid(check.causes, field + ".hostname", host, CheckSubdomain(host));
    if (ParseAddress(host)) {
      check.Invalid(field + ".hostname", host, "must be a DNS name, not an IP address");
    }
  }
}

}  // namespace

void CheckIngress(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckIngressStatus(check);
  const Json* rules = Find(check.object, {"spec", "rules"});
  const Json* backend = Find(check.object, {"spec", "defaultBackend"});
  if (backend != nullptr) {
    CheckBackend(check, backend, "spec.defaultBackend");
  } else if (rules == nullptr || rules->empty()) {
    check.Invalid("spec", rules == nullptr ? Json() : *rules,
                  "either `defaultBackend` or `rules` must be specified");
  }
  CheckRules(check);
  CheckCertificates(check);
  CheckClass(check);
}

}  // namespace mailroom::openapi
