// How Deployments, DaemonSets and StatefulSets replace their pods, and what else a StatefulSet has.
#include <charconv>
#include <optional>

#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

// The number of a percentage, or nothing.
std::optional<std::int64_t> PercentOf(const Json* value) {
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const std::string& text = value->get_ref<const std::string&>();
  std::int64_t number = 0;
  const char* end = text.data() + text.size() - (text.empty() ? 0 : 1);
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (!text.ends_with('%') || stop != end || error != std::errc() || number < 0) return std::nullopt;
  return number;
}

std::int64_t NumberOf(const Json* value) {
  if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
  return PercentOf(value).value_or(0);
}

void CheckNotMoreThanAll(const BuiltinCheck& check, const Json* value, const std::string& field) {
  if (PercentOf(value).value_or(0) > 100) {
    check.Invalid(field, *value, "must not be greater than 100%");
  }
}

void CheckNotNegative(const BuiltinCheck& check, Path path, const std::string& field) {
  const std::int64_t value = IntAt(check.object, path);
  if (value < 0) check.Invalid(field, value, "must be greater than or equal to 0");
}

// A strategy as the server has it.
std::string StrategyText(const Json& strategy) {
  const Json* rolling = Find(strategy, {"rollingUpdate"});
  return "{\"Type\":" + Quoted(StringAt(strategy, {"type"})) +
         ",\"RollingUpdate\":" + (rolling == nullptr ? "null" : DumpJson(*rolling)) + "}";
}

// The types of strategies, told at the strategy.
void CheckStrategyType(const BuiltinCheck& check, const std::string& member,
                       const std::vector<std::string>& types) {
  const Json* strategy = Find(check.object, {"spec", member});
  if (strategy == nullptr) return;
  const std::string type = StringAt(*strategy, {"type"}), field = "spec." + member;
  if (type.empty() || type == types[0] || type == types[1]) return;
  Untell(check.causes, field + ".type");
  check.causes.push_back(UnsupportedValue(field, StrategyText(*strategy), types));
}

void CheckPodOrder(const BuiltinCheck& check) {
  const std::string order = StringAt(check.object, {"spec", "podManagementPolicy"});
  if (order.empty() || order == "OrderedReady" || order == "Parallel") return;
  Untell(check.causes, "spec.podManagementPolicy");
  check.Invalid("spec.podManagementPolicy", order, "must be 'OrderedReady' or 'Parallel'");
}

void CheckSetStrategy(const BuiltinCheck& check) {
  const Json* strategy = Find(check.object, {"spec", "updateStrategy"});
  if (strategy == nullptr) return;
  const std::string type = StringAt(*strategy, {"type"}), field = "spec.updateStrategy.rollingUpdate";
  const Json* rolling = Find(*strategy, {"rollingUpdate"});
  if (!type.empty() && type != "OnDelete" && type != "RollingUpdate") {
    Untell(check.causes, "spec.updateStrategy.type");
    check.causes.push_back(InvalidValue("spec.updateStrategy", StrategyText(*strategy),
                                        "must be 'RollingUpdate' or 'OnDelete'"));
    return;
  }
  if (rolling == nullptr) return;
  if (type == "OnDelete") {
    const std::string value =
        "{\"Partition\":" + std::to_string(IntAt(*rolling, {"partition"})) + ",\"MaxUnavailable\":null}";
    check.causes.push_back(InvalidValue(field, value, "only allowed for updateStrategy 'RollingUpdate'"));
    return;
  }
  // How many may be unavailable is not looked at: the server does not keep that.
  CheckNotNegative(check, {"spec", "updateStrategy", "rollingUpdate", "partition"}, field + ".partition");
}

void CheckRetention(const BuiltinCheck& check) {
  const Json* policy = Find(check.object, {"spec", "persistentVolumeClaimRetentionPolicy"});
  if (policy == nullptr) return;
  for (const char* member : {"whenDeleted", "whenScaled"}) {
    const std::string field = std::string("spec.persistentVolumeClaimRetentionPolicy.") + member;
    const std::string value = StringAt(*policy, {member});
    if (value == "Retain" || value == "Delete") continue;
    Untell(check.causes, field);
    check.causes.push_back(NotSupported(field, value, {"Retain", "Delete"}));
  }
}

}  // namespace

void CheckDeploymentRollout(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckStrategyType(check, "strategy", {"Recreate", "RollingUpdate"});
  if (StringAt(check.object, {"spec", "strategy", "type"}) != "RollingUpdate") return;
  CheckNotMoreThanAll(check, Find(check.object, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}),
                      "spec.strategy.rollingUpdate.maxUnavailable");
}

void CheckDaemonSetRollout(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckStrategyType(check, "updateStrategy", {"RollingUpdate", "OnDelete"});
  const Json* rolling = Find(check.object, {"spec", "updateStrategy", "rollingUpdate"});
  if (rolling == nullptr ||
      StringAt(check.object, {"spec", "updateStrategy", "type"}) != "RollingUpdate") {
    return;
  }
  const std::string field = "spec.updateStrategy.rollingUpdate";
  const Json *most = Find(*rolling, {"maxUnavailable"}), *surge = Find(*rolling, {"maxSurge"});
  CheckNotMoreThanAll(check, most, field + ".maxUnavailable");
  CheckNotMoreThanAll(check, surge, field + ".maxSurge");
  const bool down = NumberOf(most) != 0, up = NumberOf(surge) != 0;
  if (down && up) {
    check.Invalid(field + ".maxSurge", *surge, "may not be set when maxUnavailable is non-zero");
  } else if (!down && !up) {
    check.Required(field + ".maxUnavailable", "cannot be 0 when maxSurge is 0");
  }
}

void CheckStatefulSetFields(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckPodOrder(check);
  CheckSetStrategy(check);
  CheckRetention(check);
  CheckNotNegative(check, {"spec", "ordinals", "start"}, "spec.ordinals.start");
  if (check.old != nullptr) return;  // the rest may not change, so what is stored is taken
  const Json& claims = ArrayAt(check.object, {"spec", "volumeClaimTemplates"});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    static const Json kNone = Json::object();
    const Json* spec = Find(claims[i], {"spec"});
    CheckClaimSpec(check, spec == nullptr ? kNone : *spec, Indexed("spec.volumeClaimTemplates", i) + ".spec");
  }
  const std::string service = StringAt(check.object, {"spec", "serviceName"});
  if (!service.empty()) AddInvalid(check.causes, "spec.serviceName", service, CheckLabel(service));
}

}  // namespace mailroom::openapi
