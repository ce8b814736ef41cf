// HorizontalPodAutoscalers between autoscaling/v1 and v2, in which they are stored. What v1 has no
// members for is carried by annotations, in the form clients of v1 know, so that it survives a
// write through v1.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// Members of a v1 object become those of v2, and back. The object may be of any shape.
void AutoscalerToV2(Json& object);
void AutoscalerToV1(Json& object);
// Gives an object about to be written through v1 the form a read would have. Annotations that carry
// a part of the object which the endpoint does not write are those of `live`.
Result<void> PrepareAutoscaler(Call& call, Json& object, const Json* live);

}  // namespace mailroom::apiserver
