// Asks the engine for its revision on behalf of everybody who waits: a caller is answered by a
// question that was put after its call, and at most one question is under way. Thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "storage/store.h"

namespace mailroom::storage {

class SharedProbe {
 public:
  explicit SharedProbe(Store& store) : store_(store) {}
  // A revision that the engine had reached at some moment after the call began, or later.
  Result<Revision> Ask();

 private:
  Store& store_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::uint64_t started_ = 0;  // this and the rest guarded by mutex_
  std::uint64_t finished_ = 0;
  std::optional<Result<Revision>> answer_;  // of question `finished_`
};

}  // namespace mailroom::storage
