// Custom resources as their definition now has them. An object written before the definition last
// changed may lack new defaults or hold members that are no longer declared: reads give it the
// former and drop the latter; what is stored changes with the next write only.
#pragma once

#include "apiserver/call.h"

namespace mailroom::apiserver {

class Settler {
 public:
  explicit Settler(const Call& call);
  // The object itself when it was written under the present definition.
  ObjectPtr operator()(ObjectPtr object) const;

 private:
  openapi::ResourceTypePtr type_;
  Revision changed_ = {};  // of the definition; none: nothing to settle
};

}  // namespace mailroom::apiserver
