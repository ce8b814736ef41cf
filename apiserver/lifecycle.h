// The controllers inside the server that keep workspaces in order, as one: they run in exactly one
// of the hubs that share a store.
#pragma once

#include <memory>
#include <string>

#include "apiserver/call.h"
#include "apiserver/front_proxy.h"

namespace mailroom::apiserver {

class Lifecycle {
 public:
  // `root_ca` (PEM) is published as kube-root-ca.crt; without it namespaces and
  // definitions are given nothing.
  static Result<std::unique_ptr<Lifecycle>> Start(const Hub& hub, const std::string& root_ca,
                                                  FrontProxy& front_proxy);
  virtual ~Lifecycle() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
