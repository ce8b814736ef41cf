// Checks of volumes that are objects of their own, of claims on them, and of their classes. They add
// field errors in kube-apiserver's words. Pure functions; any thread.
#pragma once

#include <string>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// Name of a CSI driver; an empty one is reported by the type facts.
void CheckDriverName(const BuiltinCheck& check, const std::string& name, const std::string& path);
// The one source of a persistent volume, or of a volume in a pod; `type` is the member it stands in.
enum class VolumeHome { kCluster, kPod };
void CheckVolumeKind(const BuiltinCheck& check, const std::string& type, const Json& source,
                     const std::string& path, VolumeHome home = VolumeHome::kCluster);

// Access modes of a volume or claim; `spec` stands at `path`.
void CheckAccessModes(const BuiltinCheck& check, const Json& spec, const std::string& path);
// The spec of a claim, also of one that is made of a template.
void CheckClaimSpec(const BuiltinCheck& check, const Json& spec, const std::string& path);

// What a StatefulSet has besides its pods, claims among it; how it and others replace pods.
void CheckStatefulSetFields(const BuiltinCheck& check);
void CheckDeploymentRollout(const BuiltinCheck& check);
void CheckDaemonSetRollout(const BuiltinCheck& check);

void CheckPersistentVolume(const BuiltinCheck& check);
void CheckStorageClass(const BuiltinCheck& check);
void CheckVolumeAttributesClass(const BuiltinCheck& check);
void CheckCsiDriver(const BuiltinCheck& check);
void CheckCsiNode(const BuiltinCheck& check);
void CheckStorageCapacity(const BuiltinCheck& check);
void CheckVolumeAttachment(const BuiltinCheck& check);

}  // namespace mailroom::openapi
