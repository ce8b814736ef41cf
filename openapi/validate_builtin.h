// The rules of built-in kinds that clients rely on, in kube-apiserver's words. One row per kind
// (validate_builtin.cc) names the checks; each is a plain function that adds field errors. The
// objects have been defaulted before. Definitions are checked by ValidateCrd (crd.h). Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/json_path.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// Where faults of no member in particular are.
inline constexpr const char* kWholeObject = "[]";
// One object under check; errors are collected in it.
struct BuiltinCheck {
  const Json& object;
  const Json* old;  // null on create
  Causes& causes;
  std::string_view subresource = "";  // that is written

  void Required(const std::string& field, std::string detail = "") const;
  void Invalid(const std::string& field, const Json& value, std::string detail) const;
  void Forbidden(const std::string& field, std::string detail) const;
  // "field is immutable" when the member at `path` differs from the old object's.
  void Immutable(Path path) const;
  // The integer at `path`, when there, must not be negative.
  void NonNegative(Path path) const;
};

Causes ValidateBuiltin(const ResourceType& type, const Json& object, const Json* old,
                       std::string_view subresource);

// Required members and enumerations by the type facts; status and metadata are passed over.
void CheckDeclared(const Schema& schema, const Json& value, const std::string& path, Causes& causes);
// The array at `path`, or an empty one.
const Json& ArrayAt(const Json& object, Path path);
// `a.b.c`
std::string DottedPath(Path path);

// A pod's spec; `path` is where it stands. Names in `extra_volumes` may be mounted, too.
void CheckPodSpec(const BuiltinCheck& check, const Json& spec, const std::string& path,
                  const std::vector<std::string>& extra_volumes = {});
// The template of a pod that stands at `path`: labels, annotations and spec.
void CheckTemplateSpec(const BuiltinCheck& check, const Json& pod, const std::string& path,
                       const std::vector<std::string>& extra_volumes = {});
// A label selector; empty ones are accepted. Values of its expressions may have to be such that
// labels could have them.
enum class SelectorValues { kAny, kChecked };
void CheckSelector(const BuiltinCheck& check, const Json& selector, const std::string& path,
                   SelectorValues values = SelectorValues::kAny);

// Checks of single kinds.
void CheckConfigMap(const BuiltinCheck& check);
void CheckSecret(const BuiltinCheck& check);
void CheckPod(const BuiltinCheck& check);
void CheckPodTemplate(const BuiltinCheck& check);
void CheckService(const BuiltinCheck& check);
void CheckServiceFields(const BuiltinCheck& check);
void CheckDeployment(const BuiltinCheck& check);
void CheckReplicaSet(const BuiltinCheck& check);
void CheckStatefulSet(const BuiltinCheck& check);
void CheckDaemonSet(const BuiltinCheck& check);
void CheckReplicationController(const BuiltinCheck& check);
void CheckJob(const BuiltinCheck& check);
void CheckCronJob(const BuiltinCheck& check);
// Counts in a written status.
void CheckDeploymentStatus(const BuiltinCheck& check);
void CheckReplicaSetStatus(const BuiltinCheck& check);
void CheckReplicationControllerStatus(const BuiltinCheck& check);
void CheckStatefulSetStatus(const BuiltinCheck& check);
void CheckDaemonSetStatus(const BuiltinCheck& check);
void CheckRole(const BuiltinCheck& check);
void CheckClusterRole(const BuiltinCheck& check);
void CheckRoleBinding(const BuiltinCheck& check);
void CheckClusterRoleBinding(const BuiltinCheck& check);
void CheckNamespaceObject(const BuiltinCheck& check);
void CheckLease(const BuiltinCheck& check);
void CheckPriorityClass(const BuiltinCheck& check);
void CheckVolumeClaim(const BuiltinCheck& check);
void CheckApiService(const BuiltinCheck& check);
void CheckIngress(const BuiltinCheck& check);
void CheckAutoscaler(const BuiltinCheck& check);
void CheckDisruptionBudget(const BuiltinCheck& check);
void CheckCoreEvent(const BuiltinCheck& check);
void CheckNewEvent(const BuiltinCheck& check);
void CheckCertificateRequest(const BuiltinCheck& check);
void CheckWebhooks(const BuiltinCheck& check);
void CheckNetworkPolicy(const BuiltinCheck& check);
void CheckResourceQuota(const BuiltinCheck& check);
void CheckLimitRange(const BuiltinCheck& check);
void CheckEndpoints(const BuiltinCheck& check);
void CheckEndpointSlice(const BuiltinCheck& check);

}  // namespace mailroom::openapi
