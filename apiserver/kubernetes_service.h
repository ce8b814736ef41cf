// The service by which a cluster's own clients find its API server, and what kube-apiserver keeps
// beside it: Endpoints, EndpointSlice, the range services get addresses from and the address taken.
#pragma once

#include "apiserver/self_write.h"

namespace mailroom::apiserver {

bool IsOfKubernetesService(const Object& object);

// Makes what is missing of it in a workspace that is a cluster.
Result<void> ProvideKubernetesService(const SelfWriter& self, const WorkspaceView& workspace,
                                      const Hub& hub);

}  // namespace mailroom::apiserver
