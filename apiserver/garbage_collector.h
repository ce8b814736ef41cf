// Acts on ownerReferences in every workspace whose type collects garbage: deletes objects whose
// owners are all gone, deletes dependents before an owner that is deleted in the foreground, and
// makes dependents forget an owner that is deleted with the orphan policy. One for all
// workspaces; it is told only of objects that have owners, are named as one, or are held by one
// of its finalizers.
#pragma once

#include <memory>

#include "apiserver/call.h"

namespace mailroom::apiserver {

class GarbageCollector {
 public:
  static Result<std::unique_ptr<GarbageCollector>> Start(const Hub& hub);
  virtual ~GarbageCollector() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
