// Strategic merge patch by schema: list merge keys, $patch, $retainKeys,
// $deleteFromPrimitiveList and $setElementOrder directives. Pure.
#pragma once

#include "openapi/schema.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

Result<Json> StrategicMerge(const openapi::Schema* schema, const Json& live, const Json& patch);

}  // namespace mailroom::apiserver
