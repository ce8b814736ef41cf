// Members that belong to features which are off: a server drops them from what is written, unless
// the stored object has them already. Pure functions; any thread.
#pragma once

#include "openapi/resource_type.h"

namespace mailroom::openapi {

// `live` is null on create.
void DropDisabled(const ResourceType& type, Json& object, const Json* live);

}  // namespace mailroom::openapi
