// /healthz, /livez, /readyz and their single checks.
#pragma once

#include <optional>

#include "apiserver/request_info.h"

namespace mailroom::apiserver {

// The answer, or nothing when the path is no health path.
std::optional<Response> HealthAnswer(const RequestInfo& info);

}  // namespace mailroom::apiserver
