// Custom resources as their definition now has them, in the version that was asked for. An object
// written before the definition last changed may lack new defaults or hold members that are no
// longer declared: reads give it the former and drop the latter. One stored in another version is
// converted. What is stored changes with the next write only.
#pragma once

#include <vector>

#include "apiserver/call.h"

namespace mailroom::apiserver {

class Settler {
 public:
  explicit Settler(const Call& call);

  // True when objects stored in another version are converted by a webhook.
  bool asks() const { return type_->conversion != nullptr && conversions_ != nullptr; }
  // True when this object has to be.
  bool Waits(const Object& object) const;

  // Null for null. May wait for a webhook.
  Result<ObjectPtr> operator()(ObjectPtr object) const;
  // The same for many; may answer by memory.
  Result<void> All(std::vector<ObjectPtr>& objects) const;
  Result<void> All(std::vector<storage::Entry>& entries) const;
  // Without waiting: an object that needs a webhook stays in its version.
  ObjectPtr Now(ObjectPtr object) const;

 private:
  openapi::ResourceTypePtr type_;
  Workspace workspace_;
  Conversions* conversions_;
  Revision changed_ = {};  // of the definition; none: nothing to settle
};

}  // namespace mailroom::apiserver
