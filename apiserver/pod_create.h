// What a cluster fills into a pod as it is made.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// KindRules::settle. Where pods are acted on: the condition of those that wait at scheduling gates,
// selectors with the pod's own labels, profiles of AppArmor that an annotation names.
void FillPod(Call& call, Json& object, const Json* live);

}  // namespace mailroom::apiserver
