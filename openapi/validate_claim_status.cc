// What was allocated to a claim on devices, whom it is reserved for, and how the devices are.
#include <algorithm>
#include <utility>

#include "openapi/validate_addresses.h"
#include "openapi/validate_conditions.h"
#include "openapi/validate_devices.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "storage/object/json.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kResults = 32;
constexpr std::size_t kConfigs = 64;  // a class's and a claim's
constexpr std::size_t kConsumers = 256;
constexpr std::size_t kConditions = 8;
constexpr std::size_t kAddresses = 16;
constexpr std::size_t kInterfaceBytes = 256;
constexpr std::size_t kHardwareBytes = 128;
constexpr const char* kReserved = "status.reservedFor";
const Json& Part(const Json& object, Path path) {
  static const Json kEmpty = Json::object();
  const Json* part = Find(object, path);
  return part != nullptr ? *part : kEmpty;
}

// All the names of a device, as errors show them.
std::string KeyOf(const Json& device) {
  std::string key;
  for (const auto& [shown, member] : {std::pair("Driver", "driver"), std::pair("Pool", "pool"),
                                      std::pair("Device", "device"), std::pair("ShareID", "shareID")}) {
    key += key.empty() ? '{' : ',';
    key += JsonQuote(shown) + ":" + JsonQuote(StringAt(device, {member}));
  }
  return key + "}";
}

void CheckConsumers(const BuiltinCheck& check) {
  const Json& reserved = ArrayAt(check.object, {"status", "reservedFor"});
  if (!FitsIn(check, reserved, kConsumers, kReserved)) return;
  for (std::size_t i = 0; i < reserved.size() && !check.causes.full(); ++i) {
    for (const char* member : {"resource", "name", "uid"}) {
      if (!StringAt(reserved[i], {member}).empty()) continue;
      check.Required(ElementPath(kReserved, i) + "." + member);
    }
  }
  CheckUnique(check, reserved, kReserved, [](const Json& each) { return StringAt(each, {"uid"}); });
}

void CheckReservation(const BuiltinCheck& check) {
  const Json& reserved = ArrayAt(check.object, {"status", "reservedFor"});
  if (reserved.empty()) return;
  if (Find(check.object, {"status", "allocation"}) == nullptr) {
    return check.Forbidden(kReserved, "may not be specified when `allocated` is not set");
  }
  if (check.old == nullptr || Find(check.object, {"metadata", "deletionTimestamp"}) == nullptr) return;
  const Json& before = ArrayAt(*check.old, {"status", "reservedFor"});
  const auto is_new = [&](const Json& each) {
    return std::find(before.begin(), before.end(), each) == before.end();
  };
  if (std::none_of(reserved.begin(), reserved.end(), is_new)) return;
  check.Forbidden(kReserved,
                  "new entries may not be added while `deallocationRequested` or `deletionTimestamp` "
                  "are set");
}

void CheckNetwork(const BuiltinCheck& check, const Json& network, const std::string& path) {
  const auto bound = [&](const char* member, std::size_t most) {
    if (StringAt(network, {member}).size() > most) {
      check.causes.push_back(TooLong(path + "." + member, most));
    }
  };
  bound("interfaceName", kInterfaceBytes);
  bound("hardwareAddress", kHardwareBytes);
  const Json& ips = ArrayAt(network, {"ips"});
  const std::string list = path + ".ips";
  if (!FitsIn(check, ips, kAddresses, list)) return;
  const auto text = [](const Json& ip) { return ip.is_string() ? ip.get<std::string>() : ""; };
  for (std::size_t i = 0; i < ips.size() && !check.causes.full(); ++i) {
    const auto range = ParseRange(text(ips[i]));
    if (!range) {
      check.Invalid(ElementPath(list, i), ips[i],
                    "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
      continue;
    }
    constexpr std::size_t kMapped = 96;
    const std::size_t bits = range->address.mapped && range->bits > 32 ? range->bits - kMapped : range->bits;
    const std::string form = range->address.Text() + "/" + std::to_string(bits);
    if (form == text(ips[i])) continue;
    check.Invalid(ElementPath(list, i), ips[i], "must be in canonical form (" + Quoted(form) + ")");
  }
  CheckUnique(check, ips, list, text);
}

void CheckDeviceNames(const BuiltinCheck& check, const Json& device, const std::string& path) {
  CheckDeviceDriver(check, StringAt(device, {"driver"}), path + ".driver");
  CheckPoolName(check, StringAt(device, {"pool"}), path + ".pool");
  const std::string name = StringAt(device, {"device"});
  AddInvalid(check.causes, path + ".device", name, CheckLabel(name));
}

void CheckDevice(const BuiltinCheck& check, const Json& device, const std::set<std::string>& allocated,
                 const std::string& path) {
  CheckDeviceNames(check, device, path);
  if (Find(device, {"shareID"}) != nullptr) {
    CheckShareId(check, StringAt(device, {"shareID"}), path + ".shareID");
  }
  if (const std::string key = KeyOf(device); !allocated.contains(key)) {
    check.causes.push_back(InvalidValue(path, key, "must be an allocated device in the claim"));
  }
  const Json& conditions = ArrayAt(device, {"conditions"});
  FitsIn(check, conditions, kConditions, path + ".conditions");
  CheckConditions(check, conditions, path + ".conditions");
  if (const Json* data = Find(device, {"data"})) CheckRawObject(check, data, path + ".data", Size::kBounded);
  if (const Json* network = Find(device, {"networkData"})) {
    CheckNetwork(check, *network, path + ".networkData");
  }
}

void CheckDevices(const BuiltinCheck& check) {
  std::set<std::string> allocated;
  for (const Json& result : ArrayAt(check.object, {"status", "allocation", "devices", "results"})) {
    allocated.insert(KeyOf(result));
  }
  const std::string list = "status.devices";
  const Json& devices = ArrayAt(check.object, {"status", "devices"});
  for (std::size_t i = 0; i < devices.size() && !check.causes.full(); ++i) {
    CheckDevice(check, devices[i], allocated, ElementPath(list, i));
  }
  std::set<std::string> known;
  for (std::size_t i = 0; i < devices.size() && !check.causes.full(); ++i) {
    const std::string key = KeyOf(devices[i]);
    if (known.insert(key).second) continue;
    check.causes.push_back(DuplicateValue(ElementPath(list, i), key));
  }
}

void CheckResult(const BuiltinCheck& check, const Json& result, const RequestNames& names,
                 const std::string& path) {
  names.CheckRef(check, StringAt(result, {"request"}), path + ".request");
  CheckDeviceNames(check, result, path);
  CheckBindingConditions(check, result, path);
  if (Find(result, {"shareID"}) != nullptr) {
    CheckShareId(check, StringAt(result, {"shareID"}), path + ".shareID");
  }
}

void CheckConfig(const BuiltinCheck& check, const Json& config, const RequestNames& names,
                 const std::string& path) {
  const std::string source = StringAt(config, {"source"});
  if (source.empty()) {
    check.Required(path + ".source");
  } else if (source != "FromClaim" && source != "FromClass") {
    check.causes.push_back(NotSupported(path + ".source", source, {"FromClaim", "FromClass"}));
  }
  names.CheckRefs(check, config, path);
  CheckDeviceConfig(check, config, path, Size::kBounded);
}

void CheckAllocation(const BuiltinCheck& check, const Json& allocation) {
  const RequestNames names(Part(check.object, {"spec", "devices"}));
  const std::string path = "status.allocation.devices";
  const Json& results = ArrayAt(allocation, {"devices", "results"});
  if (FitsIn(check, results, kResults, path + ".results")) {
    for (std::size_t i = 0; i < results.size() && !check.causes.full(); ++i) {
      CheckResult(check, results[i], names, ElementPath(path + ".results", i));
    }
  }
  const Json& configs = ArrayAt(allocation, {"devices", "config"});
  if (FitsIn(check, configs, kConfigs, path + ".config")) {
    for (std::size_t i = 0; i < configs.size() && !check.causes.full(); ++i) {
      CheckConfig(check, configs[i], names, ElementPath(path + ".config", i));
    }
  }
  if (const Json* selector = Find(allocation, {"nodeSelector"})) {
    CheckNodeSelector(check, *selector, "status.allocation.nodeSelector", true);
  }
}

}  // namespace

void CheckClaimStatus(const BuiltinCheck& check) {
  CheckConsumers(check);
  CheckDevices(check);
  CheckReservation(check);
  const Json* allocation = Find(check.object, {"status", "allocation"});
  if (allocation == nullptr) return;
  if (check.old != nullptr && Find(*check.old, {"status", "allocation"}) != nullptr) {
    return CheckInternalImmutable(check, {"status", "allocation"}, "resource/v1.AllocationResult");
  }
  CheckAllocation(check, *allocation);
}

}  // namespace mailroom::openapi
