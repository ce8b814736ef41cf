// Objects that are there without being stored (KindRules::implied): reads show them beside what is
// stored, so that a workspace nobody looks into holds none of them. The first write to one stores
// it, and what is stored hides what is implied under its name. They never change while they are
// implied, so a watch that begins with the present needs them only there. Two things differ from
// stored objects: lists and watches of all workspaces do not show them, and the first write is
// ADDED to a watch whose selector it still matches and nothing to one whose selector it leaves.
#pragma once

#include "apiserver/call.h"

namespace mailroom::apiserver {

// What is stored under the key, else what is implied there, else nullptr.
ObjectPtr Present(const Hub& hub, const WorkspaceView& workspace, const openapi::ResourceType& type,
                  const ResourceKey& key);
inline ObjectPtr Present(const Call& call, const ResourceKey& key) {
  return Present(call.hub, call.workspace, *call.type, key);
}
// The revision at which the store has the object; none for an implied one.
Revision StoredRevision(const Object& present);

// As the cache lists, with what is implied.
Result<storage::CacheListResult> ListPresent(const Call& call,
                                             const storage::CacheListOptions& options);
// Adds what is implied and matches to the initial state of a watch that begins with the present.
Result<void> AddImplied(const Call& call, const storage::Filter& filter, storage::CacheWatch& watch);

}  // namespace mailroom::apiserver
