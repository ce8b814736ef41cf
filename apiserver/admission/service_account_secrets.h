// Which Secrets the pods of a ServiceAccount may mention, where it limits them; none in mirror pods.
// Pure functions; each returns why the pod is refused, or "".
#pragma once

#include <string>

#include "storage/object/json_fwd.h"

namespace mailroom::admission {

// Whether the account names all Secrets that its pods may use.
bool LimitsSecrets(const Json& account);
std::string ForbiddenSecret(const Json& account, const Json& pod);
// The same of the containers that were added to a running pod.
std::string ForbiddenLaterSecret(const Json& account, const Json& pod);
// A mirror pod shows what a node runs by itself: nothing of the API is in it.
std::string ForbiddenInMirror(const Json& pod);

}  // namespace mailroom::admission
