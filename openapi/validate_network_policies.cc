// NetworkPolicies: who may speak to whom, through which ports.
#include <set>

#include "openapi/validate_addresses.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

struct Direction {
  const char *rules, *peers;
};

constexpr Direction kDirections[] = {{"ingress", "from"}, {"egress", "to"}};

// Ranges of the old policy; they stay acceptable wherever they are put.
std::set<std::string> KnownRanges(const Json* policy) {
  std::set<std::string> known;
  if (policy == nullptr) return known;
  for (const Direction& direction : kDirections) {
    for (const Json& rule : ArrayAt(*policy, {"spec", direction.rules})) {
      for (const Json& peer : ArrayAt(rule, {direction.peers})) {
        known.insert(StringAt(peer, {"ipBlock", "cidr"}));
        for (std::string& range : StringsAt(peer, {"ipBlock", "except"})) {
          known.insert(std::move(range));
        }
      }
    }
  }
  return known;
}

class PolicyCheck {
 public:
  explicit PolicyCheck(const BuiltinCheck& check) : check_(check), known_(KnownRanges(check.old)) {
    const Json* selector =
        check.old == nullptr ? nullptr : Find(*check.old, {"spec", "podSelector"});
    if (selector == nullptr) return;
    Causes faults;
    CheckSelector({*selector, nullptr, faults}, *selector, "", SelectorValues::kChecked);
    if (!faults.empty()) values_ = SelectorValues::kAny;
  }

  void Run() const {
    if (const Json* selector = Find(check_.object, {"spec", "podSelector"})) {
      CheckSelector(check_, *selector, "spec.podSelector", values_);
    }
    for (const Direction& direction : kDirections) {
      const Json& rules = ArrayAt(check_.object, {"spec", direction.rules});
      for (std::size_t i = 0; i < rules.size() && !check_.causes.full(); ++i) {
        CheckRule(rules[i], direction, Indexed(std::string("spec.") + direction.rules, i));
      }
    }
    CheckTypes();
  }

 private:
  void CheckRule(const Json& rule, const Direction& direction, const std::string& path) const {
    const Json& ports = ArrayAt(rule, {"ports"});
    for (std::size_t i = 0; i < ports.size(); ++i)
      CheckPolicyPort(ports[i], Indexed(path + ".ports", i));
    const Json& peers = ArrayAt(rule, {direction.peers});
    for (std::size_t i = 0; i < peers.size(); ++i) {
      CheckPeer(peers[i], Indexed(path + "." + direction.peers, i));
    }
  }

  void CheckPolicyPort(const Json& entry, const std::string& path) const {
    const std::string end_path = path + ".endPort";
    const std::string protocol = StringAt(entry, {"protocol"});
    if (Find(entry, {"protocol"}) != nullptr && protocol != "TCP" && protocol != "UDP" &&
        protocol != "SCTP") {
      check_.causes.push_back(NotSupported(path + ".protocol", protocol, {"TCP", "UDP", "SCTP"}));
    }
    const Json* port = Find(entry, {"port"});
    const Json* end = Find(entry, {"endPort"});
    if (port == nullptr || port->is_null()) {
      if (end != nullptr) {
        check_.Invalid(end_path, *end, "may not be specified when `port` is not specified");
      }
      return;
    }
    if (port->is_string()) {
      if (end != nullptr) {
        check_.Invalid(end_path, *end, "may not be specified when `port` is non-numeric");
      }
      AddInvalid(check_.causes, path + ".port", *port, CheckPortName(port->get<std::string>()));
      return;
    }
    const std::int64_t first = IntAt(entry, {"port"}), last = IntAt(entry, {"endPort"});
    AddInvalid(check_.causes, path + ".port", first, CheckPort(first));
    if (end == nullptr) return;
    if (last < first) check_.Invalid(end_path, first, "must be greater than or equal to `port`");
    AddInvalid(check_.causes, end_path, last, CheckPort(last));
  }

  void CheckPeer(const Json& peer, const std::string& path) const {
    int selectors = 0;
    for (const char* member : {"podSelector", "namespaceSelector"}) {
      const Json* selector = Find(peer, {member});
      if (selector == nullptr) continue;
      ++selectors;
      CheckSelector(check_, *selector, path + "." + member, values_);
    }
    const Json* block = Find(peer, {"ipBlock"});
    if (block != nullptr) CheckBlock(*block, path + ".ipBlock");
    if (block == nullptr && selectors == 0) check_.Required(path, "must specify a peer");
    if (block != nullptr && selectors > 0) {
      check_.Forbidden(path, "may not specify both ipBlock and another peer");
    }
  }

  void CheckKnownRange(const std::string& text, const std::string& path) const {
    if (!known_.contains(text)) AddInvalid(check_.causes, path, text, CheckCidr(text));
  }

  void CheckBlock(const Json& block, const std::string& path) const {
    const std::string whole = StringAt(block, {"cidr"});
    if (whole.empty()) return check_.Required(path + ".cidr");
    CheckKnownRange(whole, path + ".cidr");
    const auto outer = ParseRange(whole);
    if (!outer) return;
    const auto holes = StringsAt(block, {"except"});
    for (std::size_t i = 0; i < holes.size(); ++i) {
      const std::string field = Indexed(path + ".except", i);
      CheckKnownRange(holes[i], field);
      const auto inner = ParseRange(holes[i]);
      if (inner && (!outer->Contains(inner->address) || outer->bits >= inner->bits)) {
        check_.Invalid(field, holes[i], "must be a strict subset of `cidr`");
      }
    }
  }

  void CheckTypes() const {
    const Json& types = ArrayAt(check_.object, {"spec", "policyTypes"});
    if (types.size() > 2) {
      return check_.Invalid("spec.policyTypes", types, "may not specify more than two policyTypes");
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] == "Ingress" || types[i] == "Egress") continue;
      check_.causes.push_back(
          NotSupported(Indexed("spec.policyTypes", i), types[i], {"Ingress", "Egress"}));
    }
  }

  const BuiltinCheck& check_;
  const std::set<std::string> known_;
  SelectorValues values_ = SelectorValues::kChecked;
};

}  // namespace

void CheckNetworkPolicy(const BuiltinCheck& check) { PolicyCheck(check).Run(); }

}  // namespace mailroom::openapi
