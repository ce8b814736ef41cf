// Keeps status.hard and status.used of every ResourceQuota of every live workspace right: counts
// again when a quota is made or its spec changes, when something that counts went away, and all
// of them from time to time. One thread for all workspaces; asleep when nothing happens.
#pragma once

#include <memory>
#include <string>

#include "openapi/catalog.h"
#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::admission {

class QuotaController {
 public:
  // The catalogue of a workspace whose quotas are live; null for any other.
  using FindCatalog = std::function<openapi::CatalogPtr(const Workspace& workspace)>;
  static Result<std::unique_ptr<QuotaController>> Start(storage::CachedStore& store,
                                                        FindCatalog find, const Clock& clock);
  virtual ~QuotaController() = default;  // stops and joins

  // Something in the namespace uses less than before. Cheap; any thread.
  virtual void Released(const Workspace& workspace, const std::string& ns) = 0;
};

}  // namespace mailroom::admission
