// Keeps the objects that identity and rights need in step: the rules of aggregated ClusterRoles,
// the certificates of signing requests, the tokens in Secrets of service accounts.
// One thread serves all workspaces; it sleeps until such an object changes, so an idle workspace
// costs it nothing. What is payload is left alone.
#pragma once

#include <memory>

#include "apiserver/call.h"
#include "apiserver/pki.h"

namespace mailroom::apiserver {

class Registrar {
 public:
  // Syncers get certificates that are good for `syncer_validity`. `root_ca` (PEM), which goes with
  // every token, is what clients verify this server with.
  static Result<std::unique_ptr<Registrar>> Start(const Hub& hub, const KeyPair& authority,
                                                  const std::string& root_ca,
                                                  Validity syncer_validity);
  virtual ~Registrar() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
