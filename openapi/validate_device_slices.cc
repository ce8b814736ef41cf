// Slices: what devices a driver offers, and where.
#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_capacities.h"
#include "openapi/validate_devices.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kDevices = 128, kDevicesWithMore = 64;
constexpr std::size_t kCounterSets = 8, kCounters = 32, kConsumed = 2;
constexpr std::size_t kAttributes = 32, kValues = 48, kValueBytes = 64, kTaints = 16;
constexpr std::size_t kNameBytes = 63 + 1 + 32;

const char* kSemver =
    R"(^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*))"
    R"((-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?)"
    R"((\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$)";

const Json& MapAt(const Json& object, const char* member) {
  static const Json kNone = Json::object();
  const Json* found = Find(object, {member});
  return found != nullptr && found->is_object() ? *found : kNone;
}

// Long keys are cut in their middle.
std::string KeyPath(const std::string& path, const std::string& key, std::size_t most) {
  if (key.size() <= most) return EntryPath(path, key);
  const std::size_t kept = most - 3;
  return EntryPath(path, key.substr(0, (kept + 1) / 2) + "..." + key.substr(key.size() - kept / 2));
}

void CheckNodeName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  AddInvalid(check.causes, path, name, CheckSubdomain(name));
}

// What is set must be true; whether it is.
bool IsSet(const BuiltinCheck& check, const Json& owner, const char* member, const std::string& path) {
  if (Find(owner, {member}) == nullptr) return false;
  if (BoolAt(owner, {member})) return true;
  check.Invalid(path + "." + member, false, "must be either unset or set to true");
  return false;
}

// Which nodes reach what `owner` stands for; the members that say so.
std::vector<std::string> CheckPlace(const BuiltinCheck& check, const Json& owner,
                                    const std::string& path, const std::string& empty_name) {
  std::vector<std::string> given;
  if (Find(owner, {"nodeName"}) != nullptr) {
    const std::string name = StringAt(owner, {"nodeName"}), field = path + ".nodeName";
    if (name.empty()) {
      check.Invalid(field, name, empty_name);
    } else {
      given.emplace_back("`nodeName`");
      CheckNodeName(check, name, field);
    }
  }
  if (const Json* selector = Find(owner, {"nodeSelector"})) {
    given.emplace_back("`nodeSelector`");
    CheckNodeSelector(check, *selector, path + ".nodeSelector", true);
  }
  return given;
}

void CheckOneGiven(const BuiltinCheck& check, const std::vector<std::string>& given,
                   const std::string& path, const std::string& rule, const std::string& many) {
  if (given.empty()) return check.Required(path, rule);
  if (given.size() == 1) return;
  std::string all;
  for (const std::string& each : given) all += (all.empty() ? "" : ", ") + each;
  check.Invalid(path, "{" + all + "}", rule + many);
}

void CheckValueLength(const BuiltinCheck& check, const std::string& value, const std::string& path) {
  if (value.size() > kValueBytes) check.causes.push_back(TooLong(path, kValueBytes));
}

void CheckAttribute(const BuiltinCheck& check, const Json& attribute, const std::string& path) {
  std::size_t given = 0;
  for (const char* member : {"bool", "int", "string", "version"}) {
    given += Find(attribute, {member}) != nullptr ? 1 : 0;
  }
  if (Find(attribute, {"string"}) != nullptr) {
    CheckValueLength(check, StringAt(attribute, {"string"}), path + ".string");
  }
  if (Find(attribute, {"version"}) != nullptr) {
    const std::string version = StringAt(attribute, {"version"}), field = path + ".version";
    if (!MatchesPattern(kSemver, version)) {
      check.Invalid(field, version, "must be a string compatible with semver.org spec 2.0.0");
    }
    CheckValueLength(check, version, field);
  }
  if (given == 1) return;
  const std::string rule = "exactly one value must be specified";
  if (given == 0) return check.Invalid(path, "", rule);
  InvalidInternal(check, path, "resource/v1.DeviceAttribute", &attribute, rule);
}

void CheckAttributes(const BuiltinCheck& check, const Json& device, const std::string& path) {
  const std::size_t attributes = MapAt(device, "attributes").size();
  const std::size_t all = attributes + MapAt(device, "capacity").size();
  if (all > kAttributes) {
    check.Invalid(path, all, "the total number of attributes and capacities must not exceed 32");
  }
  if (attributes > kValues) {
    check.Invalid(path, attributes, "the total number of attribute values must not exceed 48");
  }
  const std::string field = path + ".attributes";
  for (const auto& [name, attribute] : MapAt(device, "attributes").items()) {
    if (check.causes.full()) return;
    CheckAttributeName(check, name, field);
    CheckAttribute(check, attribute, KeyPath(field, name, kNameBytes));
  }
  const bool shared = BoolAt(device, {"allowMultipleAllocations"});
  for (const auto& [name, capacity] : MapAt(device, "capacity").items()) {
    if (check.causes.full()) return;
    CheckAttributeName(check, name, path + ".capacity");
    CheckCapacity(check, capacity, shared, KeyPath(path + ".capacity", name, kNameBytes));
  }
}

void CheckCounters(const BuiltinCheck& check, const Json& owner, const char* name_member,
                   const std::string& path) {
  const std::string name = StringAt(owner, {name_member}), field = path + "." + name_member;
  if (name.empty()) {
    check.Required(field);
  } else {
    AddInvalid(check.causes, field, name, CheckLabel(name));
  }
  const Json& counters = MapAt(owner, "counters");
  const std::string list = path + ".counters";
  if (counters.empty()) return check.Required(list);
  if (!FitsIn(check, counters, kCounters, list)) return;
  for (const auto& [counter, value] : counters.items()) {
    AddInvalid(check.causes, list, counter, CheckLabel(counter));
  }
}

void CheckTaints(const BuiltinCheck& check, const Json& device, const std::string& path) {
  const Json& taints = ArrayAt(device, {"taints"});
  if (check.old != nullptr) {
    const std::string name = NameOf(device);
    for (const Json& before : ArrayAt(*check.old, {"spec", "devices"})) {
      if (NameOf(before) != name) continue;
      if (ArrayAt(before, {"taints"}) == taints) return;
      break;
    }
  }
  const std::string list = path + ".taints";
  if (!FitsIn(check, taints, kTaints, list)) return;
  for (std::size_t i = 0; i < taints.size() && !check.causes.full(); ++i) {
    CheckDeviceTaint(check, taints[i], ElementPath(list, i));
  }
}

void CheckDevicePlace(const BuiltinCheck& check, const Json& device, bool each, const std::string& path) {
  if (!each) {
    for (const char* member : {"nodeName", "nodeSelector", "allNodes"}) {
      if (Find(device, {member}) == nullptr) continue;
      return check.Invalid(path, Json(),
                           "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                           "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
    }
    return;
  }
  auto given = CheckPlace(check, device, path, "must not be empty");
  if (IsSet(check, device, "allNodes", path)) given.emplace_back("`allNodes`");
  CheckOneGiven(check, given, path,
                "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
                "`perDeviceNodeSelection` is set to true in the ResourceSlice spec",
                "");
}

void CheckDevice(const BuiltinCheck& check, const Json& device, bool each, const std::string& path) {
  AddInvalid(check.causes, path + ".name", NameOf(device), CheckLabel(NameOf(device)));
  CheckAttributes(check, device, path);
  CheckTaints(check, device, path);
  const Json& consumed = ArrayAt(device, {"consumesCounters"});
  const std::string list = path + ".consumesCounters";
  if (FitsIn(check, consumed, kConsumed, list)) {
    for (std::size_t i = 0; i < consumed.size() && !check.causes.full(); ++i) {
      CheckCounters(check, consumed[i], "counterSet", ElementPath(list, i));
    }
    CheckUnique(check, consumed, list, [](const Json& one) { return StringAt(one, {"counterSet"}); });
  }
  CheckDevicePlace(check, device, each, path);
  CheckBindingConditions(check, device, path);
}

void CheckPool(const BuiltinCheck& check, const Json& spec) {
  CheckPoolName(check, StringAt(spec, {"pool", "name"}), "spec.pool.name");
  const std::int64_t slices = IntAt(spec, {"pool", "resourceSliceCount"});
  if (slices <= 0) check.Invalid("spec.pool.resourceSliceCount", slices, "must be greater than zero");
  const std::int64_t generation = IntAt(spec, {"pool", "generation"});
  if (generation >= 0) return;
  check.Invalid("spec.pool.generation", generation, "must be greater than or equal to zero");
}

void CheckSlicePlace(const BuiltinCheck& check, const Json& spec) {
  auto given = CheckPlace(check, spec, "spec", "must be either unset or set to a non-empty string");
  if (const Json* selector = Find(spec, {"nodeSelector"})) {
    const Json& terms = ArrayAt(*selector, {"nodeSelectorTerms"});
    if (terms.size() != 1) {
      const Schema* type = BuiltinType("core/v1.NodeSelector")->Find("nodeSelectorTerms")->schema;
      check.causes.push_back(InvalidValue("spec.nodeSelector.nodeSelectorTerms",
                                          InternalText(*type, Find(*selector, {"nodeSelectorTerms"})),
                                          "must have exactly one node selector term"));
    }
  }
  for (const char* member : {"allNodes", "perDeviceNodeSelection"}) {
    if (IsSet(check, spec, member, "spec")) given.push_back("`" + std::string(member) + "`");
  }
  CheckOneGiven(check, given, "spec",
                "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
                "required",
                ", but multiple fields are set");
}

bool HasMore(const Json& devices) {
  return std::any_of(devices.begin(), devices.end(), [](const Json& device) {
    return !ArrayAt(device, {"taints"}).empty() || !ArrayAt(device, {"consumesCounters"}).empty();
  });
}

}  // namespace

void CheckDeviceSlice(const BuiltinCheck& check) {
  static const Json kEmpty = Json::object();
  const Json* found = Find(check.object, {"spec"});
  const Json& spec = found == nullptr ? kEmpty : *found;
  CheckDeviceDriver(check, StringAt(spec, {"driver"}), "spec.driver");
  CheckPool(check, spec);
  check.Immutable({"spec", "pool", "name"});
  check.Immutable({"spec", "driver"});
  check.Immutable({"spec", "nodeName"});
  CheckSlicePlace(check, spec);
  if (Find(spec, {"sharedCounters"}) != nullptr && Find(spec, {"devices"}) != nullptr) {
    check.Invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed");
  }
  const Json& devices = ArrayAt(spec, {"devices"});
  if (FitsIn(check, devices, HasMore(devices) ? kDevicesWithMore : kDevices, "spec.devices")) {
    const bool each = BoolAt(spec, {"perDeviceNodeSelection"});
    for (std::size_t i = 0; i < devices.size() && !check.causes.full(); ++i) {
      CheckDevice(check, devices[i], each, ElementPath("spec.devices", i));
    }
    CheckUnique(check, devices, "spec.devices", NameOf);
  }
  const Json& sets = ArrayAt(spec, {"sharedCounters"});
  if (!FitsIn(check, sets, kCounterSets, "spec.sharedCounters")) return;
  for (std::size_t i = 0; i < sets.size() && !check.causes.full(); ++i) {
    CheckCounters(check, sets[i], "name", ElementPath("spec.sharedCounters", i));
  }
  CheckUnique(check, sets, "spec.sharedCounters", NameOf);
}

}  // namespace mailroom::openapi
