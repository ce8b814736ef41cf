// Forgets history that is older than a set age, never past what this hub's cache has applied.
// Mailroom owns compaction on every engine; nothing else may compact the store.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::storage {

class Compactor {
 public:
  struct Options {
    std::chrono::seconds age;       // limits::kHistoryAge
    std::chrono::seconds interval;  // limits::kCompactionInterval
  };
  // Runs until destroyed. `store` and `cache` must outlive it.
  Compactor(Store& store, const CachedStore& cache, const Clock& clock, Options options);

  // One round: notes where the cache is now, compacts to where it was `age` ago. Returns the
  // revision compacted to, zero when there is none yet.
  Result<Revision> Step();

 private:
  struct Mark {
    std::chrono::steady_clock::time_point when;
    Revision revision;
  };
  void Run(std::stop_token stop);

  Store& store_;
  const CachedStore& cache_;
  const Clock& clock_;
  const Options options_;
  std::mutex step_mutex_;
  std::deque<Mark> marks_;  // guarded by step_mutex_; one per interval within the age
  std::mutex wait_mutex_;
  std::condition_variable_any stopping_;
  std::jthread thread_;  // last: everything it uses exists
};

}  // namespace mailroom::storage
