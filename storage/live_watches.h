// The open watches of the embedded engine. The committer delivers each flushed batch to all of
// them; a new one joins between two batches. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage/store.h"

namespace mailroom::storage {

class LiveWatches {
 public:
  // Before the first batch: everything up to `delivered` is history.
  explicit LiveWatches(Revision delivered);

  // Everything up to this has been given to the watches that were open.
  Revision delivered() const;
  // Gives the open watches what `make` returns, or ends them with its error; either way
  // everything up to `revision` is then history. `make` is told whether some watch needs the
  // values of previous versions; no watch joins between that question and the delivery.
  void Deliver(Revision revision,
               const std::function<Result<ChangeBatch>(bool previous_values)>& make);
  // Runs `catch_up` with the last delivered revision while no batch is delivered; when it
  // succeeds, the watch is open from there on.
  Result<std::unique_ptr<WatchHandle>> Join(
      const std::string& prefix, Revision after, ChangeSink& sink,
      const std::function<Result<void>(Revision delivered)>& catch_up);
  // Ends all watches and refuses new ones.
  void End(const Status& why);

 private:
  struct Open {
    std::string prefix;
    Revision after;
    ChangeSink* sink;
  };
  // Shared with the handles, which may outlive the engine.
  struct State {
    void EndAll(const Status& why);  // with the mutex held

    std::mutex mutex;
    std::map<std::uint64_t, Open> open;  // this and the rest guarded by mutex
    std::uint64_t next_id = 0;
    Revision delivered;
    bool ended = false;
  };
  class Handle;

  std::shared_ptr<State> state_;
};

// Gives `sink` the part of `batch` that a watch of `prefix` from `after` is to see.
void DeliverSelected(const ChangeBatch& batch, const std::string& prefix, Revision after,
                     ChangeSink& sink);

}  // namespace mailroom::storage
