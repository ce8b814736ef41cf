#include "apiserver/services.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "openapi/catalog.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

std::string TypeOf(const Json& service) { return StringAt(service, {"spec", "type"}); }
bool IsBalanced(const Json& service) { return TypeOf(service) == "LoadBalancer"; }
bool HasNodePorts(const Json& service) {
  return IsBalanced(service) || TypeOf(service) == "NodePort";
}
bool HasAddress(const Json& service) { return TypeOf(service) != "ExternalName"; }
bool HasHealthPort(const Json& service) {
  return IsBalanced(service) && StringAt(service, {"spec", "externalTrafficPolicy"}) == "Local";
}
bool IsReachable(const Json& service) {
  const Json* addresses = Find(service, {"spec", "externalIPs"});
  const bool given = addresses != nullptr && !addresses->empty();
  return HasNodePorts(service) || (TypeOf(service) == "ClusterIP" && given);
}

// Whether node ports are wanted, which balancers may do without.
bool WantsNodePorts(const Json& service) {
  if (!HasNodePorts(service)) return false;
  const Json* wanted = Find(service, {"spec", "allocateLoadBalancerNodePorts"});
  const bool refused = wanted != nullptr && wanted->is_boolean() && !wanted->get<bool>();
  return !(IsBalanced(service) && refused);
}

bool Same(const Json& a, const Json& b, const char* member) {
  const Json *left = Find(a, {"spec", member}), *right = Find(b, {"spec", member});
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

std::set<std::int64_t> NodePorts(const Json& service) {
  std::set<std::int64_t> found;
  const Json* ports = Find(service, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array()) return found;
  for (const Json& port : *ports) {
    if (const std::int64_t number = IntAt(port, {"nodePort"}); number != 0) found.insert(number);
  }
  return found;
}

// The list as it is, or as it follows from the single address of an object that has no list.
std::vector<std::string> Addresses(const Json& service) {
  std::vector<std::string> addresses = StringsAt(service, {"spec", "clusterIPs"});
  const std::string single = StringAt(service, {"spec", "clusterIP"});
  if (addresses.empty() && !single.empty()) addresses.push_back(single);
  return addresses;
}

// A port that says none gets that of the port of its name, unless another one has it now.
void KeepNodePorts(const Json& live, Json& object) {
  Json* ports = Find(object, {"spec", "ports"});
  const Json* before = Find(live, {"spec", "ports"});
  if (ports == nullptr || before == nullptr || !ports->is_array() || !before->is_array()) return;
  std::map<std::string, std::int64_t> known;
  for (const Json& port : *before) known[StringAt(port, {"name"})] = IntAt(port, {"nodePort"});
  const std::set<std::int64_t> old = NodePorts(live), now = NodePorts(object);
  for (Json& port : *ports) {
    if (IntAt(port, {"nodePort"}) != 0) continue;
    const auto it = known.find(StringAt(port, {"name"}));
    if (it == known.end() || it->second == 0) continue;
    if (!old.contains(it->second) || !now.contains(it->second)) port["nodePort"] = it->second;
  }
}

void KeepAllocated(const Json& live, Json& object) {
  if (HasAddress(live) && HasAddress(object)) {
    const std::string single = StringAt(live, {"spec", "clusterIP"});
    if (StringAt(object, {"spec", "clusterIP"}).empty() && !single.empty()) {
      Set(object, {"spec", "clusterIP"}, single);
    }
    const Json* list = Find(live, {"spec", "clusterIPs"});
    if (list != nullptr && !list->empty() && StringsAt(object, {"spec", "clusterIPs"}).empty()) {
      Set(object, {"spec", "clusterIPs"}, *list);
    }
  }
  if (WantsNodePorts(live) && WantsNodePorts(object)) KeepNodePorts(live, object);
  if (HasHealthPort(live) && HasHealthPort(object)) {
    const std::int64_t port = IntAt(live, {"spec", "healthCheckNodePort"});
    if (IntAt(object, {"spec", "healthCheckNodePort"}) == 0 && port != 0) {
      Set(object, {"spec", "healthCheckNodePort"}, port);
    }
  }
}

// The list of addresses follows the single one when only that was written.
void FollowAddress(const Json* live, Json& object) {
  const std::string ip = StringAt(object, {"spec", "clusterIP"});
  const std::vector<std::string> ips = StringsAt(object, {"spec", "clusterIPs"});
  const bool changed = live != nullptr && StringAt(*live, {"spec", "clusterIP"}) != ip &&
                       StringsAt(*live, {"spec", "clusterIPs"}) == ips;
  if (!ips.empty() && !changed) return;
  if (ip.empty()) {
    Erase(object, {"spec", "clusterIPs"});
  } else {
    Set(object, {"spec", "clusterIPs"}, Json::array({ip}));
  }
}

}  // namespace

void DropMembersOfOldType(const Json& live, Json& object) {
  const auto drop = [&](const char* member) {
    if (Same(live, object, member)) Erase(object, {"spec", member});
  };
  if (HasAddress(live) && !HasAddress(object)) {
    const bool same = StringAt(live, {"spec", "clusterIP"}) == StringAt(object, {"spec", "clusterIP"});
    if (same && Addresses(live) == Addresses(object)) {
      Erase(object, {"spec", "clusterIP"});
      Erase(object, {"spec", "clusterIPs"});
    }
    drop("ipFamilies");
    drop("ipFamilyPolicy");
  }
  if (HasNodePorts(live) && !HasNodePorts(object)) {
    const std::set<std::int64_t> old = NodePorts(live), now = NodePorts(object);
    Json* ports = Find(object, {"spec", "ports"});
    if (!now.empty() && std::includes(old.begin(), old.end(), now.begin(), now.end())) {
      for (Json& port : *ports) port.erase("nodePort");
    }
  }
  if (HasHealthPort(live) && !HasHealthPort(object)) drop("healthCheckNodePort");
  if (IsBalanced(live) && !IsBalanced(object)) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (IsReachable(live) && !IsReachable(object)) drop("externalTrafficPolicy");
  if (!IsBalanced(object) && Find(object, {"status", "loadBalancer"}) != nullptr) {
    Set(object, {"status", "loadBalancer"}, Json::object());
  }
}

void SettleService(Call& call, Json& object, const Json* live) {
  if (!call.info.subresource.empty()) return;
  if (openapi::PolicyIsLive(call.workspace.type)) {
    if (live != nullptr) KeepAllocated(*live, object);
    FollowAddress(live, object);
  }
  if (live != nullptr) DropMembersOfOldType(*live, object);
  if (!HasAddress(object)) Erase(object, {"spec", "internalTrafficPolicy"});
}

}  // namespace mailroom::apiserver
