// The parts of a Service that hang together: addresses, ports of nodes, and what only some types have.
// Nothing is allocated here; what is there is kept and followed.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// For KindRules: where services are acted on, what an update leaves out, though it is set once and for
// all, is kept, and the list of addresses follows the single one; elsewhere nothing was allocated, and
// what is left out is gone. What the new type has no use for goes everywhere.
void SettleService(Call& call, Json& object, const Json* live);

// Takes out of `object` what its type has no use for and that of `live` had, unless the update changes
// that, too, and is to be told so.
void DropMembersOfOldType(const Json& live, Json& object);

}  // namespace mailroom::apiserver
