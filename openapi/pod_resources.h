// What a pod asks for as a whole. Pure functions; any thread.
#pragma once

#include <string_view>

#include "storage/object/json.h"

namespace mailroom::openapi {

// What the containers of a pod's spec need together, `list` being requests or limits: those that run side by side
// are added up, one that runs before them counts when it needs more.
Json ContainerAmounts(const Json& spec, std::string_view list);

// Default of a pod that limits its resources as a whole: it requests what its containers request,
// or else as much as the limit.
void DefaultPodAmounts(Json& pod);

}  // namespace mailroom::openapi
