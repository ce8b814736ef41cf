// Between the stored version of an object and the version a client asked for. Most built-ins
// differ only in apiVersion; autoscaling/v1 and events.k8s.io/v1 have field mappings. A custom
// resource is converted by its definition's webhook, or keeps what both versions declare.
#pragma once

#include <string>

#include "apiserver/call.h"
#include "openapi/resource_type.h"
#include "storage/object/object.h"

namespace mailroom::apiserver {

// The object's bytes in the version of `type`.
std::string ConvertToServed(const openapi::ResourceType& type, const Object& object);
// Rewrites a tree of a built-in kind from the version of `type` to the storage version, and back.
void ToStored(const openapi::ResourceType& type, Json& object);
void FromStored(const openapi::ResourceType& type, Json& object);
// The tree in the version of `to`, whichever served version it is in; may wait for a webhook.
Result<Json> ConvertTo(const Call& call, const openapi::ResourceType& to, Json object);
// Whether the tree, of the call's type, is stored as it is.
bool HasStoredForm(const Call& call, const Json& object);
// The tree, of the call's type, as it is to be stored.
Result<Json> Stored(const Call& call, Json object);

}  // namespace mailroom::apiserver
