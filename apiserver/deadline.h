// How long a client is willing to wait: the `timeout` parameter of a request that is answered at
// once. Pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "apiserver/request_info.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Go's duration text: `1h15m30.918s`, `1.5h`, `-2us`. Nothing when it is none.
std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// The time the request may take. Absent, zero and everything above the server's own limit mean
// that limit; BadRequest when the value is no duration.
Result<std::chrono::milliseconds> ParseTimeout(const Query& query);

}  // namespace mailroom::apiserver
