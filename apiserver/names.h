// Identity of a new object: name and namespace against the URL, generated names, and system
// fields that a client may not set.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// For create: drops system fields, fills the namespace, checks both against the URL.
Result<void> PrepareIdentity(const Call& call, Json& object);
// For update and patch: the body must name the object of the URL.
Result<void> CheckIdentity(const Call& call, Json& object);

// The revision that an object claims to have; what is no number counts as none, and so does 0.
Revision GivenRevision(const Json& object);

bool NeedsName(const Json& object);  // no name, but a generateName
void GenerateName(Json& object);

}  // namespace mailroom::apiserver
