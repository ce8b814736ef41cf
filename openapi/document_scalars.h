// Built-in types that are a single value, such as times and amounts, as OpenAPI documents publish
// them: each once, under a name. Pure functions.
#pragma once

#include "openapi/document_schema.h"

namespace mailroom::openapi {

// The model name of such a type; "" for what is written where it stands.
std::string_view ScalarModelName(const Schema& schema);
// REQUIRES: a name from above.
Json ScalarModel(std::string_view name, Dialect dialect);

}  // namespace mailroom::openapi
