// Type checking of validating policies against the kinds their rules name, for status. Pure
// functions.
#pragma once

#include "openapi/catalog.h"
#include "storage/object/json.h"

namespace mailroom::openapi {

// status.typeChecking of a ValidatingAdmissionPolicy: {} or {expressionWarnings: [...]}.
Json CheckPolicyTypes(const Json& policy, const Catalog& catalog);

}  // namespace mailroom::openapi
