// Gives every namespace what Kubernetes gives it, where policy objects act: the ServiceAccount
// `default`, the ConfigMap `kube-root-ca.crt`, and in the `default` namespace of a `cluster`
// workspace the Service `kubernetes` with its endpoints; also what such a workspace has once, and
// of that to root what servers of other API groups need (cluster_objects.h). Puts them back when
// they are taken away, and removes token Secrets whose ServiceAccount is gone. One for all
// workspaces.
#pragma once

#include <memory>
#include <string>

#include "apiserver/call.h"
#include "apiserver/front_proxy.h"

namespace mailroom::apiserver {

class Furnisher {
 public:
  // `root_ca` (PEM) is what clients verify this server with. `front_proxy` must outlive it.
  static Result<std::unique_ptr<Furnisher>> Start(const Hub& hub, std::string root_ca,
                                                  FrontProxy& front_proxy);
  virtual ~Furnisher() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
