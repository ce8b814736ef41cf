// CertificateSigningRequests: what the server fills in, who may decide about one, and which the hub
// decides and signs by itself. That is, a syncer's: for its own mailbox only, asked for with a join
// token of that mailbox or with the certificate that is to be renewed.
#pragma once

#include <optional>

#include "apiserver/call.h"
#include "apiserver/pki.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

inline const GroupResource kSigningRequestsResource{"certificates.k8s.io",
                                                    "certificatesigningrequests"};
inline constexpr std::string_view kSyncerSigner = "mailbox.kubestellar.io/syncer-client";
inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";

// Functions of the kinds' table.
Result<void> PrepareSigningRequest(Call& call, Json& object, const Json* live);
std::vector<Cause> ValidateSigningRequest(const Call& call, const Json& object, const Json* live);
// A join token is spent on the request it makes, in the same transaction: there is no second one.
Result<void> SpendJoinToken(const Call& call, const Json& object, storage::Txn& txn);

// What the hub does about a request as it stands.
struct SigningStep {
  enum class Kind { kNone, kApprove, kSign, kFail };
  Kind kind = Kind::kNone;
  std::string message = {};  // kApprove, kFail
};
SigningStep NextSigningStep(const Hub& hub, const Workspace& workspace, const Json& request);

// The certificate of an approved request, PEM. A syncer's is good for at most `syncer_validity`.
Result<std::string> CertificateFor(const KeyPair& authority, const Json& request,
                                   Validity syncer_validity);

}  // namespace mailroom::apiserver
