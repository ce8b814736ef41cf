// /healthz, /livez, /readyz and their single checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/call.h"

namespace mailroom::apiserver {

// The answer, or nothing when the path is no health path. Waits where reads of the engine do.
std::optional<Response> HealthAnswer(const Request& request, const RequestInfo& info,
                                     const Hub& hub);

// The paths that have such an answer.
std::vector<std::string> HealthPaths();

}  // namespace mailroom::apiserver
