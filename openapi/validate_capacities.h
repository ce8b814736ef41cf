// How much of a device may be asked for at a time. Pure functions; any thread.
#pragma once

#include <string>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// One capacity of a device; `shared`: more than one may hold a part of it.
void CheckCapacity(const BuiltinCheck& check, const Json& capacity, bool shared,
                   const std::string& path);

}  // namespace mailroom::openapi
