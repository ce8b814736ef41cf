// Members of Services that only some types of services have, and their addresses. Which addresses
// are free, or in range, is not known here: none are given out.
#include <algorithm>
#include <set>

#include "openapi/validate_addresses.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kRangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
constexpr std::string_view kHints = "service.kubernetes.io/topology-aware-hints";
constexpr std::string_view kMode = "service.kubernetes.io/topology-mode";
constexpr const char* kBalancerOnly = "may only be used when `type` is 'LoadBalancer'";

std::string Trimmed(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n\v\f");
  if (start == std::string::npos) return "";
  return text.substr(start, text.find_last_not_of(" \t\r\n\v\f") - start + 1);
}

std::set<std::string> OldStrings(const BuiltinCheck& check, Path path) {
  if (check.old == nullptr) return {};
  const auto list = StringsAt(*check.old, path);
  return {list.begin(), list.end()};
}

void CheckTopology(const BuiltinCheck& check) {
  const Json* mode = Find(check.object, {"metadata", "annotations", kMode});
  const Json* hints = Find(check.object, {"metadata", "annotations", kHints});
  if (mode == nullptr || hints == nullptr || *mode == *hints) return;
  check.Invalid(EntryPath("metadata.annotations", kMode), *mode,
                "must match annotations[" + std::string(kHints) + "] when both are specified");
}

void CheckAffinity(const BuiltinCheck& check) {
  constexpr std::int64_t kLongest = 86400;
  const std::string type = StringAt(check.object, {"spec", "sessionAffinity"});
  const std::string field = "spec.sessionAffinityConfig";
  const Json* config = Find(check.object, {"spec", "sessionAffinityConfig"});
  if (type == "None" && config != nullptr) {
    return check.Forbidden(field, "must not be set when session affinity is None");
  }
  if (type != "ClientIP" || config == nullptr) return;
  const Json* seconds = Find(*config, {"clientIP", "timeoutSeconds"});
  if (seconds == nullptr) return;
  const std::int64_t value = IntAt(*config, {"clientIP", "timeoutSeconds"});
  if (value <= 0 || value > kLongest) {
    check.Invalid(field + ".clientIP.timeoutSeconds", *seconds,
                  "must be greater than 0 and less than " + std::to_string(kLongest));
  }
}

void CheckExternalName(const BuiltinCheck& check) {
  const bool address = !StringAt(check.object, {"spec", "clusterIP"}).empty();
  if (address && ArrayAt(check.object, {"spec", "clusterIPs"}).empty()) {
    check.Forbidden("spec.clusterIPs", "may not be set for ExternalName services");
  }
  if (!ArrayAt(check.object, {"spec", "ipFamilies"}).empty()) {
    check.Forbidden("spec.ipFamilies", "may not be set for ExternalName services");
  }
  if (Find(check.object, {"spec", "ipFamilyPolicy"}) != nullptr) {
    check.Forbidden("spec.ipFamilyPolicy", "may not be set for ExternalName services");
  }
}

// False when one of them is no address at all.
bool CheckEachAddress(const BuiltinCheck& check, const std::vector<std::string>& ips) {
  const auto kept = OldStrings(check, {"spec", "clusterIPs"});
  bool valid = true;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    if (i == 0 && ips[i] == "None") {
      if (ips.size() == 1) continue;
      check.Invalid("spec.clusterIPs", ips, "'None' must be the first and only value");
      valid = false;
    } else if (!kept.contains(ips[i])) {
      const Complaints complaints = CheckIp(ips[i]);
      AddInvalid(check.causes, ElementPath("spec.clusterIPs", i), ips[i], complaints);
      valid &= complaints.empty();
    }
  }
  return valid;
}

void CheckFamilies(const BuiltinCheck& check, const std::vector<std::string>& ips) {
  const auto is_wide = [](const std::string& ip) {
    const auto address = ParseAddress(ip);
    return address && address->size == 16;
  };
  if (ips.size() > 1) {
    const auto wide = static_cast<std::size_t>(std::count_if(ips.begin(), ips.end(), is_wide));
    if (wide == 0 || wide == ips.size()) {
      check.Invalid("spec.clusterIPs", ips, "may specify no more than one IP for each IP family");
    }
  }
  const auto families = StringsAt(check.object, {"spec", "ipFamilies"});
  for (std::size_t i = 0; i < ips.size() && i < families.size(); ++i) {
    const bool known = families[i] == "IPv4" || families[i] == "IPv6";
    if (ips[i] == "None" || !known || is_wide(ips[i]) == (families[i] == "IPv6")) continue;
    check.Invalid(ElementPath("spec.clusterIPs", i), ips[i],
                  "expected an " + families[i] + " value as indicated by `ipFamilies[" +
                      std::to_string(i) + "]`");
  }
}

void CheckClusterAddresses(const BuiltinCheck& check) {
  const std::string ip = StringAt(check.object, {"spec", "clusterIP"});
  auto ips = StringsAt(check.object, {"spec", "clusterIPs"});
  if (!ips.empty() && ip.empty()) {
    check.Invalid("spec.clusterIPs", ips, "must be empty when `clusterIP` is not specified");
  } else if (!ips.empty() && ips.front() != ip) {
    check.Invalid("spec.clusterIPs", ips, "first value must match `clusterIP`");
  }
  const auto families = StringsAt(check.object, {"spec", "ipFamilies"});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (seen.insert(families[i]).second) continue;
    check.causes.push_back(DuplicateValue(ElementPath("spec.ipFamilies", i), Quoted(families[i])));
  }
  if (ips.empty() && !ip.empty()) ips.push_back(ip);  // the list may not have been written
  const bool valid = CheckEachAddress(check, ips);
  if (ips.size() > 2) check.Invalid("spec.clusterIPs", ips, "may only hold up to 2 values");
  if (valid) CheckFamilies(check, ips);
}

void CheckExternalAddresses(const BuiltinCheck& check) {
  const auto kept = OldStrings(check, {"spec", "externalIPs"});
  const auto ips = StringsAt(check.object, {"spec", "externalIPs"});
  for (std::size_t i = 0; i < ips.size(); ++i) {
    const std::string field = ElementPath("spec.externalIPs", i);
    const Complaints complaints = kept.contains(ips[i]) ? Complaints() : CheckIp(ips[i]);
    AddInvalid(check.causes, field, ips[i], complaints);
    if (complaints.empty()) AddInvalid(check.causes, field, ips[i], CheckOuterIp(ips[i], Loopback::kRefused));
  }
}

void CheckRanges(const BuiltinCheck& check, bool balancer) {
  const std::string field = "spec.LoadBalancerSourceRanges";
  const auto ranges = StringsAt(check.object, {"spec", "loadBalancerSourceRanges"});
  if (!ranges.empty()) {
    if (!balancer) check.Forbidden(field, kBalancerOnly);
    std::set<std::string> kept;
    for (const std::string& text : OldStrings(check, {"spec", "loadBalancerSourceRanges"})) {
      kept.insert(Trimmed(text));
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::string text = Trimmed(ranges[i]);
      if (!kept.contains(text)) AddInvalid(check.causes, ElementPath(field, i), text, CheckCidr(text));
    }
    return;
  }
  const Json* note = Find(check.object, {"metadata", "annotations", kRangesAnnotation});
  if (note == nullptr || !note->is_string()) return;
  const std::string place = EntryPath("metadata.annotations", kRangesAnnotation);
  if (!balancer) check.Forbidden(place, kBalancerOnly);
  const Json* before =
      check.old == nullptr ? nullptr : Find(*check.old, {"metadata", "annotations", kRangesAnnotation});
  const std::string list = Trimmed(note->get<std::string>());
  if (list.empty() || (before != nullptr && *before == *note)) return;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    const std::string text = Trimmed(list.substr(start, end - start));
    AddInvalid(check.causes, place, text, CheckCidr(text));
    start = end + 1;
  }
}

void CheckBalancer(const BuiltinCheck& check, bool balancer) {
  if (!balancer && Find(check.object, {"spec", "allocateLoadBalancerNodePorts"}) != nullptr) {
    check.Forbidden("spec.allocateLoadBalancerNodePorts", kBalancerOnly);
  }
  const Json* given = Find(check.object, {"spec", "loadBalancerClass"});
  const std::string field = "spec.loadBalancerClass", name = StringAt(check.object, {"spec", "loadBalancerClass"});
  if (!balancer) {
    if (given != nullptr) check.Forbidden(field, kBalancerOnly);
    return;
  }
  if (check.old != nullptr && StringAt(*check.old, {"spec", "type"}) == "LoadBalancer") {
    const Json* before = Find(*check.old, {"spec", "loadBalancerClass"});
    if ((given == nullptr) != (before == nullptr) || (given != nullptr && *given != *before)) {
      check.Invalid(field, given == nullptr ? Json() : *given, "may not change once set");
    }
  }
  if (given != nullptr) AddInvalid(check.causes, field, name, CheckQualifiedName(name));
}

void CheckTraffic(const BuiltinCheck& check, const std::string& type) {
  const bool reachable = type == "LoadBalancer" || type == "NodePort" ||
                         (type == "ClusterIP" && !ArrayAt(check.object, {"spec", "externalIPs"}).empty());
  const std::string policy = StringAt(check.object, {"spec", "externalTrafficPolicy"});
  if (!reachable && !policy.empty()) {
    check.Invalid("spec.externalTrafficPolicy", policy,
                  "may only be set for externally-accessible services");
  }
  const std::string field = "spec.healthCheckNodePort";
  const std::int64_t port = IntAt(check.object, {"spec", "healthCheckNodePort"});
  const auto probed = [](const Json& service) {
    return StringAt(service, {"spec", "type"}) == "LoadBalancer" &&
           StringAt(service, {"spec", "externalTrafficPolicy"}) == "Local";
  };
  if (port != 0 && !probed(check.object)) {
    check.Invalid(field, port,
                  "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  } else if (port != 0) {
    AddInvalid(check.causes, field, port, CheckPort(port));
    const std::int64_t before = check.old != nullptr && probed(*check.old)
                                    ? IntAt(*check.old, {"spec", "healthCheckNodePort"})
                                    : 0;
    if (before != 0 && before != port) check.Forbidden(field, "field is immutable");
  }
  const Json* spread = Find(check.object, {"spec", "trafficDistribution"});
  const std::vector<std::string> kinds = {"PreferClose", "PreferSameZone", "PreferSameNode"};
  const std::string given = StringAt(check.object, {"spec", "trafficDistribution"});
  if (spread != nullptr && std::find(kinds.begin(), kinds.end(), given) == kinds.end()) {
    check.causes.push_back(NotSupported("spec.trafficDistribution", *spread, kinds));
  }
}

void CheckStatus(const BuiltinCheck& check) {
  const std::string list = "status.loadBalancer.ingress";
  const Json& points = ArrayAt(check.object, {"status", "loadBalancer", "ingress"});
  if (!points.empty() && StringAt(check.object, {"spec", "type"}) != "LoadBalancer") {
    return check.Forbidden(list, "may only be used when `spec.type` is 'LoadBalancer'");
  }
  std::set<std::string> kept;
  if (check.old != nullptr) {
    for (const Json& point : ArrayAt(*check.old, {"status", "loadBalancer", "ingress"})) {
      kept.insert(StringAt(point, {"ip"}));
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string field = ElementPath(list, i), ip = StringAt(points[i], {"ip"});
    if (!ip.empty() && !kept.contains(ip)) AddInvalid(check.causes, field + ".ip", ip, CheckIp(ip));
    const Json* mode = Find(points[i], {"ipMode"});
    if (mode != nullptr && ip.empty()) {
      check.Forbidden(field + ".ipMode", "may not be specified when `ip` is not set");
    } else if (mode != nullptr && *mode != "VIP" && *mode != "Proxy") {
      check.causes.push_back(NotSupported(field + ".ipMode", *mode, {"Proxy", "VIP"}));
    }
    const std::string host = StringAt(points[i], {"hostname"});
    if (host.empty()) continue;
    AddInvalid(check.causes, field + ".hostname", host, CheckSubdomain(host));
    if (ParseAddress(host)) {
      check.Invalid(field + ".hostname", host, "must be a DNS name, not an IP address");
    }
  }
}

}  // namespace

void CheckServiceFields(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckStatus(check);
  const std::string type = StringAt(check.object, {"spec", "type"});
  CheckTopology(check);
  if (type == "ExternalName") CheckExternalName(check);
  const Json& ports = ArrayAt(check.object, {"spec", "ports"});
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (Find(ports[i], {"appProtocol"}) == nullptr) continue;
    const std::string name = StringAt(ports[i], {"appProtocol"});
    AddInvalid(check.causes, Indexed("spec.ports", i) + ".appProtocol", name, CheckQualifiedName(name));
  }
  CheckAffinity(check);
  if (type != "ExternalName") CheckClusterAddresses(check);
  CheckExternalAddresses(check);
  const bool balancer = type == "LoadBalancer";
  CheckRanges(check, balancer);
  CheckBalancer(check, balancer);
  CheckTraffic(check, type);
}

}  // namespace mailroom::openapi
