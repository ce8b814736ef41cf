// Whether an applied configuration fits its schema closely enough to be merged: declared fields,
// containers and scalars of the right kind, list items that can be told apart.
#pragma once

#include <string>

#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// kube-apiserver's text (`.spec.x: field not declared in schema`, several lines when there are
// several errors), or "" when the configuration fits.
std::string CheckTyped(const openapi::Schema* schema, const Json& config);

// A value as Go's %v prints decoded JSON: map[a:1 b:[x y]], <nil>.
std::string GoText(const Json& value);

}  // namespace mailroom::apiserver
