#include "apiserver/convert_autoscaler.h"

#include <algorithm>
#include <array>
#include <span>

#include "apiserver/convert.h"
#include "openapi/go_json.h"
#include "openapi/normalize.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::int64_t kDefaultUtilization = 80;

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::array kSpecAnnotations = {kMetrics, kBehavior};
constexpr std::array kStatusAnnotations = {kCurrentMetrics, kConditions};
constexpr std::array kAnnotations = {kMetrics,
                                     kBehavior,
                                     kCurrentMetrics,
                                     kConditions,
                                     "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
                                     "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};

// Where a member of a v1 metric stands in v2.
struct Member {
  const char* v1;
  const char* outer;            // in v2
  const char* inner = nullptr;  // below it; null: the outer one itself
  bool zero = false;            // v1 says 0 when there is none
};
// The members of one source of metrics, by the name of the source.
struct Source {
  const char* name;
  std::span<const Member> wanted, current;
};

constexpr Member kObjectWanted[] = {{"target", "describedObject"},
                                    {"metricName", "metric", "name"},
                                    {"targetValue", "target", "value", true},
                                    {"selector", "metric", "selector"},
                                    {"averageValue", "target", "averageValue"}};
constexpr Member kObjectCurrent[] = {{"target", "describedObject"},
                                     {"metricName", "metric", "name"},
                                     {"currentValue", "current", "value", true},
                                     {"selector", "metric", "selector"},
                                     {"averageValue", "current", "averageValue"}};
constexpr Member kPodsWanted[] = {{"metricName", "metric", "name"},
                                  {"targetAverageValue", "target", "averageValue", true},
                                  {"selector", "metric", "selector"}};
constexpr Member kPodsCurrent[] = {{"metricName", "metric", "name"},
                                   {"currentAverageValue", "current", "averageValue", true},
                                   {"selector", "metric", "selector"}};
constexpr Member kResourceWanted[] = {{"name", "name"},
                                      {"targetAverageUtilization", "target", "averageUtilization"},
                                      {"targetAverageValue", "target", "averageValue"},
                                      {"container", "container"}};
constexpr Member kResourceCurrent[] = {
    {"name", "name"},
    {"currentAverageUtilization", "current", "averageUtilization"},
    {"currentAverageValue", "current", "averageValue", true},
    {"container", "container"}};
constexpr Member kExternalWanted[] = {{"metricName", "metric", "name"},
                                      {"metricSelector", "metric", "selector"},
                                      {"targetValue", "target", "value"},
                                      {"targetAverageValue", "target", "averageValue"}};
constexpr Member kExternalCurrent[] = {{"metricName", "metric", "name"},
                                       {"metricSelector", "metric", "selector"},
                                       {"currentValue", "current", "value", true},
                                       {"currentAverageValue", "current", "averageValue"}};
constexpr Source kSources[] = {{"object", kObjectWanted, kObjectCurrent},
                               {"pods", kPodsWanted, kPodsCurrent},
                               {"resource", kResourceWanted, kResourceCurrent},
                               {"containerResource", kResourceWanted, kResourceCurrent},
                               {"external", kExternalWanted, kExternalCurrent}};

enum class Metrics { kWanted, kCurrent };

// A behavior is carried in words of its own.
constexpr std::pair<const char*, const char*> kBehaviorWords[] = {
    {"scaleUp", "ScaleUp"},
    {"scaleDown", "ScaleDown"},
    {"stabilizationWindowSeconds", "StabilizationWindowSeconds"},
    {"selectPolicy", "SelectPolicy"},
    {"policies", "Policies"},
    {"tolerance", "Tolerance"},
    {"type", "Type"},
    {"value", "Value"},
    {"periodSeconds", "PeriodSeconds"}};

// The order of members in the text of an annotation; others follow by name.
constexpr std::string_view kOrder[] = {
    "type", "status", "lastTransitionTime", "reason", "message", "object", "pods", "resource",
    "containerResource", "external", "target", "kind", "name", "apiVersion", "metricName",
    "metricSelector", "targetValue", "currentValue", "targetAverageUtilization",
    "currentAverageUtilization", "targetAverageValue", "currentAverageValue", "selector",
    "averageValue", "container", "matchLabels", "matchExpressions", "key", "operator", "values",
    "ScaleUp", "ScaleDown", "StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance",
    "Type", "Value", "PeriodSeconds"};

void AppendOrdered(std::string& out, const Json& value, bool by_order = true) {
  const char* comma = "";
  if (value.is_array()) {
    out += '[';
    for (const Json& item : value) {
      out += std::exchange(comma, ",");
      AppendOrdered(out, item);
    }
    out += ']';
    return;
  }
  if (!value.is_object()) return AppendJson(out, value);
  std::vector<std::string> names;
  for (const auto& [name, member] : value.items()) names.push_back(name);
  if (by_order) {
    std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return std::find(std::begin(kOrder), std::end(kOrder), a) <
             std::find(std::begin(kOrder), std::end(kOrder), b);
    });
  }
  out += '{';
  for (const std::string& name : names) {
    out += std::exchange(comma, ",");
    AppendQuoted(out, name);
    out += ':';
    AppendOrdered(out, value[name], name != "matchLabels");
  }
  out += '}';
}

// Text of an annotation, safe in a page.
std::string AnnotationText(const Json& value) {
  std::string plain;
  AppendOrdered(plain, value);
  return openapi::PageSafe(plain);
}

const Json* MemberIn(const Json& v2, const Member& member) {
  return member.inner == nullptr ? Find(v2, {member.outer}) : Find(v2, {member.outer, member.inner});
}

Json MetricToV1(const Json& metric, Metrics which) {
  Json out = {{"type", StringAt(metric, {"type"})}};
  for (const Source& source : kSources) {
    const Json* from = Find(metric, {source.name});
    if (from == nullptr) continue;
    Json& to = out[source.name] = Json::object();
    for (const Member& member : which == Metrics::kWanted ? source.wanted : source.current) {
      if (const Json* found = MemberIn(*from, member)) {
        to[member.v1] = *found;
      } else if (member.zero) {
        to[member.v1] = "0";
      }
    }
  }
  return out;
}

// v1 does not say which of its values a metric goes by.
const char* TargetType(const std::string& source, const Json& v1) {
  auto has = [&](const char* member) { return Find(v1, {member}) != nullptr; };
  if (source == "object") return has("averageValue") ? "AverageValue" : "Value";
  if (source == "external") return has("targetValue") ? "Value" : "AverageValue";
  return has("targetAverageUtilization") ? "Utilization" : "AverageValue";
}

Json MetricToV2(const Json& metric, Metrics which) {
  Json out = {{"type", StringAt(metric, {"type"})}};
  for (const Source& source : kSources) {
    const Json* from = Find(metric, {source.name});
    if (from == nullptr || !from->is_object()) continue;
    Json& to = out[source.name] = Json::object();
    for (const Member& member : which == Metrics::kWanted ? source.wanted : source.current) {
      const Json* found = Find(*from, {member.v1});
      if (found == nullptr || found->is_null()) continue;
      (member.inner == nullptr ? to[member.outer] : to[member.outer][member.inner]) = *found;
    }
    if (which == Metrics::kCurrent) continue;
    Json& target = to["target"];
    target["type"] = TargetType(source.name, *from);
    if (std::string_view(source.name) == "object" && target["type"] == "AverageValue" &&
        openapi::QuantityMillis(StringAt(target, {"value"})) == 0) {
      target.erase("value");
    }
  }
  return out;
}

// Renames the members throughout.
Json Reworded(const Json& value, bool to_v2) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(Reworded(item, to_v2));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [lower, upper] : kBehaviorWords) {
    const Json* found = Find(value, {to_v2 ? upper : lower});
    if (found != nullptr && !(to_v2 && found->is_null())) {
      out[to_v2 ? lower : upper] = Reworded(*found, to_v2);
    }
  }
  return out;
}

Json BehaviorToV1(const Json& behavior) {
  Json out = Reworded(behavior, false);
  for (const char* direction : {"ScaleUp", "ScaleDown"}) {
    Json& rules = out[direction];
    if (!rules.is_object()) continue;
    for (const char* member : {"StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance"}) {
      if (!rules.contains(member)) rules[member] = nullptr;
    }
  }
  return out;
}

// What the annotation says, null when it says nothing of that kind.
Json Annotated(const Json& object, const char* name, bool list) {
  const std::string text = StringAt(object, {"metadata", "annotations", name});
  if (text.empty()) return nullptr;
  auto value = ParseJson(text);
  if (!value.ok() || !(list ? value.value().is_array() : value.value().is_object())) return nullptr;
  if (list) {
    for (const Json& item : value.value()) {
      if (!item.is_object()) return nullptr;
    }
  }
  return std::move(value).value();
}

void DropAnnotations(Json& object) {
  Json* annotations = Find(object, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  for (const char* name : kAnnotations) annotations->erase(name);
  if (annotations->empty()) Erase(object, {"metadata", "annotations"});
}

Json CpuMetric(const char* member, Json value) {
  Json metric = {{"type", "Resource"}, {"resource", {{"name", "cpu"}}}};
  metric["resource"][member]["averageUtilization"] = std::move(value);
  if (std::string_view(member) == "target") metric["resource"][member]["type"] = "Utilization";
  return metric;
}

// The cpu utilization of a v2 metric; null when it is another metric.
const Json* CpuOf(const Json& metric, const char* member) {
  if (StringAt(metric, {"type"}) != "Resource") return nullptr;
  if (StringAt(metric, {"resource", "name"}) != "cpu") return nullptr;
  return Find(metric, {"resource", member, "averageUtilization"});
}

Json Taken(Json& holder, const char* member) {
  Json* found = Find(holder, {member});
  if (found == nullptr) return nullptr;
  Json value = std::move(*found);
  holder.erase(member);
  return value;
}

void SpecToV2(Json& object, Json& spec) {
  Json metrics = Json::array();
  const Json others = Annotated(object, kMetrics, true);
  for (const Json& metric : others) metrics.push_back(MetricToV2(metric, Metrics::kWanted));
  Json cpu = Taken(spec, "targetCPUUtilizationPercentage");
  if (cpu.is_null() && metrics.empty()) cpu = kDefaultUtilization;
  if (!cpu.is_null()) metrics.push_back(CpuMetric("target", std::move(cpu)));
  spec["metrics"] = std::move(metrics);
  const Json behavior = Reworded(Annotated(object, kBehavior, false), true);
  if (behavior.is_object() && !behavior.empty()) spec["behavior"] = behavior;
}

void StatusToV2(Json& object, Json& status) {
  Json cpu = Taken(status, "currentCPUUtilizationPercentage");
  Json metrics = cpu.is_null() ? Json() : Json::array({CpuMetric("current", std::move(cpu))});
  const Json all = Annotated(object, kCurrentMetrics, true);
  if (all.is_array()) {
    metrics = Json::array();
    for (const Json& metric : all) metrics.push_back(MetricToV2(metric, Metrics::kCurrent));
    if (metrics.empty()) metrics = nullptr;
  }
  status["currentMetrics"] = std::move(metrics);
  if (IntAt(status, {"currentReplicas"}) == 0) status.erase("currentReplicas");
  const Json conditions = Annotated(object, kConditions, true);
  if (conditions.is_array() && !conditions.empty()) status["conditions"] = conditions;
}

Json* StructureAt(Json& object, const char* member) {
  Json* found = Find(object, {member});
  return found != nullptr && found->is_object() ? found : nullptr;
}

void Annotate(Json& object, const char* name, const Json& value) {
  if (value.is_null() || (value.is_array() && value.empty())) return;
  Set(object, {"metadata", "annotations", name}, AnnotationText(value));
}

Json OthersToV1(const Json& metrics) {
  Json others = Json::array();
  if (!metrics.is_array()) return others;
  for (const Json& metric : metrics) {
    if (CpuOf(metric, "target") == nullptr) others.push_back(MetricToV1(metric, Metrics::kWanted));
  }
  return others;
}

}  // namespace

void AutoscalerToV2(Json& object) {
  if (Json* spec = StructureAt(object, "spec")) SpecToV2(object, *spec);
  if (Json* status = StructureAt(object, "status")) StatusToV2(object, *status);
  DropAnnotations(object);
}

void AutoscalerToV1(Json& object) {
  DropAnnotations(object);
  if (Json* spec = StructureAt(object, "spec")) {
    const Json metrics = Taken(*spec, "metrics"), behavior = Taken(*spec, "behavior");
    for (const Json& metric : metrics) {
      const Json* cpu = CpuOf(metric, "target");
      if (cpu == nullptr) continue;
      (*spec)["targetCPUUtilizationPercentage"] = *cpu;
      break;
    }
    Annotate(object, kMetrics, OthersToV1(metrics));
    if (behavior.is_object()) Annotate(object, kBehavior, BehaviorToV1(behavior));
  }
  Json& status = object["status"];
  if (!status.is_object()) status = Json::object();
  const Json metrics = Taken(status, "currentMetrics"), conditions = Taken(status, "conditions");
  for (const char* member : {"currentReplicas", "desiredReplicas"}) {
    if (!status.contains(member)) status[member] = 0;
  }
  Json current = Json::array();
  for (const Json& metric : metrics) {
    current.push_back(MetricToV1(metric, Metrics::kCurrent));
    if (const Json* cpu = CpuOf(metric, "current")) status["currentCPUUtilizationPercentage"] = *cpu;
  }
  Annotate(object, kCurrentMetrics, current);
  Annotate(object, kConditions, conditions);
}

Result<void> PrepareAutoscaler(Call& call, Json& object, const Json* live) {
  if (call.type->gvk.version != "v1") return Ok();
  auto restore = [&](std::span<const char* const> names) {
    for (const char* name : names) {
      const Json* kept = live == nullptr ? nullptr : Find(*live, {"metadata", "annotations", name});
      if (kept != nullptr) {
        Set(object, {"metadata", "annotations", name}, *kept);
      } else {
        Erase(object, {"metadata", "annotations", name});
      }
    }
  };
  if (call.info.subresource == "status") {
    restore(kSpecAnnotations);
  } else {
    restore(kStatusAnnotations);
  }
  const openapi::ResourceType* v2 =
      call.workspace.catalog->FindKind({"autoscaling", "v2", call.type->gvk.kind});
  if (v2 == nullptr) return Ok();
  Json stored = object;
  ToStored(*call.type, stored);
  if (openapi::CheckBuiltinTypes(*v2, stored)) {  // an annotation that is none of ours
    DropAnnotations(object);
    stored = object;
    ToStored(*call.type, stored);
  }
  openapi::PruneUnknown(*v2, stored);
  openapi::ApplyDefaults(*v2, stored);
  object = std::move(stored);
  FromStored(*call.type, object);
  return Ok();
}

}  // namespace mailroom::apiserver
