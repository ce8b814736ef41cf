#include "apiserver/device_claims.h"

#include <algorithm>
#include <map>
#include <set>

#include "openapi/catalog.h"
#include "storage/cached_store.h"
#include "storage/object/json_path.h"
#include "storage/object/problems.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kAdminLabel = "resource.kubernetes.io/admin-access";
constexpr const char* kNodeOfToken = "authentication.kubernetes.io/node-name";

// Where claims are payload, the cluster they go to decides who may do what; what is written down here
// is what it has told.
bool AreAllocated(const Call& call) { return openapi::PolicyIsLive(call.workspace.type); }

const Json& ListAt(const Json& object, Path path) {
  static const Json kNone = Json::array();
  const Json* found = Find(object, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

const Json& MemberOf(const Json* object, Path path) {
  static const Json kNone;
  const Json* found = object == nullptr ? nullptr : Find(*object, path);
  return found != nullptr ? *found : kNone;
}

// A device, whoever shares it, by all its names.
std::vector<std::string> KeyOf(const Json& device) {
  std::vector<std::string> key;
  for (const char* member : {"driver", "pool", "device", "shareID"}) {
    key.push_back(StringAt(device, {member}));
  }
  return key;
}
using Keys = std::set<std::vector<std::string>>;

Keys AllocatedTo(const Json& claim) {
  Keys keys;
  for (const Json& result : ListAt(claim, {"status", "allocation", "devices", "results"})) {
    keys.insert(KeyOf(result));
  }
  return keys;
}

// The place of the first element that asks for administration.
std::string AdminAt(const Json& list, Path flag, const std::string& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (BoolAt(list[i], flag)) return ElementPath(path, i) + ".adminAccess";
  }
  return "";
}

std::vector<Cause> CheckAdmin(const Call& call, const std::string& field) {
  if (field.empty()) return {};
  const ObjectPtr ns =
      call.hub.store.Get({call.info.workspace, {"", "namespaces"}, "", call.info.ns});
  if (ns != nullptr && StringAt(ns->ToJson(), {"metadata", "labels", kAdminLabel}) == "true") return {};
  return {ForbiddenValue(field, std::string("admin access to devices requires the `") + kAdminLabel +
                                    ": true` label on the containing namespace")};
}

std::vector<Cause> CheckRequests(const Call& call, const Json& requests) {
  return CheckAdmin(call, AdminAt(requests, {"exactly", "adminAccess"}, "spec.devices.requests"));
}

// Whether the caller has a right on a part of claims that has no resource of its own; what is said if
// it has none of the verbs is said of the first.
std::string Refusal(const Call& call, const std::vector<std::string>& verbs, const char* part,
                    const std::string& ns, const std::string& name) {
  std::string first;
  for (const std::string& verb : verbs) {
    Attributes asked;
    asked.workspace = call.info.workspace.name();
    asked.verb = verb;
    asked.group = call.type->gvk.group;
    asked.version = call.type->gvk.version;
    asked.resource = call.type->plural;
    asked.subresource = part;
    asked.ns = ns;
    asked.name = name;
    const auto checked = call.hub.authorizer.Check(call.user, asked);
    if (checked.ok()) return "";
    if (first.empty()) first = checked.error().message();
  }
  return first;
}

// The one node that what was allocated is for, or "".
std::string NodeOf(const Json& claim) {
  const Json& terms = ListAt(claim, {"status", "allocation", "nodeSelector", "nodeSelectorTerms"});
  if (terms.size() != 1 || !ListAt(terms[0], {"matchExpressions"}).empty()) return "";
  const Json& fields = ListAt(terms[0], {"matchFields"});
  if (fields.size() != 1 || StringAt(fields[0], {"key"}) != "metadata.name") return "";
  const std::vector<std::string> values = StringsAt(fields[0], {"values"});
  return StringAt(fields[0], {"operator"}) == "In" && values.size() == 1 ? values[0] : "";
}

// Whether the caller is a service account whose token is bound to that node.
bool IsOn(const User& user, const std::string& node) {
  if (node.empty() || !user.name.starts_with("system:serviceaccount:")) return false;
  const auto nodes = user.extra.find(kNodeOfToken);
  return nodes != user.extra.end() && nodes->second == std::vector<std::string>{node};
}

// Drivers of devices whose state is told anew.
std::set<std::string> ChangedDrivers(const Json& claim, const Json& live) {
  std::map<std::vector<std::string>, Json> before;
  for (const Json& device : ListAt(live, {"status", "devices"})) before.emplace(KeyOf(device), device);
  std::set<std::string> drivers;
  for (const Json& device : ListAt(claim, {"status", "devices"})) {
    const auto known = before.find(KeyOf(device));
    if (known == before.end() || known->second != device) drivers.insert(StringAt(device, {"driver"}));
    if (known != before.end()) before.erase(known);
  }
  for (const auto& [key, device] : before) drivers.insert(key[0]);
  return drivers;
}

void CheckBinding(const Call& call, const Json& claim, const Json& live, std::vector<Cause>& causes) {
  const auto same = [&](std::string_view member) {
    return MemberOf(&claim, {"status", member}) == MemberOf(&live, {"status", member});
  };
  if (same("allocation") && same("reservedFor")) return;
  const std::string refusal = Refusal(call, {std::string(call.info.verb)}, "binding", "", "");
  if (refusal.empty()) return;
  causes.push_back(ForbiddenValue(
      "status.allocation",
      "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", "
      "verb=\"" + std::string(call.info.verb) + "\" permission: " + refusal));
}

void CheckDrivers(const Call& call, const Json& claim, const Json& live, std::vector<Cause>& causes) {
  if (Find(claim, {"status", "allocation"}) == nullptr) return;
  const std::string verb(call.info.verb);
  std::vector<std::string> verbs = {"arbitrary-node:" + verb};
  if (IsOn(call.user, NodeOf(claim))) verbs.insert(verbs.begin(), "associated-node:" + verb);
  std::string shown;
  for (const std::string& each : verbs) shown += (shown.empty() ? "" : " ") + each;
  for (const std::string& driver : ChangedDrivers(claim, live)) {
    const std::string refusal = Refusal(call, verbs, "driver", call.info.ns, driver);
    if (refusal.empty()) continue;
    causes.push_back(ForbiddenValue(
        "status.devices", "changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[" +
                              shown + "]\" permission: " + refusal));
  }
}

}  // namespace

// What is told of devices goes with them.
Result<void> PrepareDeviceClaim(Call& call, Json& object, const Json* live) {
  if (live == nullptr || call.info.subresource != "status") return Ok();
  Json* devices = Find(object, {"status", "devices"});
  if (devices == nullptr || !devices->is_array()) return Ok();
  Keys gone = AllocatedTo(*live);
  for (const auto& key : AllocatedTo(object)) gone.erase(key);
  Json kept = Json::array();
  for (Json& device : *devices) {
    if (!gone.contains(KeyOf(device))) kept.push_back(std::move(device));
  }
  if (kept.empty()) {
    Erase(object, {"status", "devices"});
  } else {
    *devices = std::move(kept);
  }
  return Ok();
}

std::vector<Cause> ValidateDeviceClaim(const Call& call, const Json& object, const Json* live) {
  if (!AreAllocated(call)) return {};
  if (live == nullptr) return CheckRequests(call, ListAt(object, {"spec", "devices", "requests"}));
  if (call.info.subresource != "status") return {};
  std::vector<Cause> causes;
  const auto results = [](const Json& claim) -> const Json& {
    return ListAt(claim, {"status", "allocation", "devices", "results"});
  };
  const std::string path = "status.allocation.devices.results";
  if (AdminAt(results(*live), {"adminAccess"}, path).empty()) {
    causes = CheckAdmin(call, AdminAt(results(object), {"adminAccess"}, path));
  }
  CheckBinding(call, object, *live, causes);
  CheckDrivers(call, object, *live, causes);
  return causes;
}

std::vector<Cause> ValidateDeviceClaimTemplate(const Call& call, const Json& object, const Json* live) {
  if (live != nullptr || !AreAllocated(call)) return {};
  return CheckRequests(call, ListAt(object, {"spec", "spec", "devices", "requests"}));
}

}  // namespace mailroom::apiserver
