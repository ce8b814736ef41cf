// What is wrong with a number of a custom resource: out of bounds, or of the range its type has.
// Pure functions.
#pragma once

#include <string>

#include "openapi/schema.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// `path` is where the value stands. REQUIRES: value is a number.
Causes CheckNumber(const Schema& schema, const Json& value, const std::string& path);

}  // namespace mailroom::openapi
