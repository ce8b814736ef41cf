#include "apiserver/admission/service_address.h"

#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

using openapi::ArrayAt;
const GroupResource kServices{"", "services"};
const GroupResource kEndpoints{"", "endpoints"};
const GroupResource kSlices{"discovery.k8s.io", "endpointslices"};

std::string HostPort(const std::string& host, std::int64_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// The port of that name; the only one when there is only one.
std::int64_t NamedPort(const Json& ports, const std::string& name) {
  for (const Json& port : ports) {
    if (StringAt(port, {"name"}) == name || ports.size() == 1) return IntAt(port, {"port"});
  }
  return 0;
}

std::string FirstOf(const Json& addresses) {
  for (const Json& address : addresses) {
    if (address.is_string()) return address.get<std::string>();
    if (const std::string ip = StringAt(address, {"ip"}); !ip.empty()) return ip;
  }
  return "";
}

}  // namespace

Result<std::string> ServiceAddress(const storage::CachedStore& store, const Workspace& workspace,
                                   const std::string& ns, const std::string& name, int port) {
  const ObjectPtr object = store.Get({workspace, kServices, ns, name});
  if (object == nullptr) {
    return Unavailable("service " + Quoted(name) + " not found");
  }
  const Json tree = object->ToJson();
  if (StringAt(tree, {"spec", "type"}) == "ExternalName") {
    return HostPort(StringAt(tree, {"spec", "externalName"}), port);
  }
  const Json* found_port = nullptr;
  for (const Json& item : ArrayAt(tree, {"spec", "ports"})) {
    if (IntAt(item, {"port"}) == port) found_port = &item;
  }
  if (found_port == nullptr) {
    return Unavailable("no service port " + std::to_string(port) + " found for service " +
                       Quoted(name));
  }
  // Nothing routes cluster addresses in a workspace, so the endpoints come first.
  const std::string port_name = StringAt(*found_port, {"name"});
  if (const ObjectPtr found = store.Get({workspace, kEndpoints, ns, name})) {
    const Json endpoints = found->ToJson();
    for (const Json& subset : ArrayAt(endpoints, {"subsets"})) {
      const std::string ip = FirstOf(ArrayAt(subset, {"addresses"}));
      const std::int64_t target = NamedPort(ArrayAt(subset, {"ports"}), port_name);
      if (!ip.empty() && target != 0) return HostPort(ip, target);
    }
  }
  auto slices = store.List({.scope = {workspace, kSlices, ns}});
  if (slices.ok()) {
    for (const storage::Entry& entry : slices->entries) {
      const Json slice = entry.object->ToJson();
      if (StringAt(slice, {"metadata", "labels", "kubernetes.io/service-name"}) != name) {
        continue;
      }
      const std::int64_t target = NamedPort(ArrayAt(slice, {"ports"}), port_name);
      for (const Json& endpoint : ArrayAt(slice, {"endpoints"})) {
        const std::string ip = FirstOf(ArrayAt(endpoint, {"addresses"}));
        if (BoolAt(endpoint, {"conditions", "ready"}, true) && !ip.empty() && target != 0) {
          return HostPort(ip, target);
        }
      }
    }
  }
  const std::string cluster_ip = StringAt(tree, {"spec", "clusterIP"});
  if (!cluster_ip.empty() && cluster_ip != "None") return HostPort(cluster_ip, port);
  return Unavailable("no endpoints available for service " + Quoted(name));
}

}  // namespace mailroom::admission
