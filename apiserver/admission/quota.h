// ResourceQuota at admission: what a write would use is added to status.used of every quota of
// its namespace that counts it, in the very transaction that stores the object, so no two writes
// can share the last of a resource. Deletions are counted off by the quota controller.
#pragma once

#include "apiserver/admission/attributes.h"
#include "storage/cached_store.h"

namespace mailroom::admission {

inline const GroupResource kQuotas{"", "resourcequotas"};

// Adds the charges to `txn`; true when there are any. Forbidden, in kube-apiserver's words, when
// a quota would be exceeded. `now` in seconds since the epoch.
Result<bool> ChargeQuotas(const storage::CachedStore& store, const Attributes& attributes,
                          const Json& object, std::int64_t now, storage::Txn& txn);

// The status a quota should have: what its scopes hold at this moment. `catalog` names the kinds
// of the workspace.
Json CountQuota(const storage::CachedStore& store, const Workspace& workspace,
                const openapi::Catalog& catalog, const Json& quota, std::int64_t now);

}  // namespace mailroom::admission
