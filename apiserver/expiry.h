// Deletes objects whose time is over: Events after an hour, signing requests some time after they
// were decided (or after a day without a decision), bootstrap tokens past their expiration, join
// tokens with their mailbox. One for all workspaces; it sleeps until the next one is due.
#pragma once

#include <memory>
#include <optional>

#include "apiserver/call.h"

namespace mailroom::apiserver {

// When an object of that resource is to go, in seconds since the epoch; nothing when it stays. The
// kind alone says nothing: anybody may define an Event of their own.
std::optional<std::int64_t> ExpiryOf(const GroupResource& resource, const Object& object);

class Expiry {
 public:
  static Result<std::unique_ptr<Expiry>> Start(const Hub& hub);
  virtual ~Expiry() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
