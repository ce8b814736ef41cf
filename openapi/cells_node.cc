// Columns of nodes and autoscalers.
#include <set>

#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

std::string OrUnknown(std::string text) { return text.empty() ? "<unknown>" : text; }

Json NodeStatus(const Json& node) {
  std::string status = "Unknown";
  if (const Json* ready = OfType(ListAt(node, "status.conditions"), "Ready")) {
    status = StringAt(*ready, {"status"}) == "True" ? "Ready" : "NotReady";
  }
  return BoolAt(node, {"spec", "unschedulable"}) ? status + ",SchedulingDisabled" : status;
}

Json NodeRoles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  if (const Json* labels = Find(node, {"metadata", "labels"}); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
        roles.insert(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && !Scalar(&value).empty()) {
        roles.insert(Scalar(&value));
      }
    }
  }
  return roles.empty() ? "<none>" : Join({roles.begin(), roles.end()}, ",");
}

Json NodeKernel(const Json& node) {
  const std::string kernel = TextAt(node, "status.nodeInfo.kernelVersion");
  const std::string architecture = TextAt(node, "status.nodeInfo.architecture");
  return OrUnknown(kernel) + (architecture.empty() ? "" : " (" + architecture + ")");
}

Cell NodeAddress(std::string_view type) {
  return [type](const Json& node) {
    const Json* address = OfType(ListAt(node, "status.addresses"), type);
    return Json(address == nullptr ? "<none>" : StringAt(*address, {"address"}));
  };
}

// The member that carries the details of a metric of this type.
std::string MetricMember(const std::string& type) {
  if (type.empty()) return type;
  std::string member = type;
  member[0] = static_cast<char>(member[0] | 0x20);
  return member;
}

// `now/wanted` of one metric; `status` may be null.
std::string MetricText(const Json& spec, const Json* status) {
  const std::string type = StringAt(spec, {"type"}), member = MetricMember(type);
  const Json* wanted = Find(spec, {member, "target"});
  if (wanted == nullptr) return "<unknown type>";
  auto now = [&](std::string_view field) {
    return status == nullptr ? "" : Scalar(Find(*status, {member, "current", field}));
  };
  const std::string average = TextAt(*wanted, "averageValue");
  if (type == "Resource" || type == "ContainerResource") {
    const std::string name = StringAt(spec, {member, "name"}) + ": ";
    if (!average.empty()) return name + OrUnknown(now("averageValue")) + "/" + average;
    const std::string use = now("averageUtilization");
    const std::string goal = TextAt(*wanted, "averageUtilization");
    return name + (use.empty() ? "<unknown>" : use + "%") + "/" +
           (goal.empty() ? "<auto>" : goal + "%");
  }
  if (type == "Pods") return OrUnknown(now("averageValue")) + "/" + average;
  if (!average.empty()) return OrUnknown(now("averageValue")) + "/" + average + " (avg)";
  return OrUnknown(now("value")) + "/" + TextAt(*wanted, "value");
}

Json Targets(const Json& autoscaler) {
  // v1 knows only the processor.
  if (const Json* goal = Find(autoscaler, {"spec", "targetCPUUtilizationPercentage"})) {
    const std::string use = TextAt(autoscaler, "status.currentCPUUtilizationPercentage");
    return "cpu: " + (use.empty() ? "<unknown>" : use + "%") + "/" + Scalar(goal) + "%";
  }
  const Json& specs = ListAt(autoscaler, "spec.metrics");
  const Json& statuses = ListAt(autoscaler, "status.currentMetrics");
  if (specs.empty()) return "<none>";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    parts.push_back(MetricText(specs[i], i < statuses.size() ? &statuses[i] : nullptr));
  }
  const std::size_t count = parts.size();
  return Shortened(std::move(parts), 2, count, ", ");
}

Json ScaleReference(const Json& autoscaler) {
  return TextAt(autoscaler, "spec.scaleTargetRef.kind") + "/" +
         TextAt(autoscaler, "spec.scaleTargetRef.name");
}

}  // namespace

std::vector<KindColumns> NodeColumns() {
  const std::string system = "status.nodeInfo.";
  return {{"",
           "Node",
           {NameColumn(), Shown("Status", NodeStatus), Shown("Roles", NodeRoles), AgeColumn(),
            Shown("Version", Text(system + "kubeletVersion")),
            Wide("Internal-IP", NodeAddress("InternalIP")),
            Wide("External-IP", NodeAddress("ExternalIP")),
            Wide("OS-Image", Text(system + "osImage", "<unknown>")),
            Wide("Kernel-Version", NodeKernel),
            Wide("Container-Runtime", Text(system + "containerRuntimeVersion", "<unknown>"))}}};
}

std::vector<KindColumns> AutoscalingColumns() {
  return {{"autoscaling",
           "HorizontalPodAutoscaler",
           {NameColumn(), Shown("Reference", ScaleReference), Shown("Targets", Targets),
            Shown("MinPods", Text("spec.minReplicas", "<unset>")),
            Shown("MaxPods", Number("spec.maxReplicas")),
            Shown("Replicas", Number("status.currentReplicas")), AgeColumn()}}};
}

}  // namespace mailroom::openapi
