#include "openapi/validate_builtin.h"

#include <algorithm>
#include <array>

#include "openapi/validate_cluster_kinds.h"
#include "openapi/validate_devices.h"
#include "openapi/validate_flow_control.h"
#include "openapi/validate_jobs.h"
#include "openapi/validate_names.h"
#include "openapi/validate_rules.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

struct KindRow {
  std::string_view group, kind;
  void (*check)(const BuiltinCheck&);
};

constexpr std::array<KindRow, 68> kKinds = {{
    {"", "ConfigMap", CheckConfigMap},
    {"", "Secret", CheckSecret},
    {"", "Pod", CheckPod},
    {"", "PodTemplate", CheckPodTemplate},
    {"", "Service", CheckService},
    {"", "Service", CheckServiceFields},
    {"", "Namespace", CheckNamespaceObject},
    {"", "ReplicationController", CheckReplicationController},
    {"", "ReplicationController", CheckReplicationControllerStatus},
    {"", "PersistentVolume", CheckPersistentVolume},
    {"", "PersistentVolumeClaim", CheckVolumeClaim},
    {"", "ResourceQuota", CheckResourceQuota},
    {"", "LimitRange", CheckLimitRange},
    {"", "Endpoints", CheckEndpoints},
    {"discovery.k8s.io", "EndpointSlice", CheckEndpointSlice},
    {"", "Event", CheckCoreEvent},
    {"events.k8s.io", "Event", CheckNewEvent},
    {"apps", "Deployment", CheckDeployment},
    {"apps", "Deployment", CheckDeploymentRollout},
    {"apps", "Deployment", CheckDeploymentStatus},
    {"apps", "ReplicaSet", CheckReplicaSet},
    {"apps", "ReplicaSet", CheckReplicaSetStatus},
    {"apps", "StatefulSet", CheckStatefulSet},
    {"apps", "StatefulSet", CheckStatefulSetFields},
    {"apps", "StatefulSet", CheckStatefulSetStatus},
    {"apps", "DaemonSet", CheckDaemonSet},
    {"apps", "DaemonSet", CheckDaemonSetRollout},
    {"apps", "DaemonSet", CheckDaemonSetStatus},
    {"batch", "Job", CheckJob},
    {"batch", "Job", CheckJobEnd},
    {"batch", "CronJob", CheckCronJob},
    {"batch", "CronJob", CheckCronJobEnd},
    {"autoscaling", "HorizontalPodAutoscaler", CheckAutoscaler},
    {"policy", "PodDisruptionBudget", CheckDisruptionBudget},
    {"rbac.authorization.k8s.io", "Role", CheckRole},
    {"rbac.authorization.k8s.io", "ClusterRole", CheckClusterRole},
    {"rbac.authorization.k8s.io", "RoleBinding", CheckRoleBinding},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", CheckClusterRoleBinding},
    {"coordination.k8s.io", "Lease", CheckLease},
    {"scheduling.k8s.io", "PriorityClass", CheckPriorityClass},
    {"storage.k8s.io", "StorageClass", CheckStorageClass},
    {"storage.k8s.io", "VolumeAttributesClass", CheckVolumeAttributesClass},
    {"storage.k8s.io", "CSIDriver", CheckCsiDriver},
    {"storage.k8s.io", "CSINode", CheckCsiNode},
    {"storage.k8s.io", "CSIStorageCapacity", CheckStorageCapacity},
    {"storage.k8s.io", "VolumeAttachment", CheckVolumeAttachment},
    {"", "Node", CheckNode},
    {"apps", "ControllerRevision", CheckRevision},
    {"node.k8s.io", "RuntimeClass", CheckRuntimeClass},
    {"networking.k8s.io", "IngressClass", CheckIngressClass},
    {"networking.k8s.io", "IPAddress", CheckIpObject},
    {"networking.k8s.io", "ServiceCIDR", CheckServiceRange},
    {"resource.k8s.io", "DeviceClass", CheckDeviceClass},
    {"resource.k8s.io", "ResourceClaim", CheckDeviceClaim},
    {"resource.k8s.io", "ResourceClaimTemplate", CheckDeviceClaimTemplate},
    {"resource.k8s.io", "ResourceSlice", CheckDeviceSlice},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", CheckFlowSchema},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", CheckPriorityLevel},
    {"networking.k8s.io", "Ingress", CheckIngress},
    {"networking.k8s.io", "NetworkPolicy", CheckNetworkPolicy},
    {"apiregistration.k8s.io", "APIService", CheckApiService},
    {"certificates.k8s.io", "CertificateSigningRequest", CheckCertificateRequest},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", CheckWebhooks},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", CheckWebhooks},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", CheckValidatingPolicy},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", CheckValidatingBinding},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy", CheckMutatingPolicy},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", CheckMutatingBinding},
}};

// Kinds whose checks say all that is wrong, in an order of their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSelfContained = {{
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"", "Endpoints"},
    {"", "Node"},
    {"discovery.k8s.io", "EndpointSlice"},
    {"policy", "PodDisruptionBudget"},
    {"", "ResourceQuota"},
    {"", "LimitRange"},
    {"autoscaling", "HorizontalPodAutoscaler"},
}};

bool SaysAll(const GroupVersionKind& gvk) {
  for (std::string_view group :
       {"admissionregistration.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io", "node.k8s.io", "resource.k8s.io", "scheduling.k8s.io",
        "storage.k8s.io"}) {
    if (gvk.group == group) return true;
  }
  return std::find(kSelfContained.begin(), kSelfContained.end(),
                   std::pair<std::string_view, std::string_view>(gvk.group, gvk.kind)) !=
         kSelfContained.end();
}

// Members that the facts call required and the server leaves to the reader of the object, or
// that another check reports with more words.
bool IsLenient(std::string_view type, std::string_view member) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kLenient = {{
      {"core/v1.NodeSelectorRequirement", "key"},
      {"core/v1.NodeSelectorRequirement", "operator"},
      {"discovery/v1.ForZone", "name"},
      {"discovery/v1.ForNode", "name"},
      {"core/v1.Toleration", "key"},
      {"core/v1.EndpointAddress", "ip"},
      {"core/v1.TypedLocalObjectReference", "kind"},
      {"rbac/v1.RoleRef", "apiGroup"},
      {"rbac/v1.RoleRef", "kind"},
      {"rbac/v1.RoleRef", "name"},
      {"rbac/v1.Subject", "kind"},
      {"rbac/v1.Subject", "name"},
      {"apiextensions/v1.CustomResourceDefinitionSpec", "scope"},
      {"core/v1.ScaleIOVolumeSource", "secretRef"},
      {"core/v1.ScaleIOPersistentVolumeSource", "secretRef"},
  }};
  for (std::string_view home : {"apiextensions/", "events/", "meta/"}) {
    if (type.starts_with(home)) return true;
  }
  return std::find(kLenient.begin(), kLenient.end(), std::pair(type, member)) != kLenient.end();
}

bool IsMissing(const Schema& schema, const Json* value) {
  if (value == nullptr) return schema.type != Type::kArray && schema.type != Type::kInteger;
  return value->is_string() && value->get_ref<const std::string&>().empty();
}

// Whether an empty text is told from one that was left out.
enum class Blank { kAbsent, kGiven };

void CheckEnum(const Schema& schema, const Json& value, const std::string& path, Blank blank,
               Causes& causes) {
  if (schema.enum_values.empty() || !value.is_string()) return;
  if (value == "" && blank == Blank::kAbsent) return;
  std::vector<std::string> supported;
  for (const Json& allowed : schema.enum_values) {
    if (allowed == value) return;
    if (allowed != "") supported.push_back(allowed.get<std::string>());
  }
  // Some enumerations are listed in an order of their own.
  static const std::vector<std::vector<std::string>> kOrders = {
      {"NoSchedule", "PreferNoSchedule", "NoExecute"},
      {"PreemptLowerPriority", "Never"},
      {"Ingress", "Egress"},
      {"NonIndexed", "Indexed"},
      {"Persistent", "Ephemeral"},
      {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
       "Socket"},
  };
  for (const std::vector<std::string>& order : kOrders) {
    const auto first = order.begin() + (order.front().empty() ? 1 : 0);
    if (std::is_permutation(first, order.end(), supported.begin(), supported.end())) {
      supported = order;
      break;
    }
  }
  // Operators that compare are known, but not to be had.
  if (supported == std::vector<std::string>{"Equal", "Exists", "Gt", "Lt"}) supported.resize(2);
  causes.push_back(NotSupported(path, value, supported));
}

}  // namespace

void BuiltinCheck::Required(const std::string& field, std::string detail) const {
  causes.push_back(RequiredValue(field, std::move(detail)));
}

void BuiltinCheck::Invalid(const std::string& field, const Json& value, std::string detail) const {
  causes.push_back(InvalidValue(field, Rendered(value), std::move(detail)));
}

void BuiltinCheck::Forbidden(const std::string& field, std::string detail) const {
  causes.push_back(ForbiddenValue(field, std::move(detail)));
}

void BuiltinCheck::Immutable(Path path) const {
  if (old == nullptr) return;
  CheckImmutable(causes, DottedPath(path), Find(object, path), Find(*old, path));
}

void BuiltinCheck::NonNegative(Path path) const {
  const Json* value = Find(object, path);
  if (value == nullptr || !value->is_number_integer() || value->get<std::int64_t>() >= 0) return;
  Invalid(DottedPath(path), *value, "must be greater than or equal to 0");
}

const Json& ArrayAt(const Json& object, Path path) {
  static const Json kNone = Json::array();
  const Json* found = Find(object, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

std::string DottedPath(Path path) {
  std::string out;
  for (std::string_view member : path) {
    if (!out.empty()) out += '.';
    out += member;
  }
  return out;
}

namespace {

// Lists of which an element's fault is told of the whole.
bool IsToldAsWhole(std::string_view path) { return path.ends_with("ccessModes"); }

// The facts of status are not checked, neither that of a claim inside another object.
bool IsStatus(const Schema& schema, const std::string& path, std::string_view member) {
  return member == "status" && (path.empty() || schema.name == "core/v1.PersistentVolumeClaim");
}

// A part of many kinds whose checks say all that is wrong, in an order of their own.
constexpr std::string_view kSaysAllItself = "core/v1.PodSpec";

void CheckFacts(const Schema& schema, const Json& value, const std::string& path, Blank blank,
                Causes& causes) {
  if (causes.full() || schema.name == kSaysAllItself) return;
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckFacts(*schema.items, value[i], IsToldAsWhole(path) ? path : ElementPath(path, i),
                 Blank::kGiven, causes);
    }
    return;
  }
  CheckEnum(schema, value, path, blank, causes);
  if (!value.is_object() || schema.is_object_meta || schema.wire == Wire::kRaw) return;
  if (schema.additional != nullptr) {
    for (const auto& [name, member] : value.items()) {
      CheckFacts(*schema.additional, member, EntryPath(path, name), Blank::kAbsent, causes);
    }
    return;
  }
  for (const Property& property : schema.properties) {
    if (!property.required || property.schema->wire == Wire::kBool) continue;
    auto member = value.find(property.name);
    const Json* found = member == value.end() || member->is_null() ? nullptr : &*member;
    if (IsMissing(*property.schema, found) && !IsLenient(schema.name, property.name)) {
      causes.push_back(RequiredValue(MemberPath(path, property.name)));
    }
  }
  for (const auto& [name, member] : value.items()) {
    const Property* property = schema.Find(name);
    if (property == nullptr || IsStatus(schema, path, name)) continue;
    if (!member.is_structured() && property->schema->enum_values.empty()) continue;
    CheckFacts(*property->schema, member, MemberPath(path, name),
               property->pointer ? Blank::kGiven : Blank::kAbsent, causes);
  }
}

}  // namespace

void CheckDeclared(const Schema& schema, const Json& value, const std::string& path, Causes& causes) {
  CheckFacts(schema, value, path, Blank::kAbsent, causes);
}

Causes ValidateBuiltin(const ResourceType& type, const Json& object, const Json* old,
                       std::string_view subresource) {
  Causes causes;
  if (type.gvk.group == "apiextensions.k8s.io") return causes;
  // Along with a status nothing else is written, and what is stored may be of before a rule.
  if (subresource != "status" && !SaysAll(type.gvk)) CheckDeclared(*type.schema, object, "", causes);
  const BuiltinCheck check{object, old, causes, subresource};
  for (const KindRow& row : kKinds) {
    if (row.group == type.gvk.group && row.kind == type.gvk.kind) {
      row.check(check);
    }
  }
  return causes;
}

}  // namespace mailroom::openapi
