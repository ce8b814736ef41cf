// Classes of volumes, the drivers that serve them, and what is known of both.
#include <map>
#include <set>

#include "openapi/builtin.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kMostParameters = 512;
constexpr std::size_t kParameterBytes = 256 * 1024;

// `[prefix/]name`, in small letters.
void CheckProvisioner(const BuiltinCheck& check, const char* member) {
  std::string name = StringAt(check.object, {member});
  if (name.empty()) return check.Required(member);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  AddInvalid(check.causes, member, name, CheckQualifiedName(name));
}

void CheckParameters(const BuiltinCheck& check, bool wanted) {
  const Json* found = Find(check.object, {"parameters"});
  const bool some = found != nullptr && found->is_object() && !found->empty();
  if (wanted && !some) check.Required("parameters", "must contain at least one key/value pair");
  if (!some) return;
  if (found->size() > kMostParameters) {
    return check.causes.push_back(TooLong("parameters", kMostParameters));
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : found->items()) {
    if (key.empty()) check.Invalid("parameters", key, "field can not be empty.");
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (bytes > kParameterBytes) check.causes.push_back(TooLong("parameters", kParameterBytes));
}

using Topology = std::map<std::string, std::set<std::string>>;

Topology CheckTerm(const BuiltinCheck& check, const Json& term, const std::string& path) {
  Topology out;
  const Json& list = ArrayAt(term, {"matchLabelExpressions"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = Indexed(path + ".matchLabelExpressions", i);
    const auto values = StringsAt(list[i], {"values"});
    if (values.empty()) check.Required(field + ".values");
    std::set<std::string> known;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (known.insert(values[k]).second) continue;
      check.causes.push_back(DuplicateValue(Indexed(field + ".values", k), Quoted(values[k])));
    }
    const std::string key = StringAt(list[i], {"key"});
    AddInvalid(check.causes, field + ".key", key, CheckQualifiedName(key));
    if (out.contains(key)) check.causes.push_back(DuplicateValue(field + ".key", Quoted(key)));
    out[key] = std::move(known);
  }
  return out;
}

void CheckTokens(const BuiltinCheck& check) {
  constexpr std::int64_t kShortest = 600, kLongest = std::int64_t{1} << 32;
  const Json& tokens = ArrayAt(check.object, {"spec", "tokenRequests"});
  std::set<std::string> audiences;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string field = Indexed("spec.tokenRequests", i);
    const std::string audience = StringAt(tokens[i], {"audience"});
    if (!audiences.insert(audience).second) {
      check.causes.push_back(DuplicateValue(field + ".audience", Quoted(audience)));
      continue;
    }
    const std::int64_t seconds = IntAt(tokens[i], {"expirationSeconds"}, kShortest);
    if (seconds < kShortest) {
      check.Invalid(field + ".expirationSeconds", seconds,
                    "may not specify a duration less than 10 minutes");
    }
    if (seconds > kLongest) {
      check.Invalid(field + ".expirationSeconds", seconds,
                    "may not specify a duration larger than 2^32 seconds");
    }
  }
}

// `names`: of the drivers before this one.
void CheckNodeDriver(const BuiltinCheck& check, const Json& driver, std::set<std::string>& names,
                     const std::string& field) {
  constexpr std::size_t kLongestId = 256;
  const std::string name = StringAt(driver, {"name"}), id = StringAt(driver, {"nodeID"});
  if (name.empty()) check.Required(field + ".name");
  CheckDriverName(check, name, field + ".name");
  if (id.empty()) check.Required(field + ".nodeID");
  if (id.size() > kLongestId) {
    check.Invalid(field + ".nodeID", id, "must be 256 characters or less");
  }
  const std::int64_t count = IntAt(driver, {"allocatable", "count"});
  if (count < 0) {
    check.Invalid(field + ".allocatable.count", count, "must be greater than or equal to 0");
  }
  if (!names.insert(name).second) {
    check.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
  }
  std::set<std::string> keys;
  for (const std::string& key : StringsAt(driver, {"topologyKeys"})) {
    if (key.empty()) check.Required(field);
    if (!keys.insert(key).second) check.causes.push_back(DuplicateValue(field, Quoted(key)));
    AddInvalid(check.causes, field, key, CheckQualifiedName(key));
  }
}

void CheckTopologies(const BuiltinCheck& check) {
  const Json& terms = ArrayAt(check.object, {"allowedTopologies"});
  // One empty topology per term is known from the start, as the original has it.
  std::map<Topology, std::size_t> known = {{Topology(), terms.size()}};
  for (std::size_t i = 0; i < terms.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed("allowedTopologies", i);
    std::size_t& same = known[CheckTerm(check, terms[i], field)];
    for (std::size_t k = 0; k < same && !check.causes.full(); ++k) {
      check.causes.push_back(DuplicateValue(field + ".matchLabelExpressions", "\"\""));
    }
    ++same;
  }
}

// Values that the old selector had no use for may stay.
SelectorValues TopologyValues(const BuiltinCheck& check) {
  const Json* old = check.old == nullptr ? nullptr : Find(*check.old, {"nodeTopology"});
  if (old == nullptr) return SelectorValues::kChecked;
  Causes faults;
  CheckSelector({*old, nullptr, faults}, *old, "", SelectorValues::kChecked);
  return faults.empty() ? SelectorValues::kChecked : SelectorValues::kAny;
}

}  // namespace

void CheckStorageClass(const BuiltinCheck& check) {
  CheckProvisioner(check, "provisioner");
  CheckParameters(check, false);
  const std::string policy = StringAt(check.object, {"reclaimPolicy"});
  if (!policy.empty() && policy != "Delete" && policy != "Retain") {
    check.causes.push_back(NotSupported("reclaimPolicy", policy, {"Delete", "Retain"}));
  }
  const std::string mode = StringAt(check.object, {"volumeBindingMode"});
  if (mode != "Immediate" && mode != "WaitForFirstConsumer") {
    check.causes.push_back(
        NotSupported("volumeBindingMode", mode, {"Immediate", "WaitForFirstConsumer"}));
  }
  CheckTopologies(check);
  for (const char* member : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"}) {
    check.Immutable({member});
  }
}

void CheckVolumeAttributesClass(const BuiltinCheck& check) {
  if (check.old != nullptr) {
    for (const char* member : {"driverName", "parameters"}) {
      const Json *now = Find(check.object, {member}), *before = Find(*check.old, {member});
      if ((now == nullptr) == (before == nullptr) && (now == nullptr || *now == *before)) continue;
      check.Forbidden(member, std::string("updates to ") + member + " are forbidden.");
    }
  }
  CheckProvisioner(check, "driverName");
  CheckParameters(check, true);
}

void CheckCsiDriver(const BuiltinCheck& check) {
  const Json* policy = Find(check.object, {"spec", "fsGroupPolicy"});
  if (policy != nullptr && *policy != "File" && *policy != "None" && *policy != "ReadWriteOnceWithFSType") {
    check.causes.push_back(
        NotSupported("spec.fsGroupPolicy", *policy, {"File", "None", "ReadWriteOnceWithFSType"}));
  }
  CheckTokens(check);
  for (const std::string& mode : StringsAt(check.object, {"spec", "volumeLifecycleModes"})) {
    if (mode == "Persistent" || mode == "Ephemeral") continue;
    check.causes.push_back(
        NotSupported("spec.volumeLifecycleModes", mode, {"Persistent", "Ephemeral"}));
  }
  const Json* period = Find(check.object, {"spec", "nodeAllocatableUpdatePeriodSeconds"});
  if (period != nullptr && period->is_number_integer() && period->get<std::int64_t>() < 10) {
    check.Invalid("spec.nodeAllocatableUpdatePeriodSeconds", *period,
                  "must be greater than or equal to 10 seconds");
  }
  const Json* secret = Find(check.object, {"spec", "serviceAccountTokenInSecrets"});
  if (secret != nullptr && ArrayAt(check.object, {"spec", "tokenRequests"}).empty()) {
    check.Invalid("spec.serviceAccountTokenInSecrets", *secret,
                  "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
  }
  if (check.old == nullptr) return;
  CheckImmutable(check.causes, "spec.attachedRequired", Find(check.object, {"spec", "attachRequired"}),
                 Find(*check.old, {"spec", "attachRequired"}));
  check.Immutable({"spec", "volumeLifecycleModes"});
}

void CheckCsiNode(const BuiltinCheck& check) {
  const Json& drivers = ArrayAt(check.object, {"spec", "drivers"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < drivers.size() && !check.causes.full(); ++i) {
    CheckNodeDriver(check, drivers[i], names, Indexed("spec.drivers", i));
  }
  if (check.old == nullptr) return;
  std::multimap<std::string, Json> now;
  for (const Json& driver : drivers) now.emplace(StringAt(driver, {"name"}), driver);
  const std::string_view type = "storage/v1.CSINodeDriver";
  for (Json before : ArrayAt(*check.old, {"spec", "drivers"})) {
    Erase(before, {"allocatable"});  // may change
    auto [driver, end] = now.equal_range(StringAt(before, {"name"}));
    for (; driver != end && !check.causes.full(); ++driver) {
      Erase(driver->second, {"allocatable"});
      if (IsSameValue(*BuiltinType(type), &before, &driver->second)) continue;
      InvalidInternal(check, "spec.drivers", type, &driver->second, "field is immutable");
    }
  }
}

void CheckStorageCapacity(const BuiltinCheck& check) {
  if (const Json* topology = Find(check.object, {"nodeTopology"})) {
    CheckSelector(check, *topology, "nodeTopology", TopologyValues(check));
  }
  const std::string name = StringAt(check.object, {"storageClassName"});
  AddInvalid(check.causes, "storageClassName", name, CheckSubdomain(name));
  const std::string size = StringAt(check.object, {"capacity"});
  if (!size.empty() && CompareQuantities(size, "0") < 0) {
    check.Invalid("capacity", CanonicalQuantity(size), "must be greater than or equal to 0");
  }
  CheckInternalImmutable(check, {"nodeTopology"}, "meta/v1.LabelSelector");
  check.Immutable({"storageClassName"});
}

}  // namespace mailroom::openapi
