// Keys that wait until the plan is complete, instead of asking again and again. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <utility>

#include "apiserver/client/controller.h"
#include "storage/object/limits.h"

namespace mailroom::translator {

class Parked {
 public:
  // Sets `key` aside until Release. `may_go` is asked under the lock, so that a Release between
  // the caller's own check and this call is not missed: then the key comes back soon by itself.
  template <typename MayGo>
  client::Requeue Park(const client::WorkKey& key, const MayGo& may_go) {
    std::lock_guard lock(mutex_);
    if (may_go()) return client::Requeue{limits::kSyncedCheck};
    keys_.insert(key);
    return client::Requeue{};
  }

  // Puts every key back into the queue. To be called after whatever they wait for has changed.
  void Release(client::WorkQueue& queue) {
    std::set<client::WorkKey> released;
    {
      std::lock_guard lock(mutex_);
      released.swap(keys_);
    }
    for (const client::WorkKey& key : released) queue.Add(key);
  }

 private:
  std::mutex mutex_;
  std::set<client::WorkKey> keys_;  // guarded by mutex_
};

}  // namespace mailroom::translator
