// What a `cluster` workspace has once, as a cluster does: the ConfigMap
// kube-system/extension-apiserver-authentication, from which servers of other API groups learn whom
// to believe (root has it too), and the two mandatory objects of each kind of flow control. They are put back as they
// were when somebody changes them.
#pragma once

#include "apiserver/front_proxy.h"
#include "apiserver/self_write.h"

namespace mailroom::apiserver {

// Whether the object is one of them, by its kind and name.
bool IsClusterObject(const Object& object);

Result<void> ProvideTrust(const SelfWriter& self, const WorkspaceView& workspace, const Hub& hub,
                          const FrontProxy& front_proxy);
Result<void> ProvideFlowControl(const SelfWriter& self, const WorkspaceView& workspace,
                                const Hub& hub);

}  // namespace mailroom::apiserver
