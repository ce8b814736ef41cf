// Nodes.
#include <algorithm>
#include <set>

#include "openapi/json_syntax.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_addresses.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_cluster_kinds.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"
#include "openapi/validate_shown.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kTaints = "scheduler.alpha.kubernetes.io/taints";
constexpr std::string_view kAvoided = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr std::size_t kFeatureBytes = 253;

void CheckTaints(const BuiltinCheck& check, const Json& taints, const std::string& path) {
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string field = ElementPath(path, i), key = StringAt(taints[i], {"key"});
    const std::string value = StringAt(taints[i], {"value"}), effect = StringAt(taints[i], {"effect"});
    AddInvalid(check.causes, field + ".key", key, CheckQualifiedName(key));
    const std::string why = CheckLabelValue(value);
    if (!why.empty()) check.Invalid(field + ".value", value, why);
    CheckNeededChoice(check, effect, field + ".effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (known.insert({effect, key}).second) continue;
    Cause cause = DuplicateValue(field, ShownTaint(taints[i]));
    cause.message += ": taints must be unique by key and effect pair";
    check.causes.push_back(std::move(cause));
  }
}

// Annotations from before there were members for them.
void CheckNodeAnnotations(const BuiltinCheck& check) {
  const std::string path = "metadata.annotations";
  const auto text_of = [&](std::string_view key) {
    return StringAt(check.object, {"metadata", "annotations", key});
  };
  if (const std::string text = text_of(kTaints); !text.empty()) {
    const std::string why = JsonSyntaxProblem(text);
    const auto taints = ParseJson(text);
    if (!why.empty()) {
      check.Invalid(path, Json(kTaints), why);
    } else if (taints.ok() && taints->is_array()) {
      CheckTaints(check, *taints, MemberPath(path, kTaints));
    }
  }
  const std::string text = text_of(kAvoided);
  if (text.empty()) return;
  const std::string why = JsonSyntaxProblem(text);
  if (!why.empty()) return check.Invalid(path + ".AvoidPods", Json(kAvoided), why);
  const auto avoided = ParseJson(text);
  if (!avoided.ok()) return;
  const Json& entries = ArrayAt(*avoided, {"preferAvoidPods"});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (Find(entries[i], {"podSignature", "podController"}) != nullptr) continue;
    check.Required(ElementPath(MemberPath(path, kAvoided), i) + ".PodSignature");
  }
}

void CheckCapacities(const BuiltinCheck& check) {
  for (const std::string list : {"capacity", "allocatable"}) {
    const Json* amounts = Find(check.object, {"status", list});
    if (amounts == nullptr || !amounts->is_object()) continue;
    for (const auto& [name, value] : amounts->items()) {
      const std::string field = MemberPath("status." + list, name);
      const std::string amount =
          CanonicalQuantity(value.is_string() ? value.get<std::string>() : DumpJson(value));
      if (CompareQuantities(amount, "0") < 0) {
        check.Invalid(field, amount, "must be greater than or equal to 0");
      }
      const auto millis = QuantityMillis(amount);
      if (IsWholeAmount(name) && millis && *millis % 1000 != 0) {
        check.Invalid(field, amount, "must be an integer");
      }
    }
  }
}

void CheckFeatures(const BuiltinCheck& check) {
  const std::string path = "status.declaredFeatures";
  const auto features = StringsAt(check.object, {"status", "declaredFeatures"});
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::string start = "invalid feature name " + Quoted(features[i]) + ": must ";
    if (features[i].size() > kFeatureBytes) {
      check.Invalid(ElementPath(path, i), features[i], start + "be no more than 253 characters");
    } else if (!MatchesPattern("^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$", features[i])) {
      check.Invalid(ElementPath(path, i), features[i],
                    start + "start with an UpperCamelCase segment, with subsequent segments separated "
                            "by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only "
                            "alphanumeric characters and slashes");
    }
    if (i + 1 == features.size()) return;
    const std::string next = ElementPath(path, i + 1);
    if (features[i] == features[i + 1]) {
      check.causes.push_back(DuplicateValue(next, Quoted(features[i + 1])));
    } else if (features[i] > features[i + 1]) {
      check.Invalid(next, features[i + 1], "list must be sorted alphabetically");
    }
  }
}

void CheckPodRanges(const BuiltinCheck& check) {
  const std::string path = "spec.podCIDRs";
  auto ranges = StringsAt(check.object, {"spec", "podCIDRs"});
  const std::string single = StringAt(check.object, {"spec", "podCIDR"});
  if (ranges.empty() && !single.empty()) ranges.push_back(single);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    AddInvalid(check.causes, ElementPath(path, i), ranges[i], CheckCidr(ranges[i]));
  }
  if (ranges.size() < 2) return;
  bool four = false, six = false;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto range = ParseRange(ranges[i]);
    if (!range) {
      check.causes.push_back(
          {"InternalError",
           "Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[" +
               std::to_string(i) + "]: <nil> (invalid CIDR address: " + ranges[i] + ")",
           path});
      four = six = false;
      break;
    }
    (range->address.size == 4 ? four : six) = true;
  }
  if (!four || !six || ranges.size() > 2) {
    check.Invalid(path, Json(ranges), "may specify no more than one CIDR for each IP family");
  }
}

void CheckNewNode(const BuiltinCheck& check) {
  CheckNodeAnnotations(check);
  CheckTaints(check, ArrayAt(check.object, {"spec", "taints"}), "metadata.taints");
  CheckCapacities(check);
  const Json* swap = Find(check.object, {"status", "nodeInfo", "swap", "capacity"});
  if (swap != nullptr && swap->is_number_integer() && swap->get<std::int64_t>() <= 0) {
    check.Invalid("metadata.nodeSwapStatus.capacity", *swap, "must be greater than zero");
  }
  CheckFeatures(check);
  CheckPodRanges(check);
}

void CheckAddresses(const BuiltinCheck& check) {
  const Json& addresses = ArrayAt(check.object, {"status", "addresses"});
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string type = StringAt(addresses[i], {"type"}), text = StringAt(addresses[i], {"address"});
    if (known.insert({type, text}).second) continue;
    check.causes.push_back(
        DuplicateValue(ElementPath("status.addresses", i), ShownAddress(addresses[i])));
  }
}

// What is given once stays.
void CheckFixed(const BuiltinCheck& check) {
  const Json& before = ArrayAt(*check.old, {"spec", "podCIDRs"});
  const Json& now = ArrayAt(check.object, {"spec", "podCIDRs"});
  const std::string why = "node updates may not change podCIDR except from \"\" to valid";
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before.size() == now.size() && now[i] == before[i]) continue;
    check.Forbidden("spec.podCIDRs", why);
    if (before.size() != now.size()) break;
  }
  const std::string id = StringAt(*check.old, {"spec", "providerID"});
  if (!id.empty() && StringAt(check.object, {"spec", "providerID"}) != id) {
    check.Forbidden("spec.providerID", "node updates may not change providerID except from \"\" to valid");
  }
}

}  // namespace

void CheckNode(const BuiltinCheck& check) {
  if (check.old == nullptr) return CheckNewNode(check);
  // An update is looked at as a new node, and then as a change.
  if (check.subresource != "status") CheckNewNode(check);
  CheckNodeAnnotations(check);
  CheckCapacities(check);
  CheckFeatures(check);
  CheckAddresses(check);
  CheckFixed(check);
  CheckTaints(check, ArrayAt(check.object, {"spec", "taints"}), "metadata.taints");
  if (StringAt(check.object, {"spec", "externalID"}) != StringAt(*check.old, {"spec", "externalID"})) {
    check.Forbidden("spec.externalID", "may not be updated");
  }
}

}  // namespace mailroom::openapi
