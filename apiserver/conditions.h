// Entries of status.conditions, one of each type.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/json.h"

namespace mailroom::apiserver {

// The condition of that type; null when there is none.
const Json* ConditionOf(const Json& object, std::string_view type);

// Puts a condition into status.conditions in place of the one of its type. The time of transition
// is kept while the status stays the same.
void SetCondition(Json& object, Json condition, const std::string& now);

}  // namespace mailroom::apiserver
