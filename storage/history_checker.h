// A judge of what clients of a Store saw. Clients call through a Recorder, watches go through a
// RecordedStream; Judge then replays the acknowledged transactions in the order of their
// revisions and reports everything that does not fit:
//
//   durable        every acknowledged write is there or superseded
//   linearizable   a call sees all that was acknowledged before it began, in one order per store
//   conditional    compares were decided on the state right before the transaction
//   watch          filtered, ordered, unique, complete, atomic per revision, with true previous
//                  values and creation revisions
//
// A write whose outcome is unknown may have happened or not; it counts as happened when a watch
// shows it. Values written must be unique. Thread-safe while recording.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "storage/store.h"

namespace mailroom::storage::testing {

class RecordedStream final : public ChangeSink {
 public:
  RecordedStream(std::string of, Revision from)
      : prefix(std::move(of)), after(from), reached(from) {}
  void OnChanges(const ChangeBatch& batch) override;
  void OnEnd(const Status& why) override;
  // Waits until everything up to `revision` came or the watch ended.
  bool WaitFor(Revision revision);

  const std::string prefix;
  const Revision after;
  // Read these when the watch is over.
  std::vector<ChangeBatch> batches;
  Revision reached;
  bool ended = false;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
};

class Recorder {
 public:
  Result<TxnResult> Commit(Store& store, Txn txn);
  Result<GetResult> Get(Store& store, const std::string& key);
  Result<ListResult> List(Store& store, const ListOptions& options);
  RecordedStream& Stream(std::string prefix, Revision after);
  // Waits until `count` more writes were acknowledged; false when that does not happen in time.
  bool AwaitAcknowledged(std::size_t count, std::chrono::seconds timeout);

  // What is wrong, in words; empty when nothing is. `start` is the store's revision before the
  // first recorded call, when it was empty.
  std::vector<std::string> Judge(Revision start) const;

 private:
  friend class Judgement;
  using Time = std::chrono::steady_clock::time_point;
  struct Write {
    Txn txn;
    Time begin, end;
    bool known = false;
    TxnResult result;
  };
  struct Read {
    std::string prefix = {};  // of a list, or the key of a get
    bool single = false;
    bool past = false;  // at a revision that was asked for
    Time begin = {}, end = {};
    Revision revision = {};
    std::vector<KeyValue> entries = {};
  };

  mutable std::mutex mutex_;
  std::condition_variable acknowledgement_;
  std::size_t acknowledged_ = 0;  // this and the rest guarded by mutex_
  std::vector<Write> writes_;
  std::vector<Read> reads_;
  std::list<RecordedStream> streams_;
};

}  // namespace mailroom::storage::testing
