// Store: conditional writes and revisioned reads over an ordered key space, with a watch from
// any retained revision. Two engines implement it (embedded_store, etcd_store) and one contract
// suite judges both. All methods are thread-safe.
//
// Promises: a committed transaction is durable before it is acknowledged; revisions grow by one
// per committed transaction that changes anything; a watch delivers every change once, in
// revision order, with previous values, and all changes of one revision in one batch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/object/ids.h"
#include "storage/object/object.h"
#include "storage/object/result.h"

namespace mailroom::storage {

struct KeyValue {
  std::string key = {};
  SharedBytes value = {};
  Revision create_revision = {};
  Revision mod_revision = {};
};

struct GetResult {
  std::optional<KeyValue> entry = {};
  Revision revision = {};  // of the store when read
};

struct ListOptions {
  std::string prefix = {};          // keys that start with this
  std::string start_after = {};     // and are greater than this, when not empty
  std::size_t limit = 0;            // 0: all
  std::optional<Revision> at = {};  // a retained past revision; Expired when compacted
};

struct ListResult {
  std::vector<KeyValue> entries = {};  // in key order
  Revision revision = {};              // the revision the list reflects
  bool more = false;                   // entries beyond `limit` exist
};

// The transaction commits only if every compare holds.
struct Compare {
  std::string key = {};
  Revision mod_revision = {};  // Revision() : the key must not exist
};

struct Operation {
  enum class Type { kPut, kDelete, kDeletePrefix };
  Type type = Type::kPut;
  std::string key = {};
  SharedBytes value = {};  // kPut only
};

struct Txn {
  std::vector<Compare> compares = {};
  std::vector<Operation> operations = {};
  bool waits = false;  // the caller waits anyway, so its thread may do the work
};

struct TxnResult {
  bool committed = false;
  Revision revision = {};  // of the commit, or of the store when compares failed
  // When not committed: the current entries of the compared keys that exist.
  std::vector<KeyValue> actual = {};
};

struct Change {
  enum class Type { kPut, kDelete };
  Type type = Type::kPut;
  KeyValue entry = {};                    // kDelete: key and mod_revision (of the deletion) only
  std::optional<KeyValue> previous = {};  // absent on creation
};

// Changes of one or more consecutive revisions, in order.
struct ChangeBatch {
  std::vector<Change> changes = {};
  Revision revision = {};  // everything up to and including this has been delivered
};

// Receives a watch. Called from one thread at a time; must not call back into the store.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  virtual void OnChanges(const ChangeBatch& batch) = 0;
  // A sink that keeps the state itself says false; `previous` then has no value, or is absent.
  virtual bool WantsPreviousValues() const { return true; }
  // The watch ended: Expired when its position was compacted, otherwise a failure that the
  // engine could not bridge. The sink must list again and open a new watch.
  virtual void OnEnd(const Status& why) = 0;
};

// Ends the watch when destroyed; no callback runs after the destructor returns.
class WatchHandle {
 public:
  virtual ~WatchHandle() = default;
};

class Store {
 public:
  using CommitDone = std::function<void(Result<TxnResult>)>;

  virtual ~Store() = default;
  virtual Result<GetResult> Get(const std::string& key) = 0;
  virtual Result<ListResult> List(const ListOptions& options) = 0;
  // Asynchronous so that many writers share one flush. `done` runs once, on a store thread (or
  // on the caller's, when the transaction is refused at once or `waits`), and must be short. By
  // then every open watch of the embedded engine has been given the change.
  virtual void Commit(Txn txn, CommitDone done) = 0;
  // Changes with revision > `after` of keys under `prefix`.
  virtual Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                                     ChangeSink& sink) = 0;
  // Forgets history before `at`: reads and watches below it answer Expired.
  virtual Result<void> Compact(Revision at) = 0;
  virtual Result<Revision> CurrentRevision() = 0;
  // Stops accepting work, finishes what was accepted, flushes. Idempotent.
  virtual void Close() = 0;
};

// Blocks until the transaction is decided.
Result<TxnResult> CommitAndWait(Store& store, Txn txn);

}  // namespace mailroom::storage
