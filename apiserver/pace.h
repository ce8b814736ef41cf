// How a request must be expected to go, which decides the thread that answers it.
#pragma once

namespace mailroom::apiserver {

enum class Pace {
  kAtOnce,   // on the I/O loop that brought it
  kLong,     // computes for long, but waits for nobody
  kMayWait,  // for the disk or for somebody else
};

}  // namespace mailroom::apiserver
