// A watch under supervision: it counts against its user's quota, is asked from time to time
// whether the user may still see it, and reports its end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "apiserver/auth/user.h"
#include "apiserver/timer_queue.h"
#include "apiserver/worker_pool.h"
#include "storage/object/limits.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Open watches by user. Thread-safe; outlives its tickets.
class WatchQuota {
 public:
  explicit WatchQuota(std::size_t each) : each_(each) {}
  // Held while the watch is open; TooManyRequests when the user has too many. Masters are not
  // counted, and users behind a front proxy each for themselves.
  Result<std::shared_ptr<void>> Take(const User& user);

 private:
  struct Counts {
    std::mutex mutex;
    std::unordered_map<std::string, std::size_t> open;  // guarded by mutex
  };
  const std::size_t each_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

struct Oversight {
  std::shared_ptr<void> ticket = {};
  // Whether the watch may go on. Empty: never asked.
  std::function<Result<void>()> check = {};
  // Where `check` is called when it may wait: not called this time when nobody takes it. Null: by
  // the timer thread. Must outlive the stream.
  WorkerPool* checkers = nullptr;
  std::chrono::milliseconds every = limits::kWatchRecheck;
  // Called once when the stream has ended or its reader is gone.
  std::function<void()> ended = {};
};

// Ends with an error frame (in the response's media type) once `check` fails, without one when
// what was watched is no longer there.
void Oversee(Response& response, TimerQueue& timers, Oversight oversight);

}  // namespace mailroom::apiserver
