// Deletion rules: what a delete does to an object, and when an object is gone.
#pragma once

#include "apiserver/call.h"
#include "apiserver/write_options.h"

namespace mailroom::apiserver {

// Of the garbage collector: let go of the dependents, or delete them first.
inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// Whether ownerReferences act in workspaces of that type. Copies in a mailbox name their owners by
// the UIDs of their source, so they do not act there.
bool CollectsGarbage(openapi::WorkspaceType type);

bool HasFinalizer(const Json& object, std::string_view finalizer);
void RemoveFinalizer(Json& object, std::string_view finalizer);

// 409 when the uid or resourceVersion precondition fails.
Result<void> CheckDeletePreconditions(const Call& call, const Object& stored,
                                      const DeleteRequest& request);
// Whether a delete removes the object at once, as can be told without its tree; when it cannot,
// MarkDeleted tells.
bool GoesAtOnce(const Call& call, const DeleteRequest& request, const Object& stored);
// Applies a delete to the object: propagation finalizers, deletionTimestamp. True when nothing
// holds the object, so that it is to be removed at once; a pod is marked all the same.
bool MarkDeleted(const Call& call, const DeleteRequest& request, Json& object);
// True when the object is being deleted and nothing holds it any more.
bool IsGone(const Call& call, const Json& object);
// Adds the removal of the object, and what goes with it, to a transaction.
void AddRemoval(const Call& call, const ResourceKey& key, const Object& stored, storage::Txn& txn);

}  // namespace mailroom::apiserver
