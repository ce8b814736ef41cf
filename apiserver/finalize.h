// Deletion rules: what a delete does to an object, and when an object is gone.
#pragma once

#include "apiserver/call.h"
#include "apiserver/write_options.h"

namespace mailroom::apiserver {

// 409 when the uid or resourceVersion precondition fails.
Result<void> CheckDeletePreconditions(const Call& call, const Object& stored,
                                      const DeleteRequest& request);
// Applies a delete to the object: propagation finalizers, deletionTimestamp. True when nothing
// holds the object, so that it is to be removed at once.
bool MarkDeleted(const Call& call, const DeleteRequest& request, Json& object);
// True when the object is being deleted and nothing holds it any more.
bool IsGone(const Call& call, const Json& object);
// Adds the removal of the object, and what goes with it, to a transaction.
void AddRemoval(const Call& call, const ResourceKey& key, const Object& stored, storage::Txn& txn);

}  // namespace mailroom::apiserver
