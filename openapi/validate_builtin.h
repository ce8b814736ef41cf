// The rules of built-in kinds that clients rely on. Checks are plain functions, one row per kind
// (validate_builtin.cc), each adding its field errors. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/status.h"

namespace mailroom::openapi {

struct BuiltinCheck {
  const Json& object;
  const Json* old;  // null on create
  std::vector<Cause>& causes;
};

std::vector<Cause> ValidateBuiltin(const ResourceType& type, const Json& object, const Json* old);

// Required members and enumerations by the type facts.
void CheckDeclared(const Schema& schema, const Json& value, const std::string& path,
                   std::vector<Cause>& causes);

}  // namespace mailroom::openapi
