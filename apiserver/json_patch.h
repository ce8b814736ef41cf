// RFC 6902 JSON patch and RFC 7386 merge patch with the API server's limits and error texts.
#pragma once

#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// 400 for an undecodable patch, 413 past the operation limit, 422 when it does not apply.
Result<Json> JsonPatch(const Json& live, const Json& operations);
Result<Json> MergePatch(const Json& live, const Json& patch);

}  // namespace mailroom::apiserver
