// Keywords of schemas that say the same in both OpenAPI dialects: bounds, and Kubernetes' extensions.
// Pure functions.
#pragma once

#include "openapi/schema.h"

namespace mailroom::openapi {

// What values are allowed, but for what several schemas say together.
void WriteBounds(const Schema& schema, Json& out);
// How lists and maps merge, what is kept, what rules there are.
void WriteExtensions(const Schema& schema, Json& out);

}  // namespace mailroom::openapi
