// Field errors of custom resources. Pure functions.
#pragma once

#include "openapi/resource_type.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// REQUIRES: type is a definition's. `old` is null on create.
Causes ValidateCustom(const ResourceType& type, const Json& object, const Json* old);
// Of a write to the status subresource: the rest is what it was.
Causes ValidateCustomStatus(const ResourceType& type, const Json& object, const Json& old);

}  // namespace mailroom::openapi
