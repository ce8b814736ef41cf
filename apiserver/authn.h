// Who is asking: the user behind a verified client certificate, or nobody in particular.
#pragma once

#include "apiserver/user.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

inline constexpr std::string_view kMasters = "system:masters";
// Group of syncer certificates; their common name is `system:syncer:<mailbox workspace>`.
inline constexpr std::string_view kSyncers = "system:mailroom:syncers";
inline constexpr std::string_view kSyncerPrefix = "system:syncer:";

// Unauthorized for a presented credential that does not hold; anonymous when none was presented.
Result<User> Authenticate(const Request& request);

}  // namespace mailroom::apiserver
