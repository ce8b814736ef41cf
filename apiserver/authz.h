// May this user do that here. Masters may do everything; a syncer reaches its own mailbox with
// the verbs its work needs; everybody may ask for health and version; nobody else anything.
#pragma once

#include "apiserver/request_info.h"
#include "apiserver/user.h"

namespace mailroom::apiserver {

// Forbidden in kube-apiserver's words when not.
Result<void> Authorize(const User& user, const RequestInfo& info);

}  // namespace mailroom::apiserver
