// What the calling thread has computed so far: bounds on that hold however busy the machine is.
#pragma once

#include <chrono>
#include <ctime>

namespace mailroom {

inline std::chrono::nanoseconds ThreadCpu() {
  std::timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace mailroom
