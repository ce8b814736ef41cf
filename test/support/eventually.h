// Waiting for what a server does in the background: by asking until it is so, with a bound that
// only a failure reaches.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace mailroom {

inline bool Eventually(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace mailroom
