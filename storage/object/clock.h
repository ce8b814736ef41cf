// Injectable time. Production code takes a Clock&; tests pass their own.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace mailroom {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point Now() const = 0;          // for timestamps
  virtual std::chrono::steady_clock::time_point Monotonic() const = 0;    // for deadlines
  // The process-wide real clock.
  static const Clock& Real();
};

// `2006-01-02T15:04:05Z`.
std::string FormatTime(std::chrono::system_clock::time_point time);
// `2006-01-02T15:04:05.000000Z`.
std::string FormatMicroTime(std::chrono::system_clock::time_point time);
// Seconds since the epoch, or -1 when `text` is not an RFC 3339 time.
std::int64_t ParseTime(std::string_view text);

}  // namespace mailroom
