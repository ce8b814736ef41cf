// A rate limit that allows bursts. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>

namespace mailroom::apiserver {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;
  TokenBucket(double burst, double per_second)
      : burst_(burst), per_second_(per_second), tokens_(burst) {}

  // False when the rate is exceeded.
  bool Take(Clock::time_point now) {
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  const double burst_;
  const double per_second_;
  double tokens_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace mailroom::apiserver
