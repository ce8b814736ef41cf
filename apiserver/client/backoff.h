// Jittered exponential delays, so that many clients of a server that came back do not arrive at
// once. Stateless but for a per-thread random source.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace mailroom::client {

// Uniform in [low, high].
inline std::int64_t RandomBetween(std::int64_t low, std::int64_t high) {
  thread_local std::mt19937_64 source{std::random_device{}()};
  return std::uniform_int_distribution<std::int64_t>(low, high)(source);
}

// `first` doubled `failures` times, at most `last`; then somewhere in its upper half.
inline std::chrono::milliseconds Backoff(std::chrono::milliseconds first,
                                         std::chrono::milliseconds last, int failures) {
  const std::int64_t doubled = first.count() << std::clamp(failures, 0, 30);
  const std::int64_t whole = std::min<std::int64_t>(doubled, last.count());
  return std::chrono::milliseconds(RandomBetween((whole + 1) / 2, whole));
}

}  // namespace mailroom::client
