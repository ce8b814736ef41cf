// HorizontalPodAutoscalers: bounds, what is scaled, metrics and pace.
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_amount_names.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::int64_t kLongestPeriod = 1800, kLongestWindow = 3600;  // seconds

const Json& Member(const Json& object, const char* name) {
  static const Json kNone = Json::object();
  const Json* found = Find(object, {name});
  return found == nullptr ? kNone : *found;
}

bool Has(const Json& object, const char* name) { return Find(object, {name}) != nullptr; }

// Which versions a reference may have.
enum class Versions { kAny, kParsed, kGrouped };

// "" when `api_version` is of the kind asked for.
std::string VersionFault(const std::string& api_version, Versions versions) {
  if (versions == Versions::kAny) return "";
  const std::size_t slash = api_version.find('/');
  if (slash != api_version.rfind('/')) return "unexpected GroupVersion string: " + api_version;
  const bool grouped = slash != std::string::npos && slash > 0;
  return versions == Versions::kGrouped && !grouped ? "apiVersion must specify API group" : "";
}

void CheckReference(const BuiltinCheck& check, const Json& ref, const std::string& path,
                    Versions versions) {
  for (const char* member : {"kind", "name"}) {
    const std::string text = StringAt(ref, {member}), field = path + "." + member;
    if (text.empty()) {
      check.Required(field);
    } else {
      AddInvalid(check.causes, field, text, CheckPathSegment(text));
    }
  }
  const std::string version = StringAt(ref, {"apiVersion"});
  const std::string fault = VersionFault(version, versions);
  if (!fault.empty()) check.Invalid(path + ".apiVersion", version, fault);
}

// Metrics of an autoscaler, as the newer version has them.
Json MetricsOf(const Json& autoscaler) {
  Json metrics = ArrayAt(autoscaler, {"spec", "metrics"});
  if (const Json* percent = Find(autoscaler, {"spec", "targetCPUUtilizationPercentage"})) {
    const Json target = {{"type", "Utilization"}, {"averageUtilization", *percent}};
    metrics.push_back({{"type", "Resource"}, {"resource", {{"name", "cpu"}, {"target", target}}}});
  }
  return metrics;
}

// One metric; `path` is where it stands.
class MetricCheck {
 public:
  MetricCheck(const BuiltinCheck& check, const Json& metric, std::string path)
      : check_(check), metric_(metric), path_(std::move(path)) {}

  void Run(Versions versions) const {
    static const std::vector<std::string> kTypes = {"ContainerResource", "External", "Object",
                                                    "Pods", "Resource"};
    const std::string type = StringAt(metric_, {"type"}), field = path_ + ".type";
    if (type.empty()) check_.Required(field, "must specify a metric source type");
    const char* expected = SourceOf(type);
    // Said twice.
    if (expected == nullptr) check_.causes.push_back(NotSupported(field, type, kTypes));
    std::set<std::string> sources;
    for (const char* source : {"object", "external", "pods", "resource", "containerResource"}) {
      if (!Has(metric_, source)) continue;
      sources.insert(source);
      if (sources.size() == 1) CheckSource(source, versions);
    }
    if (expected == nullptr) {
      check_.causes.push_back(NotSupported(field, type, kTypes));
    } else if (!sources.contains(expected)) {
      check_.Required(path_ + "." + expected,
                      "must populate information for the given metric source");
    }
    if (sources.size() == 1) return;
    for (const std::string& source : sources) {
      if (expected != nullptr && source == expected) continue;
      check_.Forbidden(path_ + "." + source, "must populate the given metric source only");
    }
  }

 private:
  // The member that a type wants; null for unknown types.
  static const char* SourceOf(const std::string& type) {
    if (type == "Object") return "object";
    if (type == "Pods") return "pods";
    if (type == "Resource") return "resource";
    if (type == "External") return "external";
    return type == "ContainerResource" ? "containerResource" : nullptr;
  }

  void CheckSource(const std::string& kind, Versions versions) const {
    const Json& source = Member(metric_, kind.c_str());
    const std::string path = path_ + "." + kind;
    if (kind == "object") {
      CheckReference(check_, Member(source, "describedObject"), path + ".describedObject",
                     versions);
    }
    if (kind == "resource" || kind == "containerResource") {
      CheckAmountSource(source, kind, path);
      return;
    }
    const std::string name = StringAt(source, {"metric", "name"}), field = path + ".metric.name";
    if (name.empty()) {
      check_.Required(field, "must specify a metric name");
    } else {
      AddInvalid(check_.causes, field, name, CheckPathSegment(name));
    }
    const Json& target = Member(source, "target");
    CheckTarget(target, path + ".target");
    const bool total = Has(target, "value"), each = Has(target, "averageValue");
    const std::string each_field = path + ".target.averageValue";
    if (kind == "pods") {
      if (!each) check_.Required(each_field, "must specify a positive target averageValue");
    } else if (!total && !each) {
      check_.Required(each_field, kind == "object"
                                      ? "must set either a target value or averageValue"
                                      : "must set either a target value for metric or "
                                        "a per-pod target");
    } else if (total && each && kind == "external") {
      check_.Forbidden(path + ".target.value",
                       "may not set both a target value for metric and a per-pod target");
    }
  }

  void CheckAmountSource(const Json& source, const std::string& kind,
                         const std::string& path) const {
    const std::string name = StringAt(source, {"name"});
    const bool contained = kind == "containerResource";
    if (name.empty()) {
      check_.Required(path + ".name", "must specify a resource name");
    } else if (contained) {
      CheckContainerAmountName(check_, name, path + ".name");
    }
    if (contained) {
      const std::string container = StringAt(source, {"container"});
      if (container.empty()) {
        check_.Required(path + ".container", "must specify a container");
      } else {
        AddInvalid(check_.causes, path + ".container", container, CheckLabel(container));
      }
    }
    const Json& target = Member(source, "target");
    CheckTarget(target, path + ".target");
    const bool share = Has(target, "averageUtilization"), raw = Has(target, "averageValue");
    if (!share && !raw) {
      check_.Required(path + ".target.averageUtilization",
                      "must set either a target raw value or a target utilization");
    } else if (share && raw) {
      check_.Forbidden(path + ".target.averageValue",
                       "may not set both a target raw value and a target utilization");
    }
  }

  void CheckTarget(const Json& target, const std::string& path) const {
    const std::string type = StringAt(target, {"type"});
    if (type.empty()) check_.Required(path + ".type", "must specify a metric target type");
    if (type != "Utilization" && type != "Value" && type != "AverageValue") {
      check_.Invalid(path + ".type", type, "must be either Utilization, Value, or AverageValue");
    }
    for (const char* member : {"value", "averageValue"}) {
      const Json* amount = Find(target, {member});
      if (amount != nullptr && amount->is_string() &&
          CompareQuantities(amount->get<std::string>(), "0") <= 0) {
        check_.Invalid(path + "." + member, *amount, "must be positive");
      }
    }
    if (IntAt(target, {"averageUtilization"}, 1) < 1) {
      check_.Invalid(path + ".averageUtilization", IntAt(target, {"averageUtilization"}),
                     "must be greater than 0");
    }
  }

  const BuiltinCheck& check_;
  const Json& metric_;
  const std::string path_;
};

// Whether a metric that is there already refers to something that cannot be.
bool HasBrokenReference(const Json& metrics) {
  for (const Json& metric : metrics) {
    if (StringAt(metric, {"type"}) != "Object" || !Has(metric, "object")) continue;
    const std::string version = StringAt(metric, {"object", "describedObject", "apiVersion"});
    if (!VersionFault(version, Versions::kParsed).empty()) return true;
  }
  return false;
}

void CheckMetrics(const BuiltinCheck& check) {
  const bool broken = check.old != nullptr && HasBrokenReference(MetricsOf(*check.old));
  const Json metrics = MetricsOf(check.object);
  bool beyond_pods = false;
  for (std::size_t i = 0; i < metrics.size() && !check.causes.full(); ++i) {
    MetricCheck(check, metrics[i], Indexed("spec.metrics", i))
        .Run(broken ? Versions::kAny : Versions::kParsed);
    const std::string type = StringAt(metrics[i], {"type"});
    beyond_pods |= type == "Object" || type == "External";
  }
  if (IntAt(check.object, {"spec", "minReplicas"}, 1) == 0 && !beyond_pods) {
    check.Forbidden("spec.metrics",
                    "must specify at least one Object or External metric to support scaling to "
                    "zero replicas");
  }
}

void CheckPace(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  const std::string type = StringAt(rule, {"type"});
  if (type != "Pods" && type != "Percent") {
    check.causes.push_back(NotSupported(path + ".type", type, {"Percent", "Pods"}));
  }
  for (const char* member : {"value", "periodSeconds"}) {
    const std::int64_t value = IntAt(rule, {member});
    if (value <= 0) check.Invalid(path + "." + member, value, "must be greater than zero");
  }
  const std::int64_t period = IntAt(rule, {"periodSeconds"});
  if (period > kLongestPeriod) {
    check.Invalid(path + ".periodSeconds", period,
                  "must be less than or equal to " + std::to_string(kLongestPeriod));
  }
}

void CheckBehavior(const BuiltinCheck& check, const char* direction) {
  const Json* rules = Find(check.object, {"spec", "behavior", direction});
  if (rules == nullptr) return;
  const std::string path = std::string("spec.behavior.") + direction;
  const std::int64_t window = IntAt(*rules, {"stabilizationWindowSeconds"});
  if (window < 0) {
    check.Invalid(path + ".stabilizationWindowSeconds", window,
                  "must be greater than or equal to zero");
  } else if (window > kLongestWindow) {
    check.Invalid(path + ".stabilizationWindowSeconds", window,
                  "must be less than or equal to " + std::to_string(kLongestWindow));
  }
  const std::string choice = StringAt(*rules, {"selectPolicy"});
  if (Has(*rules, "selectPolicy") && choice != "Max" && choice != "Min" && choice != "Disabled") {
    check.causes.push_back(
        NotSupported(path + ".selectPolicy", choice, {"Disabled", "Max", "Min"}));
  }
  const Json& policies = ArrayAt(*rules, {"policies"});
  if (policies.empty()) check.Required(path + ".policies", "must specify at least one Policy");
  for (std::size_t i = 0; i < policies.size() && !check.causes.full(); ++i) {
    CheckPace(check, policies[i], Indexed(path + ".policies", i));
  }
  const std::string tolerance = StringAt(*rules, {"tolerance"});
  if (!tolerance.empty() && CompareQuantities(tolerance, "0") < 0) {
    check.Invalid(path + ".tolerance", tolerance, "must be greater than or equal to 0");
  }
}

void CheckBounds(const BuiltinCheck& check) {
  const std::int64_t least = IntAt(check.object, {"spec", "minReplicas"}, 1);
  const std::int64_t most = IntAt(check.object, {"spec", "maxReplicas"});
  const bool from_zero = check.old != nullptr && IntAt(*check.old, {"spec", "minReplicas"}, 1) == 0;
  if (least < (from_zero ? 0 : 1)) {
    check.Invalid("spec.minReplicas", least,
                  std::string("must be greater than or equal to ") + (from_zero ? "0" : "1"));
  }
  if (most == 0) {
    check.Required("spec.maxReplicas", "must be set and greater than 0");
  } else if (most < 0) {
    check.Invalid("spec.maxReplicas", most, "must be greater than or equal to 1");
  }
  if (most < least) {
    check.Invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
  }
}

// What is scaled must be of a group; what was so before may stay.
void CheckScaled(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  auto target = [](const Json& object) -> const Json& {
    const Json* found = Find(object, {"spec", "scaleTargetRef"});
    return found == nullptr ? kNone : *found;
  };
  const Json& now = target(check.object);
  const std::string kind = StringAt(now, {"kind"});
  Versions versions = Versions::kGrouped;
  if (check.old != nullptr && StringAt(target(*check.old), {"kind"}) == kind &&
      StringAt(target(*check.old), {"apiVersion"}) == StringAt(now, {"apiVersion"})) {
    versions = Versions::kAny;
  } else if (kind == "ReplicationController") {
    versions = Versions::kParsed;
  }
  CheckReference(check, now, "spec.scaleTargetRef", versions);
}

}  // namespace

void CheckAutoscaler(const BuiltinCheck& check) {
  if (check.subresource == "status") {
    check.NonNegative({"status", "currentReplicas"});
    check.NonNegative({"status", "desiredReplicas"});
    return;
  }
  CheckBounds(check);
  CheckScaled(check);
  CheckMetrics(check);
  CheckBehavior(check, "scaleUp");
  CheckBehavior(check, "scaleDown");
}

}  // namespace mailroom::openapi
