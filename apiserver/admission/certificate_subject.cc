#include <algorithm>

#include "apiserver/admission/plugins.h"
#include "apiserver/pki.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {

Result<void> CheckCertificateSubject(const PluginCall& call, const Json& request) {
  constexpr const char* kSigner = "kubernetes.io/kube-apiserver-client";
  if (!call.creates() || StringAt(request, {"spec", "signerName"}) != kSigner) return Ok();
  const auto pem = openapi::DecodeBase64(StringAt(request, {"spec", "request"}));
  const auto facts = apiserver::ReadSigningRequest(pem.value_or(""));
  if (!facts.ok()) return Ok();  // validation has refused it
  const auto& groups = facts->organizations;
  if (std::find(groups.begin(), groups.end(), "system:masters") == groups.end()) return Ok();
  return Refuse(call.attributes, "use of " + std::string(kSigner) +
                                     " signer with system:masters group is not allowed");
}

}  // namespace mailroom::admission
