#include "openapi/validate.h"

#include "openapi/validate_builtin.h"
#include "openapi/validate_custom.h"

namespace mailroom::openapi {

Causes ValidateObject(const ResourceType& type, const Json& object, const Json* old,
                      std::string_view subresource) {
  if (type.schema == nullptr) return {};
  if (type.builtin) return ValidateBuiltin(type, object, old, subresource);
  if (subresource == "status" && old != nullptr) return ValidateCustomStatus(type, object, *old);
  return ValidateCustom(type, object, old);
}

}  // namespace mailroom::openapi
