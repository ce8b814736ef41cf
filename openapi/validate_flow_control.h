// What decides which requests wait: the two objects of each kind that every cluster has, and the
// rules of all. Pure functions; any thread.
#pragma once

#include <string_view>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// The spec that the object of that name must have (`exempt`, `catch-all`); null for other names.
Json MandatoryFlowSpec(std::string_view kind, std::string_view name);

void CheckFlowSchema(const BuiltinCheck& check);
void CheckPriorityLevel(const BuiltinCheck& check);

}  // namespace mailroom::openapi
