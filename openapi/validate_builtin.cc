#include "openapi/validate_builtin.h"

#include <algorithm>
#include <array>

#include "openapi/validate_names.h"
#include "openapi/validate_rules.h"

namespace mailroom::openapi {
namespace {

struct KindRow {
  std::string_view group, kind;
  void (*check)(const BuiltinCheck&);
};

constexpr std::array<KindRow, 39> kKinds = {{
    {"", "ConfigMap", CheckConfigMap},
    {"", "Secret", CheckSecret},
    {"", "Pod", CheckPod},
    {"", "PodTemplate", CheckPodTemplate},
    {"", "Service", CheckService},
    {"", "Namespace", CheckNamespaceObject},
    {"", "ReplicationController", CheckReplicationController},
    {"", "ReplicationController", CheckReplicationControllerStatus},
    {"", "PersistentVolumeClaim", CheckVolumeClaim},
    {"", "Event", CheckCoreEvent},
    {"events.k8s.io", "Event", CheckNewEvent},
    {"apps", "Deployment", CheckDeployment},
    {"apps", "Deployment", CheckDeploymentStatus},
    {"apps", "ReplicaSet", CheckReplicaSet},
    {"apps", "ReplicaSet", CheckReplicaSetStatus},
    {"apps", "StatefulSet", CheckStatefulSet},
    {"apps", "StatefulSet", CheckStatefulSetStatus},
    {"apps", "DaemonSet", CheckDaemonSet},
    {"apps", "DaemonSet", CheckDaemonSetStatus},
    {"batch", "Job", CheckJob},
    {"batch", "CronJob", CheckCronJob},
    {"autoscaling", "HorizontalPodAutoscaler", CheckAutoscaler},
    {"policy", "PodDisruptionBudget", CheckDisruptionBudget},
    {"rbac.authorization.k8s.io", "Role", CheckRole},
    {"rbac.authorization.k8s.io", "ClusterRole", CheckClusterRole},
    {"rbac.authorization.k8s.io", "RoleBinding", CheckRoleBinding},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", CheckClusterRoleBinding},
    {"coordination.k8s.io", "Lease", CheckLease},
    {"scheduling.k8s.io", "PriorityClass", CheckPriorityClass},
    {"storage.k8s.io", "StorageClass", CheckStorageClass},
    {"networking.k8s.io", "Ingress", CheckIngress},
    {"apiregistration.k8s.io", "APIService", CheckApiService},
    {"certificates.k8s.io", "CertificateSigningRequest", CheckCertificateRequest},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", CheckWebhooks},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", CheckWebhooks},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", CheckValidatingPolicy},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", CheckValidatingBinding},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy", CheckMutatingPolicy},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", CheckMutatingBinding},
}};

// Members that the facts call required and the server leaves to the reader of the object, or
// that another check reports with more words.
bool IsLenient(std::string_view type, std::string_view member) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kLenient = {{
      {"core/v1.HTTPHeader", "value"},
      {"core/v1.Container", "name"},
      {"core/v1.EphemeralContainer", "name"},
      {"core/v1.VolumeMount", "name"},
      {"core/v1.VolumeMount", "mountPath"},
      {"core/v1.Volume", "name"},
      {"core/v1.Toleration", "key"},
      {"core/v1.EndpointAddress", "ip"},
      {"core/v1.TypedLocalObjectReference", "kind"},
      {"rbac/v1.RoleRef", "apiGroup"},
      {"rbac/v1.RoleRef", "kind"},
      {"rbac/v1.RoleRef", "name"},
      {"rbac/v1.Subject", "kind"},
      {"rbac/v1.Subject", "name"},
      {"networking/v1.HTTPIngressPath", "pathType"},
      {"flowcontrol/v1.LimitResponse", "type"},
      {"apiextensions/v1.CustomResourceDefinitionSpec", "scope"},
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

void CheckEnum(const Schema& schema, const Json& value, const std::string& path, Causes& causes) {
  if (schema.enum_values.empty() || !value.is_string() || value == "") return;
  std::vector<std::string> supported;
  for (const Json& allowed : schema.enum_values) {
    if (allowed == value) return;
    if (allowed != "") supported.push_back(allowed.get<std::string>());
  }
  // Some enumerations are listed in an order of their own.
  static const std::vector<std::vector<std::string>> kOrders = {
      {"Always", "OnFailure", "Never"},
      {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
      {"NoSchedule", "PreferNoSchedule", "NoExecute"},
      {"File", "FallbackToLogsOnError"},
      {"PreemptLowerPriority", "Never"},
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

void CheckDeclared(const Schema& schema, const Json& value, const std::string& path, Causes& causes) {
  if (causes.full()) return;
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckDeclared(*schema.items, value[i], ElementPath(path, i), causes);
    }
    return;
  }
  CheckEnum(schema, value, path, causes);
  if (!value.is_object() || schema.is_object_meta || schema.wire == Wire::kRaw) return;
  if (schema.additional != nullptr) {
    for (const auto& [name, member] : value.items()) {
      CheckDeclared(*schema.additional, member, EntryPath(path, name), causes);
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
    if (property == nullptr || (path.empty() && name == "status")) continue;
    if (!member.is_structured() && property->schema->enum_values.empty()) continue;
    CheckDeclared(*property->schema, member, MemberPath(path, name), causes);
  }
}

Causes ValidateBuiltin(const ResourceType& type, const Json& object, const Json* old,
                       std::string_view subresource) {
  Causes causes;
  if (type.gvk.group == "apiextensions.k8s.io") return causes;
  // Admission's own kinds say all of it themselves, in another order.
  if (type.gvk.group != "admissionregistration.k8s.io") {
    CheckDeclared(*type.schema, object, "", causes);
  }
  const BuiltinCheck check{object, old, causes, subresource};
  for (const KindRow& row : kKinds) {
    if (row.group == type.gvk.group && row.kind == type.gvk.kind) {
      row.check(check);
    }
  }
  return causes;
}

}  // namespace mailroom::openapi
