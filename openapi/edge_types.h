// The hub's own kinds (workspaces, mailboxes, inventory, placements, syncer instructions). They
// are written as CustomResourceDefinitions in openapi/edge/ and behave as custom resources, but
// need no definition in the workspace: they come with its type.
#pragma once

#include <vector>

#include "openapi/catalog.h"

namespace mailroom::openapi {

// Our kinds that a workspace of `type` serves. Parsed once; any thread.
const std::vector<ResourceTypePtr>& EdgeTypes(WorkspaceType type);

}  // namespace mailroom::openapi
