// How a request must be expected to go, which decides the thread that answers it, and whose turn it
// takes. Both are judged before the request is read in full, and agree with what the verbs then make
// of it: whatever is written in an unusual way is taken to wait.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/message.h"

namespace mailroom::apiserver {

struct Hub;

enum class Pace {
  kAtOnce,   // on the I/O loop that brought it
  kLong,     // computes for long, but waits for nobody
  kMayWait,  // for the disk or for somebody else
};

// Writes may wait, and so may reads of a future revision or of a remote engine; lists of a large
// workspace are long.
Pace PaceOf(const Hub& hub, const Request& request);

// The flow of all requests that name no workspace there is; no workspace has such a name.
inline constexpr std::string_view kUnknownFlow = "?";
// The workspace a request asks for, by its path alone, for sharing the server's time fairly. All
// that name none that exists are one flow, so that making up names gains nothing.
std::string FlowOf(const Hub& hub, const Request& request);

}  // namespace mailroom::apiserver
