// How long a client is willing to wait: the `timeout` parameter of a request that is answered at
// once.
#pragma once

#include <chrono>
#include <string_view>

#include "apiserver/request_info.h"
#include "storage/object/deadline.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Go's duration text: `1h15m30.918s`, `1.5h`, `-2us`. BadRequest with Go's words when it is none.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// The time the request may take. Absent, zero and everything above the server's own limit mean
// that limit; BadRequest when the value is no duration.
Result<std::chrono::nanoseconds> ParseTimeout(const Query& query);

// Whether a request ends when its client wants it to, not when the server has done its part.
bool IsLongRunning(const RequestInfo& info);
// Of a request of that kind which began at `start` and may take `timeout`. Writes of single objects
// have a limit of their own below the server's.
Deadline DeadlineOf(const RequestInfo& info, Deadline::Clock::time_point start,
                    std::chrono::nanoseconds timeout);
// Timeout once the deadline has passed.
Result<void> InTime(const Deadline& deadline);

}  // namespace mailroom::apiserver
