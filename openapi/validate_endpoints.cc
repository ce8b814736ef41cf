// Endpoints and EndpointSlices: addresses and ports behind services.
#include <set>

#include "openapi/validate.h"
#include "openapi/validate_addresses.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

// Of one slice.
constexpr std::size_t kMostEndpoints = 1000, kMostPorts = 20000;
// Of one endpoint.
constexpr std::size_t kMostAddresses = 100, kMostHints = 8;

// Whether the list is as long as it may be; said when it is not.
bool IsShort(const BuiltinCheck& check, const Json& list, std::size_t most,
             const std::string& path) {
  if (list.size() <= most) return true;
  check.causes.push_back(TooMany(path, list.size(), most));
  return false;
}

void CheckProtocol(const BuiltinCheck& check, const Json& port, const std::string& path) {
  const Json* protocol = Find(port, {"protocol"});
  if (protocol == nullptr) return check.Required(path + ".protocol");
  if (*protocol == "TCP" || *protocol == "UDP" || *protocol == "SCTP") return;
  check.causes.push_back(NotSupported(path + ".protocol", *protocol, {"SCTP", "TCP", "UDP"}));
}

void CheckAppProtocol(const BuiltinCheck& check, const Json& port, const std::string& path) {
  if (Find(port, {"appProtocol"}) == nullptr) return;
  const std::string name = StringAt(port, {"appProtocol"});
  AddInvalid(check.causes, path + ".appProtocol", name, CheckQualifiedName(name));
}

// Names of the node and of the host that an endpoint may have.
void CheckNodeName(const BuiltinCheck& check, const Json& endpoint, const std::string& path) {
  if (Find(endpoint, {"nodeName"}) == nullptr) return;
  const std::string name = StringAt(endpoint, {"nodeName"});
  AddInvalid(check.causes, path + ".nodeName", name, CheckSubdomain(name));
}

void CheckHostname(const BuiltinCheck& check, const Json& endpoint, const std::string& path) {
  const std::string name = StringAt(endpoint, {"hostname"});
  AddInvalid(check.causes, path + ".hostname", name, CheckLabel(name));
}

class SliceCheck {
 public:
  explicit SliceCheck(const BuiltinCheck& check)
      : check_(check), type_(StringAt(check.object, {"addressType"})) {}

  void CheckType() const {
    if (type_.empty()) {
      check_.Required("addressType");
    } else if (type_ != "IPv4" && type_ != "IPv6" && type_ != "FQDN") {
      check_.causes.push_back(NotSupported("addressType", type_, {"FQDN", "IPv4", "IPv6"}));
    }
  }

  void CheckPorts() const {
    const Json& ports = ArrayAt(check_.object, {"ports"});
    if (!IsShort(check_, ports, kMostPorts, "ports")) return;
    std::set<std::string> names;
    for (std::size_t i = 0; i < ports.size() && !check_.causes.full(); ++i) {
      const std::string path = Indexed("ports", i), name = StringAt(ports[i], {"name"});
      if (!name.empty()) AddInvalid(check_.causes, path + ".name", name, CheckLabel(name));
      if (!names.insert(name).second) {
        check_.causes.push_back(DuplicateValue(path + ".name", Quoted(name)));
      }
      CheckProtocol(check_, ports[i], path);
      CheckAppProtocol(check_, ports[i], path);
    }
  }

  void CheckEndpoints() const {
    const Json& endpoints = ArrayAt(check_.object, {"endpoints"});
    if (!IsShort(check_, endpoints, kMostEndpoints, "endpoints")) return;
    for (std::size_t i = 0; i < endpoints.size() && !check_.causes.full(); ++i) {
      const std::string path = Indexed("endpoints", i);
      CheckAddresses(endpoints[i], path + ".addresses");
      CheckNodeName(check_, endpoints[i], path);
      if (Find(endpoints[i], {"hostname"}) != nullptr) CheckHostname(check_, endpoints[i], path);
      CheckHints(endpoints[i], path + ".hints");
    }
  }

 private:
  void CheckAddresses(const Json& endpoint, const std::string& path) const {
    const Json& addresses = ArrayAt(endpoint, {"addresses"});
    if (addresses.empty()) check_.Required(path, "must contain at least 1 address");
    IsShort(check_, addresses, kMostAddresses, path);
    for (std::size_t i = 0; i < addresses.size() && !check_.causes.full(); ++i) {
      if (!addresses[i].is_string()) continue;
      const std::string text = addresses[i].get<std::string>(), field = Indexed(path, i);
      if (type_ == "FQDN") {
        CheckDomain(text, field);
      } else if (type_ == "IPv4" || type_ == "IPv6") {
        CheckIpOfType(text, path, field);
      }
    }
  }

  void CheckIpOfType(const std::string& text, const std::string& path,
                     const std::string& field) const {
    const bool wide = type_ == "IPv6";
    const Complaints complaints = wide ? CheckCanonicalIp(text) : CheckIp(text);
    AddInvalid(check_.causes, field, text, complaints);
    if (!complaints.empty()) return;
    if ((ParseAddress(text)->size == 16) != wide) {
      check_.Invalid(path, text, "must be an " + type_ + " address");
    }
    AddInvalid(check_.causes, field, text, CheckOuterIp(text, Loopback::kTaken));
  }

  // At least two labels; a dot may end them.
  void CheckDomain(std::string name, const std::string& field) const {
    if (name.empty()) return check_.Required(field);
    if (name.ends_with('.')) name.pop_back();
    std::string joined;
    for (const std::string& complaint : CheckSubdomain(name)) {
      joined += (joined.empty() ? "" : ",") + complaint;
    }
    if (!joined.empty()) return check_.Invalid(field, name, joined);
    if (name.find('.') == std::string::npos) {
      return check_.Invalid(field, name,
                            "should be a domain with at least two segments separated by dots");
    }
    for (std::size_t start = 0; start <= name.size();) {
      const std::size_t end = std::min(name.find('.', start), name.size());
      const std::string label = name.substr(start, end - start);
      if (const Complaints complaints = CheckLabel(label); !complaints.empty()) {
        return check_.Invalid(field, label, complaints.front());
      }
      start = end + 1;
    }
  }

  void CheckHints(const Json& endpoint, const std::string& path) const {
    for (const char* member : {"forZones", "forNodes"}) {
      const Json& hints = ArrayAt(endpoint, {"hints", member});
      const std::string list = path + "." + member;
      if (!IsShort(check_, hints, kMostHints, list)) return;
      std::set<std::string> names;
      for (std::size_t i = 0; i < hints.size(); ++i) {
        const std::string field = Indexed(list, i) + ".name", name = StringAt(hints[i], {"name"});
        if (!names.insert(name).second)
          check_.causes.push_back(DuplicateValue(field, Quoted(name)));
        if (list.ends_with("forNodes")) {
          AddInvalid(check_.causes, field, name, CheckSubdomain(name));
        } else if (const std::string why = CheckLabelValue(name); !why.empty()) {
          check_.Invalid(field, name, why);
        }
      }
    }
  }

  const BuiltinCheck& check_;
  const std::string type_;
};

void CheckSubset(const BuiltinCheck& check, const Json& subset, const std::string& path) {
  if (ArrayAt(subset, {"addresses"}).empty() && ArrayAt(subset, {"notReadyAddresses"}).empty()) {
    check.Required(path, "must specify `addresses` or `notReadyAddresses`");
  }
  for (const char* member : {"addresses", "notReadyAddresses"}) {
    const Json& addresses = ArrayAt(subset, {member});
    for (std::size_t i = 0; i < addresses.size() && !check.causes.full(); ++i) {
      const std::string field = Indexed(path + "." + member, i);
      const std::string ip = StringAt(addresses[i], {"ip"});
      AddInvalid(check.causes, field + ".ip", ip, CheckIp(ip));
      if (!StringAt(addresses[i], {"hostname"}).empty()) CheckHostname(check, addresses[i], field);
      CheckNodeName(check, addresses[i], field);
      AddInvalid(check.causes, field + ".ip", ip, CheckOuterIp(ip, Loopback::kTaken));
    }
  }
  const Json& ports = ArrayAt(subset, {"ports"});
  for (std::size_t i = 0; i < ports.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed(path + ".ports", i), name = StringAt(ports[i], {"name"});
    if (!name.empty()) {
      AddInvalid(check.causes, field + ".name", name, CheckLabel(name));
    } else if (ports.size() > 1) {
      check.Required(field + ".name");
    }
    const std::int64_t number = IntAt(ports[i], {"port"});
    AddInvalid(check.causes, field + ".port", number, CheckPort(number));
    CheckProtocol(check, ports[i], field);
    CheckAppProtocol(check, ports[i], field);
  }
}

// Lists that are as they were before need not be what they must be today.
bool IsUnchanged(const BuiltinCheck& check, const char* member) {
  if (check.old == nullptr) return false;
  return ArrayAt(check.object, {member}) == ArrayAt(*check.old, {member});
}

}  // namespace

void CheckEndpointSlice(const BuiltinCheck& check) {
  const SliceCheck slice(check);
  slice.CheckType();
  slice.CheckPorts();
  if (!IsUnchanged(check, "endpoints")) slice.CheckEndpoints();
  check.Immutable({"addressType"});
}

void CheckEndpoints(const BuiltinCheck& check) {
  if (IsUnchanged(check, "subsets")) return;
  const Json& subsets = ArrayAt(check.object, {"subsets"});
  for (std::size_t i = 0; i < subsets.size() && !check.causes.full(); ++i) {
    CheckSubset(check, subsets[i], Indexed("subsets", i));
  }
}

}  // namespace mailroom::openapi
