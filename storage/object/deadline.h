// When a request must have been answered, and so how long any part of it may still wait.
#pragma once

#include <algorithm>
#include <chrono>

namespace mailroom {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline() = default;  // never
  explicit Deadline(Clock::time_point at) : at_(at) {}

  bool Passed() const { return at_ != Clock::time_point::max() && Clock::now() >= at_; }
  // The time left, at most `most`; nothing once it has passed.
  std::chrono::milliseconds Left(std::chrono::milliseconds most) const {
    if (at_ == Clock::time_point::max()) return most;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now());
    return std::clamp(left, std::chrono::milliseconds(0), most);
  }

 private:
  Clock::time_point at_ = Clock::time_point::max();
};

}  // namespace mailroom
