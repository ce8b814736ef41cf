// Columns of services, routes and endpoints.
#include <set>

#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

// Addresses or host names of a load balancer, sorted, each once.
std::string LoadBalancer(const Json& object) {
  std::set<std::string> found;
  for (const Json& ingress : ListAt(object, "status.loadBalancer.ingress")) {
    std::string address = StringAt(ingress, {"ip"});
    if (address.empty()) address = StringAt(ingress, {"hostname"});
    if (!address.empty()) found.insert(std::move(address));
  }
  return Join({found.begin(), found.end()}, ",");
}

Json ClusterIp(const Json& service) {
  const std::vector<std::string> ips = StringsAt(service, {"spec", "clusterIPs"});
  const std::string ip = ips.empty() ? TextAt(service, "spec.clusterIP") : ips.front();
  return ip.empty() ? "<none>" : ip;
}

Json ExternalIp(const Json& service) {
  const std::string type = TextAt(service, "spec.type");
  const std::string external = Join(StringsAt(service, {"spec", "externalIPs"}), ",");
  if (type == "ExternalName") return TextAt(service, "spec.externalName");
  if (type == "ClusterIP" || type == "NodePort") return external.empty() ? "<none>" : external;
  if (type != "LoadBalancer") return "<unknown>";
  const std::string balanced = LoadBalancer(service);
  if (balanced.empty()) return external.empty() ? "<pending>" : external;
  return external.empty() ? balanced : balanced + "," + external;
}

Json ServicePorts(const Json& service) {
  std::vector<std::string> parts;
  for (const Json& port : ListAt(service, "spec.ports")) {
    std::string text = std::to_string(NumberAt(port, "port"));
    if (const std::int64_t node = NumberAt(port, "nodePort"); node > 0) {
      text += ":" + std::to_string(node);
    }
    parts.push_back(text + "/" + StringAt(port, {"protocol"}));
  }
  return parts.empty() ? "<none>" : Join(parts, ",");
}

constexpr std::size_t kShownMost = 3;

Json Hosts(const Json& ingress) {
  std::vector<std::string> hosts;
  bool more = false;
  const Json& rules = ListAt(ingress, "spec.rules");
  for (const Json& rule : rules) {
    more |= hosts.size() == kShownMost;
    const std::string host = StringAt(rule, {"host"});
    if (!more && !host.empty()) hosts.push_back(host);
  }
  if (hosts.empty()) return "*";
  return Shortened(std::move(hosts), kShownMost, more ? rules.size() : 0);
}

Json IngressParameters(const Json& ingress_class) {
  const Json* parameters = Find(ingress_class, {"spec", "parameters"});
  if (parameters == nullptr || !parameters->is_object()) return "<none>";
  std::string text = StringAt(*parameters, {"kind"});
  if (const std::string group = StringAt(*parameters, {"apiGroup"}); !group.empty()) {
    text += "." + group;
  }
  return text + "/" + StringAt(*parameters, {"name"});
}

std::string HostPort(const std::string& ip, std::int64_t port) {
  const bool v6 = ip.find(':') != std::string::npos;
  return (v6 ? "[" + ip + "]" : ip) + ":" + std::to_string(port);
}

Json EndpointAddresses(const Json& endpoints) {
  const Json& subsets = ListAt(endpoints, "subsets");
  if (subsets.empty()) return "<none>";
  std::vector<std::string> parts;
  for (const Json& subset : subsets) {
    const Json& ports = ListAt(subset, "ports");
    const Json& addresses = ListAt(subset, "addresses");
    if (ports.empty()) {  // headless
      for (const Json& address : addresses) parts.push_back(StringAt(address, {"ip"}));
    }
    for (const Json& port : ports) {
      for (const Json& address : addresses) {
        parts.push_back(HostPort(StringAt(address, {"ip"}), NumberAt(port, "port")));
      }
    }
  }
  const std::size_t count = parts.size();
  return Shortened(std::move(parts), kShownMost, count);
}

std::string UnsetWhenEmpty(std::vector<std::string> parts) {
  const std::size_t count = parts.size();
  std::string text = Shortened(std::move(parts), kShownMost, count);
  return text.empty() ? "<unset>" : text;
}

Json SlicePorts(const Json& slice) {
  std::vector<std::string> parts;
  for (const Json& port : ListAt(slice, "ports")) {
    std::string text = TextAt(port, "port");
    if (text.empty()) text = TextAt(port, "name");
    parts.push_back(text.empty() ? "*" : text);
  }
  return UnsetWhenEmpty(std::move(parts));
}

Json SliceEndpoints(const Json& slice) {
  std::vector<std::string> parts;
  for (const Json& endpoint : ListAt(slice, "endpoints")) {
    for (std::string& address : StringsAt(endpoint, {"addresses"})) {
      parts.push_back(std::move(address));
    }
  }
  return UnsetWhenEmpty(std::move(parts));
}

Json ParentRef(const Json& address) {
  const Json* parent = Find(address, {"spec", "parentRef"});
  if (parent == nullptr || !parent->is_object()) return "<none>";
  std::string text = Qualified(StringAt(*parent, {"resource"}), StringAt(*parent, {"group"}));
  if (const std::string ns = StringAt(*parent, {"namespace"}); !ns.empty()) text += "/" + ns;
  return text + "/" + StringAt(*parent, {"name"});
}

Json ApiServiceTarget(const Json& service) {
  const Json* target = Find(service, {"spec", "service"});
  if (target == nullptr || !target->is_object()) return "Local";
  return StringAt(*target, {"namespace"}) + "/" + StringAt(*target, {"name"});
}

Json ApiServiceAvailable(const Json& service) {
  const Json* available = OfType(ListAt(service, "status.conditions"), "Available");
  if (available == nullptr) return "Unknown";
  const std::string status = StringAt(*available, {"status"});
  const std::string reason = StringAt(*available, {"reason"});
  return status == "True" || reason.empty() ? status : status + " (" + reason + ")";
}

}  // namespace

std::vector<KindColumns> NetworkColumns() {
  return {
      {"",
       "Service",
       {NameColumn(), Shown("Type", Text("spec.type")), Shown("Cluster-IP", ClusterIp),
        Shown("External-IP", ExternalIp), Shown("Port(s)", ServicePorts), AgeColumn(),
        Wide("Selector", Labels("spec.selector"))}},
      {"", "Endpoints", {NameColumn(), Shown("Endpoints", EndpointAddresses), AgeColumn()}},
      {"discovery.k8s.io",
       "EndpointSlice",
       {NameColumn(), Shown("AddressType", Text("addressType")), Shown("Ports", SlicePorts),
        Shown("Endpoints", SliceEndpoints), AgeColumn()}},
      {"networking.k8s.io",
       "Ingress",
       {NameColumn(), Shown("Class", Text("spec.ingressClassName", "<none>")),
        Shown("Hosts", Hosts),
        Shown("Address", [](const Json& ingress) { return Json(LoadBalancer(ingress)); }),
        Shown("Ports",
              [](const Json& ingress) {
                return Json(ListAt(ingress, "spec.tls").empty() ? "80" : "80, 443");
              }),
        AgeColumn()}},
      {"networking.k8s.io",
       "IngressClass",
       {NameColumn(), Shown("Controller", Text("spec.controller")),
        Shown("Parameters", IngressParameters), AgeColumn()}},
      {"networking.k8s.io",
       "NetworkPolicy",
       {NameColumn(), Shown("Pod-Selector", Selector("spec.podSelector")), AgeColumn()}},
      {"networking.k8s.io",
       "ServiceCIDR",
       {NameColumn(),
        Shown("CIDRs",
              [](const Json& cidr) {
                return Json(Join(StringsAt(cidr, {"spec", "cidrs"}), ","));
              }),
        AgeColumn()}},
      {"networking.k8s.io", "IPAddress", {NameColumn(), Shown("ParentRef", ParentRef)}},
      {"apiregistration.k8s.io",
       "APIService",
       {NameColumn(), Shown("Service", ApiServiceTarget), Shown("Available", ApiServiceAvailable),
        AgeColumn()}},
  };
}

}  // namespace mailroom::openapi
