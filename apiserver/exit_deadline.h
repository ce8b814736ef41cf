// The last resort of a process that is asked to stop: whatever hangs, it ends in time.
#pragma once

#include <chrono>
#include <thread>

namespace mailroom::apiserver {

// Unless it is destroyed within `grace`, the process ends at once with status 1, as if it had
// crashed: what was acknowledged is on disk, what was not is lost.
class ExitDeadline {
 public:
  explicit ExitDeadline(std::chrono::milliseconds grace);

 private:
  std::jthread thread_;
};

}  // namespace mailroom::apiserver
