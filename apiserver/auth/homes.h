// Whose name is whose. A service account or a bootstrap token is somebody in its own workspace
// only, so its name means nothing elsewhere; other names of root's users do.
#pragma once

#include <string_view>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/auth/user.h"

namespace mailroom::apiserver {

// Home of the host cluster's own accounts, as a front proxy names them. No workspace has such a
// name. Root takes them for authenticated users without a name: its own account of that name is
// another.
inline constexpr std::string_view kHostHome = ":host";

// Whether such a name is that of a workspace's own identity, whatever follows.
inline bool IsLocalName(std::string_view name) {
  return name.starts_with(kServiceAccountPrefix) || name.starts_with(kBootstrapUserPrefix);
}

// Whether the policy of `workspace` may be about that user.
inline bool IsKnownAt(const User& user, std::string_view workspace) {
  if (user.home == workspace) return true;
  if (workspace == openapi::kRootWorkspace) return user.home == kHostHome;
  return user.home == openapi::kRootWorkspace && !IsLocalName(user.name);
}

// Whether the host cluster may be asked about that user: its own accounts and those whose names
// both go by. Root's accounts and tokens are not the host's of the same name.
inline bool IsKnownToHost(const User& user) {
  if (user.home == kHostHome) return true;
  return user.home == openapi::kRootWorkspace && !IsLocalName(user.name);
}

}  // namespace mailroom::apiserver
