// Tolerations of pods: those that every pod gets, and two lists made one.
#pragma once

#include "storage/object/json.h"

namespace mailroom::admission {

// `first`, then those of `second` that say more; one that another includes is left out.
Json MergeTolerations(const Json& first, const Json& second);

}  // namespace mailroom::admission
