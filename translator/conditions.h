// Reading and writing of status.conditions lists. Pure.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/json.h"

namespace mailroom::translator {

// Whether `object`.status.conditions has `type` with status "True".
bool ConditionIsTrue(const Json& object, std::string_view type);

struct Condition {
  std::string type;
  bool status = false;
  std::string reason;
  std::string message;
};

// Puts the condition into the list at `object`.status.conditions, keeping the others. `now`
// becomes the transition time only when the status changes.
void SetCondition(Json& object, const Condition& condition, const std::string& now);

}  // namespace mailroom::translator
