// How a thread waits for work. What it has freed lately it keeps for itself, as allocators do; a thread
// that waits for long returns that first. Otherwise the few pieces that many idle threads keep hold
// the pages of all that a large removal freed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>

#include "storage/object/process_memory.h"

namespace mailroom {

inline constexpr std::chrono::seconds kUntilRest{20};

// Of the calling thread: whether it has done anything since it returned what it had.
bool& HasWorked();

using RestTime = std::chrono::steady_clock::time_point;

// Waits for a notification, or until `end`; may return without either.
template <typename Condition, typename Lock>
void WaitAtRest(Condition& condition, Lock& lock, RestTime end = RestTime::max()) {
  if (HasWorked() && end > std::chrono::steady_clock::now() + kUntilRest) {
    if (condition.wait_for(lock, kUntilRest) == std::cv_status::no_timeout) return;
    lock.unlock();
    ReturnOwnFreed();
    HasWorked() = false;
    lock.lock();
    return;
  }
  if (end == RestTime::max()) {
    condition.wait(lock);
  } else {
    condition.wait_until(lock, end);
  }
  HasWorked() = true;
}

// Waits until `ready`, until `end`, or until a stop is asked for; returns the first.
template <typename Lock, typename Ready>
bool WaitAtRest(std::condition_variable_any& condition, Lock& lock, std::stop_token stop, Ready ready,
                RestTime end = RestTime::max()) {
  if (HasWorked() && end > std::chrono::steady_clock::now() + kUntilRest) {
    if (condition.wait_for(lock, stop, kUntilRest, ready)) return true;
    if (stop.stop_requested()) return false;
    lock.unlock();
    ReturnOwnFreed();
    HasWorked() = false;
    lock.lock();
  }
  const bool found = end == RestTime::max() ? condition.wait(lock, stop, ready)
                                            : condition.wait_until(lock, stop, end, ready);
  HasWorked() = true;
  return found;
}

}  // namespace mailroom
