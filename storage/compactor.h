// Forgets history that is older than a set age, never past what this hub's cache has applied, and
// lets no page of a list get older. While nobody writes it moves the revision itself, as
// kube-apiserver's does, so that what is old can be told from what is new.
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
    std::chrono::milliseconds age;       // limits::kHistoryAge
    std::chrono::milliseconds interval;  // limits::kCompactionInterval
  };
  // Runs until destroyed. `store` and `cache` must outlive it.
  Compactor(Store& store, CachedStore& cache, const Clock& clock, Options options);

  // One round: notes where the cache is now, compacts to where it was `age` ago. Moves on first when
  // nothing happened since the round before. Returns the revision compacted to, zero when there is
  // none yet.
  Result<Revision> Step();

 private:
  struct Mark {
    std::chrono::steady_clock::time_point when;
    Revision revision;
  };
  void Run(std::stop_token stop);
  // Writes the mark, in the same place every time: it costs the store one small entry.
  Result<void> Move();

  Store& store_;
  CachedStore& cache_;
  const Clock& clock_;
  const Options options_;
  std::mutex step_mutex_;
  std::deque<Mark> marks_;  // guarded by step_mutex_; one per interval within the age
  Revision last_;           // likewise; of the round before
  std::mutex wait_mutex_;
  std::condition_variable_any stopping_;
  std::jthread thread_;  // last: everything it uses exists
};

}  // namespace mailroom::storage
