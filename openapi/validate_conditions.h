// Conditions as most statuses hold them (meta/v1.Condition). Pure functions; any thread.
#pragma once

#include <string>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// A list of conditions; `path` is where it stands.
void CheckConditions(const BuiltinCheck& check, const Json& conditions, const std::string& path);

}  // namespace mailroom::openapi
