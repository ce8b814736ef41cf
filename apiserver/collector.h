// Finishes deletions that outlive their request: the contents of a Terminating namespace, the
// objects of a CRD being deleted. One for all workspaces; it is told only of objects that are
// marked as deleted, so an idle workspace costs it nothing.
#pragma once

#include <memory>

#include "apiserver/call.h"

namespace mailroom::apiserver {

class Collector {
 public:
  static Result<std::unique_ptr<Collector>> Start(const Hub& hub);
  virtual ~Collector() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
