// Bootstrap tokens: `<id>.<secret>`, kept in Secrets `bootstrap-token-<id>` of kube-system. A token
// is somebody only in the workspace that holds its Secret. One with a `mailbox` entry is a join
// token: it lets its holder ask for the certificate of that mailbox's syncer, once and today.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/auth/user.h"
#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::apiserver {

inline constexpr std::string_view kBootstrapUserPrefix = "system:bootstrap:";
inline constexpr std::string_view kBootstrapSecretPrefix = "bootstrap-token-";
inline constexpr std::string_view kBootstrapSecretType = "bootstrap.kubernetes.io/token";

// In a join token's Secret, once used: the signing request it was used for, in base64.
inline constexpr std::string_view kSpentEntry = "spent";

bool LooksLikeBootstrapToken(std::string_view token);

// The user of the token, Unauthorized when it does not hold. REQUIRES: policy of the workspace is
// live (elsewhere Secrets are payload).
Result<User> VerifyBootstrapToken(const storage::CachedStore& store, const Clock& clock,
                                  std::string_view workspace, std::string_view token);

// The mailbox of the join token `id`, which was spent on the signing request `request`; "" when it
// was not, or is good no longer.
std::string MailboxJoinedBy(const storage::CachedStore& store, const Clock& clock,
                            std::string_view workspace, std::string_view request,
                            std::string_view id);

}  // namespace mailroom::apiserver
