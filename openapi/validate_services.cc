// Services.
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

}  // namespace

void CheckService(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
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
  for (Cause& cause : ValidateLabels(Find(check.object, {"spec", "selector"}), "spec.selector")) {
    check.causes.push_back(std::move(cause));
  }
}

}  // namespace mailroom::openapi
