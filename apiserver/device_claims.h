// ResourceClaims: who may allocate devices to one and tell how they are, and in which namespaces the
// devices of others may be administered. Asked where policies are live.
#pragma once

#include <vector>

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// Functions of the kinds' table.
Result<void> PrepareDeviceClaim(Call& call, Json& object, const Json* live);
std::vector<Cause> ValidateDeviceClaim(const Call& call, const Json& object, const Json* live);
std::vector<Cause> ValidateDeviceClaimTemplate(const Call& call, const Json& object, const Json* live);

}  // namespace mailroom::apiserver
