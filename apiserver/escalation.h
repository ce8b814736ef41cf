// Nobody grants more than they hold: writing a role needs its rules or the verb `escalate`,
// writing a binding (or a WorkspaceAccess, or a Workspace's access, or a label by which one selects
// it) the rules of its role, held where they are granted, or the verb `bind`. Functions of the
// kinds' table; they say nothing where such objects are payload.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

Result<void> MayWriteRole(Call& call, Json& object, const Json* live);
Result<void> MayWriteBinding(Call& call, Json& object, const Json* live);
Result<void> MayWriteAccess(Call& call, Json& object, const Json* live);
// For the Workspace object's spec.access; an unchanged one may stay.
Result<void> MayOpenWorkspace(Call& call, const Json& object, const Json* live);
// For the Workspace object's labels; those by which no further grant covers it are free.
Result<void> MayLabelWorkspace(Call& call, const Json& object, const Json* live);

}  // namespace mailroom::apiserver
