// Between the stored version of an object and the version a client asked for. Custom resources
// without a webhook, and most built-ins, differ only in apiVersion; autoscaling/v1 and
// events.k8s.io/v1 have field mappings.
#pragma once

#include <string>

#include "openapi/resource_type.h"
#include "storage/object/object.h"

namespace mailroom::apiserver {

// The object's bytes in the version of `type`.
std::string ConvertToServed(const openapi::ResourceType& type, const Object& object);
// Rewrites a tree from the version of `type` to the storage version, and back.
void ToStored(const openapi::ResourceType& type, Json& object);
void FromStored(const openapi::ResourceType& type, Json& object);

}  // namespace mailroom::apiserver
