// Columns of the kinds that run pods.
#include "openapi/cells.h"
#include "storage/object/clock.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kTemplateSpec = "spec.template.spec";

// Appends the wide columns that all controllers of pods share.
std::vector<Column> WithTemplate(std::vector<Column> columns, const std::string& pod_spec) {
  columns.push_back(Wide("Containers", ContainerNames(pod_spec)));
  columns.push_back(Wide("Images", ContainerImages(pod_spec)));
  return columns;
}

std::vector<Column> WithTemplate(std::vector<Column> columns, const std::string& pod_spec,
                                 Cell selector) {
  columns = WithTemplate(std::move(columns), pod_spec);
  columns.push_back(Wide("Selector", std::move(selector)));
  return columns;
}

Json JobStatus(const Json& job) {
  if (ConditionTrue(job, "Complete")) return "Complete";
  if (ConditionTrue(job, "Failed")) return "Failed";
  if (!TextAt(job, "metadata.deletionTimestamp").empty()) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (ConditionTrue(job, type)) return type;
  }
  return "Running";
}

Json JobCompletions(const Json& job) {
  const std::string done = std::to_string(NumberAt(job, "status.succeeded"));
  if (Find(job, {"spec", "completions"}) != nullptr) {
    return done + "/" + std::to_string(NumberAt(job, "spec.completions"));
  }
  const std::int64_t parallelism = NumberAt(job, "spec.parallelism");
  return parallelism > 1 ? done + "/1 of " + std::to_string(parallelism) : done + "/1";
}

Json JobDuration(const Json& job) {
  const std::string start = TextAt(job, "status.startTime");
  if (start.empty()) return "";
  const std::string end = TextAt(job, "status.completionTime");
  if (end.empty()) return Age(start);
  return HumanDuration(ParseTime(end) - ParseTime(start));
}

Json Suspended(const Json& job) {
  const Json* value = Find(job, {"spec", "suspend"});
  if (value == nullptr || !value->is_boolean()) return "<unset>";
  return value->get<bool>() ? "True" : "False";
}

Json LastSchedule(const Json& job) {
  const std::string last = TextAt(job, "status.lastScheduleTime");
  return last.empty() ? "<none>" : Age(last);
}

Json DeploymentSelector(const Json& deployment) {
  return SelectorText(Find(deployment, {"spec", "selector"}));
}

std::vector<Column> ReplicaColumns(Cell selector) {
  return WithTemplate({NameColumn(), ShownAs("Desired", "integer", Number("spec.replicas")),
                       ShownAs("Current", "integer", Number("status.replicas")),
                       ShownAs("Ready", "integer", Number("status.readyReplicas")), AgeColumn()},
                      kTemplateSpec, std::move(selector));
}

Json Budget(const Json& object, std::string_view member) {
  const Json* value = Find(object, {"spec", member});
  return value == nullptr ? "N/A" : Scalar(value);
}

}  // namespace

std::vector<KindColumns> WorkloadColumns() {
  return {
      {"", "Pod", PodColumns()},
      {"",
       "PodTemplate",
       {NameColumn(), Shown("Containers", ContainerNames("template.spec")),
        Shown("Images", ContainerImages("template.spec")),
        Shown("Pod Labels", Labels("template.metadata.labels"))}},
      {"", "ReplicationController", ReplicaColumns(Labels("spec.selector"))},
      {"apps", "ReplicaSet", ReplicaColumns(Selector("spec.selector"))},
      {"apps", "Deployment",
       WithTemplate({NameColumn(), Shown("Ready", Ratio("status.readyReplicas", "spec.replicas")),
                     Shown("Up-to-date", Number("status.updatedReplicas")),
                     Shown("Available", Number("status.availableReplicas")), AgeColumn()},
                    kTemplateSpec, DeploymentSelector)},
      {"apps", "StatefulSet",
       WithTemplate({NameColumn(), Shown("Ready", Ratio("status.readyReplicas", "spec.replicas")),
                     AgeColumn()},
                    kTemplateSpec)},
      {"apps", "DaemonSet",
       WithTemplate(
           {NameColumn(), ShownAs("Desired", "integer", Number("status.desiredNumberScheduled")),
            ShownAs("Current", "integer", Number("status.currentNumberScheduled")),
            ShownAs("Ready", "integer", Number("status.numberReady")),
            ShownAs("Up-to-date", "integer", Number("status.updatedNumberScheduled")),
            ShownAs("Available", "integer", Number("status.numberAvailable")),
            Shown("Node Selector", Labels("spec.template.spec.nodeSelector")), AgeColumn()},
           kTemplateSpec, Selector("spec.selector"))},
      {"batch", "Job",
       WithTemplate({NameColumn(), Shown("Status", JobStatus), Shown("Completions", JobCompletions),
                     Shown("Duration", JobDuration), AgeColumn()},
                    kTemplateSpec, Selector("spec.selector"))},
      {"batch", "CronJob",
       WithTemplate({NameColumn(), Shown("Schedule", Text("spec.schedule")),
                     Shown("Timezone", Text("spec.timeZone", "<none>")),
                     ShownAs("Suspend", "boolean", Suspended),
                     ShownAs("Active", "integer", Count("status.active")),
                     Shown("Last Schedule", LastSchedule), AgeColumn()},
                    "spec.jobTemplate.spec.template.spec",
                    Selector("spec.jobTemplate.spec.selector"))},
      {"policy",
       "PodDisruptionBudget",
       {NameColumn(),
        Shown("Min Available", [](const Json& pdb) { return Budget(pdb, "minAvailable"); }),
        Shown("Max Unavailable", [](const Json& pdb) { return Budget(pdb, "maxUnavailable"); }),
        ShownAs("Allowed Disruptions", "integer", Number("status.disruptionsAllowed")),
        AgeColumn()}},
      {"autoscaling",
       "Scale",
       {NameColumn(), ShownAs("Desired", "integer", Number("spec.replicas")),
        ShownAs("Available", "integer", Number("status.replicas")), AgeColumn()}},
  };
}

}  // namespace mailroom::openapi
