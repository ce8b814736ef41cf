// LimitRange: default requests and limits of containers, and bounds of containers, pods and
// volume claims. Pure functions over the LimitRanges of a namespace.
#pragma once

#include "apiserver/admission/attributes.h"

namespace mailroom::admission {

// Whether limit ranges have a say about this write.
bool LimitsApply(const Attributes& attributes);
// Fills in what a pod's containers leave open; true when something was.
bool ApplyLimitDefaults(const Json& limit_range, Json& pod);
// The problems joined as Go joins them, or "".
std::string CheckLimits(const Json& limit_range, const openapi::ResourceType& type,
                        const Json& object);

}  // namespace mailroom::admission
