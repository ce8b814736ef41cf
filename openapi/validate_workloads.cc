// Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and their elders.
#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/validate.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schedules.h"
#include "openapi/validate_storage.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

const Json& ObjectAt(const Json& object, Path path) {
  static const Json kNone = Json::object();
  const Json* found = Find(object, path);
  return found != nullptr && found->is_object() ? *found : kNone;
}

bool IsEmptySelector(const Json& selector) {
  return ObjectAt(selector, {"matchLabels"}).empty() &&
         ArrayAt(selector, {"matchExpressions"}).empty();
}

// Pods of workloads are started anew for as long as there are any.
void CheckStaying(const BuiltinCheck& check, const Json& pod, const std::string& path,
                  const std::string& owner) {
  const std::string policy = StringAt(pod, {"spec", "restartPolicy"});
  if (policy != "Always") {
    check.causes.push_back(NotSupported(path + ".spec.restartPolicy", policy, {"Always"}));
  }
  if (Find(pod, {"spec", "activeDeadlineSeconds"}) != nullptr) {
    check.Forbidden(path + ".spec.activeDeadlineSeconds",
                    "activeDeadlineSeconds in " + owner + " is not Supported");
  }
}

// Labels, spec and restart policy of `template`.
void CheckTemplate(const BuiltinCheck& check, const Json& pod, const std::string& path,
                   const std::string& owner) {
  CheckTemplateSpec(check, pod, path);
  if (!owner.empty()) CheckStaying(check, pod, path, owner);
}

// The selector of a workload is given, not empty, and matches its own pods.
void CheckOwnPods(const BuiltinCheck& check, const std::string& word) {
  static const Json kNull;
  const Json* found = Find(check.object, {"spec", "template", "metadata", "labels"});
  const Json& labels = found == nullptr ? kNull : *found;
  const std::string mismatch = "`selector` does not match template `labels`";
  const Json* selector = Find(check.object, {"spec", "selector"});
  if (selector == nullptr) {  // selects nothing; that it is missing has been reported
    return check.Invalid("spec.template.metadata.labels", labels, mismatch);
  }
  const std::size_t before = check.causes.size();
  CheckSelector(check, *selector, "spec.selector", SelectorValues::kChecked);
  if (check.causes.size() > before && word == "deployment") {
    return check.Invalid("spec.selector", *selector, "invalid label selector");
  }
  if (IsEmptySelector(*selector)) {
    return check.Invalid("spec.selector", *selector, "empty selector is invalid for " + word);
  }
  auto parsed = LabelSelector::FromJson(*selector);
  if (!parsed.ok()) {
    check.Invalid("spec.selector", *selector, "invalid label selector");
  } else if (!parsed->MatchesJson(labels)) {
    check.Invalid("spec.template.metadata.labels", labels, mismatch);
  }
}

// An integer, or a percentage as its number; negative when it is neither.
std::int64_t Amount(const Json* value) {
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return value->get<std::int64_t>();
  const std::string text = value->is_string() ? value->get<std::string>() : "";
  if (text.size() < 2 || text.size() > 7 || text.back() != '%') return -1;
  if (text.find_first_not_of("0123456789") != text.size() - 1) return -1;
  return std::stoll(text.substr(0, text.size() - 1));
}

void CheckAmount(const BuiltinCheck& check, Path path) {
  const Json* value = Find(check.object, path);
  if (value == nullptr || Amount(value) >= 0) return;
  check.Invalid(DottedPath(path), *value,
                value->is_number() ? "must be greater than or equal to 0"
                                   : "a valid percent string must be a numeric string followed by "
                                     "an ending '%' (e.g. '1%',  or '93%', regex used for "
                                     "validation is '[0-9]+%')");
}

void CheckRollingUpdate(const BuiltinCheck& check, std::string_view strategy) {
  CheckAmount(check, {"spec", strategy, "rollingUpdate", "maxUnavailable"});
  CheckAmount(check, {"spec", strategy, "rollingUpdate", "maxSurge"});
}

void CheckStrategy(const BuiltinCheck& check) {
  const Json* rolling = Find(check.object, {"spec", "strategy", "rollingUpdate"});
  const std::string type = StringAt(check.object, {"spec", "strategy", "type"});
  if (rolling == nullptr) return;
  if (type == "Recreate") {
    check.Forbidden("spec.strategy.rollingUpdate",
                    "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  CheckRollingUpdate(check, "strategy");
  const Json* unavailable = Find(*rolling, {"maxUnavailable"});
  if (Amount(unavailable) == 0 && Amount(Find(*rolling, {"maxSurge"})) == 0) {
    check.Invalid("spec.strategy.rollingUpdate.maxUnavailable",
                  unavailable == nullptr ? Json(0) : *unavailable,
                  "may not be 0 when `maxSurge` is 0");
  }
}

void CheckSelectorValues(const BuiltinCheck& check, const Json& term, const std::string& path) {
  const auto values = StringsAt(term, {"values"});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string why = CheckLabelValue(values[i]);
    if (!why.empty()) check.Invalid(ElementPath(path, i), values[i], why);
  }
}

}  // namespace

void CheckSelector(const BuiltinCheck& check, const Json& selector, const std::string& path,
                   SelectorValues mode) {
  for (Cause& cause : ValidateLabels(Find(selector, {"matchLabels"}), path + ".matchLabels")) {
    check.causes.push_back(std::move(cause));
  }
  const Json& list = ArrayAt(selector, {"matchExpressions"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = path + ".matchExpressions[" + std::to_string(i) + "]";
    const std::string op = StringAt(list[i], {"operator"});
    const bool values = !ArrayAt(list[i], {"values"}).empty();
    if (op == "In" || op == "NotIn") {
      if (!values) {
        check.Required(field + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (values) {
        check.Forbidden(field + ".values",
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      check.Invalid(field + ".operator", op, "not a valid selector operator");
    }
    const std::string key = StringAt(list[i], {"key"});
    AddInvalid(check.causes, field + ".key", key, CheckQualifiedName(key));
    if (mode == SelectorValues::kChecked) CheckSelectorValues(check, list[i], field + ".values");
  }
}

void CheckDeployment(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  check.NonNegative({"spec", "replicas"});
  CheckOwnPods(check, "deployment");
  CheckTemplate(check, ObjectAt(check.object, {"spec", "template"}), "spec.template", "ReplicaSet");
  CheckStrategy(check);
  check.NonNegative({"spec", "minReadySeconds"});
  check.NonNegative({"spec", "revisionHistoryLimit"});
  check.NonNegative({"spec", "progressDeadlineSeconds"});
  const std::int64_t deadline = IntAt(check.object, {"spec", "progressDeadlineSeconds"});
  if (deadline <= IntAt(check.object, {"spec", "minReadySeconds"})) {
    check.Invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
  }
  check.Immutable({"spec", "selector"});
}

void CheckReplicaSet(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  check.NonNegative({"spec", "replicas"});
  check.NonNegative({"spec", "minReadySeconds"});
  CheckOwnPods(check, "deployment");
  CheckTemplate(check, ObjectAt(check.object, {"spec", "template"}), "spec.template", "ReplicaSet");
  check.Immutable({"spec", "selector"});
}

void CheckDaemonSet(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckOwnPods(check, "daemonset");
  CheckTemplate(check, ObjectAt(check.object, {"spec", "template"}), "spec.template", "DaemonSet");
  check.NonNegative({"spec", "minReadySeconds"});
  check.NonNegative({"spec", "revisionHistoryLimit"});
  CheckRollingUpdate(check, "updateStrategy");
  check.Immutable({"spec", "selector"});
}

namespace {

// What is not of the template's own parts.
void CheckSet(const BuiltinCheck& check) {
  check.NonNegative({"spec", "replicas"});
  check.NonNegative({"spec", "minReadySeconds"});
  CheckOwnPods(check, "statefulset");
}

void CheckSetTemplate(const BuiltinCheck& check) {
  std::vector<std::string> claims;
  for (const Json& claim : ArrayAt(check.object, {"spec", "volumeClaimTemplates"})) {
    claims.push_back(StringAt(claim, {"metadata", "name"}));
  }
  CheckTemplateSpec(check, ObjectAt(check.object, {"spec", "template"}), "spec.template", claims);
}

// A set that was stored with faults may change in spite of those of its template.
bool WasFaulty(const BuiltinCheck& check) {
  if (check.old == nullptr) return false;
  Causes faults;
  const BuiltinCheck before{*check.old, check.old, faults};
  CheckSet(before);
  CheckSetTemplate(before);
  CheckStatefulSetFields(before);
  return !faults.empty();
}

}  // namespace

void CheckStatefulSet(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  const Json& pod = ObjectAt(check.object, {"spec", "template"});
  CheckSet(check);
  if (WasFaulty(check)) {
    check.causes.Add(ValidateLabels(Find(pod, {"metadata", "labels"}), "spec.template.labels"));
    check.causes.Add(ValidateAnnotations(Find(pod, {"metadata", "annotations"}), "spec.template.annotations"));
  } else {
    CheckSetTemplate(check);
  }
  CheckStaying(check, pod, "spec.template", "StatefulSet");
  if (check.old == nullptr) return;
  Json now = ObjectAt(check.object, {"spec"}), before = ObjectAt(*check.old, {"spec"});
  for (const char* member :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    now.erase(member);
    before.erase(member);
  }
  if (now != before && !IsSameValue(*BuiltinType("apps/v1.StatefulSetSpec"), &now, &before)) {
    check.Forbidden("spec",
                    "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                    "'template', 'updateStrategy', 'revisionHistoryLimit', "
                    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
  }
}

void CheckReplicationController(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  check.NonNegative({"spec", "minReadySeconds"});
  check.NonNegative({"spec", "replicas"});
  const Json& selector = ObjectAt(check.object, {"spec", "selector"});
  if (selector.empty()) check.Required("spec.selector");
  const Json* pod = Find(check.object, {"spec", "template"});
  if (pod == nullptr) return check.Required("spec.template");
  const Json& labels = ObjectAt(*pod, {"metadata", "labels"});
  for (const auto& [key, value] : selector.items()) {
    const Json* label = Find(labels, {key});
    if (label != nullptr && *label == value) continue;
    check.Invalid("spec.template.metadata.labels", labels,
                  "`selector` does not match template `labels`");
    break;
  }
  CheckTemplate(check, *pod, "spec.template", "ReplicationController");
}

namespace {

void CheckJobSpec(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  for (const char* member :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    const std::int64_t value = IntAt(spec, {member});
    if (value < 0) {
      check.Invalid(path + "." + member, value, "must be greater than or equal to 0");
    }
  }
  const Json& pod = ObjectAt(spec, {"template"});
  CheckTemplate(check, pod, path + ".template", "");
  const std::string policy = StringAt(pod, {"spec", "restartPolicy"});
  const std::string field = path + ".template.spec.restartPolicy";
  if (policy == "Always") {
    check.Required(field, "valid values: \"OnFailure\", \"Never\"");
  }
  if (StringAt(spec, {"completionMode"}) == "Indexed" && Find(spec, {"completions"}) == nullptr) {
    check.Required(path + ".completions", "when completion mode is Indexed");
  }
}

}  // namespace

void CheckJob(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckJobSpec(check, ObjectAt(check.object, {"spec"}), "spec");
  check.Immutable({"spec", "selector"});
  check.Immutable({"spec", "completionMode"});
  check.Immutable({"spec", "podFailurePolicy"});
  check.Immutable({"spec", "backoffLimitPerIndex"});
  if (check.old != nullptr && !BoolAt(*check.old, {"spec", "suspend"})) {
    check.Immutable({"spec", "template"});
  }
  if (StringAt(check.object, {"spec", "completionMode"}) != "Indexed") {
    check.Immutable({"spec", "completions"});
  }
}

void CheckCronJob(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  CheckSchedule(check);
  check.NonNegative({"spec", "startingDeadlineSeconds"});
  CheckTimeZone(check);
  const Json& job = ObjectAt(check.object, {"spec", "jobTemplate", "spec"});
  const std::string path = "spec.jobTemplate.spec";
  CheckJobSpec(check, job, path);
  if (const Json* selector = Find(job, {"selector"})) {
    check.Invalid(path + ".selector", *selector, "`selector` will be auto-generated");
  }
  if (BoolAt(job, {"manualSelector"})) {
    check.causes.push_back(NotSupported(path + ".manualSelector", true, {"nil", "false"}));
  }
  check.NonNegative({"spec", "successfulJobsHistoryLimit"});
  check.NonNegative({"spec", "failedJobsHistoryLimit"});
}

}  // namespace mailroom::openapi
