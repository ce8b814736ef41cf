// What a changed object says of the one it was made from, which must still be so.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// Its UID, its resourceVersion when it names one, and its time of deletion.
Result<void> CheckPreconditions(const Call& call, const Json& live, const Json& object);

}  // namespace mailroom::apiserver
