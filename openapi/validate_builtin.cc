#include "openapi/validate_builtin.h"

#include "openapi/crd.h"

namespace mailroom::openapi {

std::vector<Cause> ValidateBuiltin(const ResourceType& type, const Json& object, const Json* old) {
  if (type.gvk.kind == "CustomResourceDefinition") return ValidateCrd(object, old);
  return {};
}

}  // namespace mailroom::openapi
