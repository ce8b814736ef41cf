#include "storage/history_checker.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace mailroom::storage::testing {

void RecordedStream::OnChanges(const ChangeBatch& batch) {
  std::lock_guard lock(mutex_);
  batches.push_back(batch);
  reached = batch.revision;
  arrived_.notify_all();
}

void RecordedStream::OnEnd(const Status&) {
  std::lock_guard lock(mutex_);
  ended = true;
  arrived_.notify_all();
}

bool RecordedStream::WaitFor(Revision revision) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::seconds(60), [&] { return ended || reached >= revision; });
  return reached >= revision;
}

Result<TxnResult> Recorder::Commit(Store& store, Txn txn) {
  Write write;
  write.txn = txn;
  write.begin = std::chrono::steady_clock::now();
  Result<TxnResult> result = CommitAndWait(store, std::move(txn));
  write.end = std::chrono::steady_clock::now();
  write.known = result.ok();
  if (result.ok()) write.result = *result;
  std::lock_guard lock(mutex_);
  if (write.known && write.result.committed) {
    ++acknowledged_;
    acknowledgement_.notify_all();
  }
  writes_.push_back(std::move(write));
  return result;
}

bool Recorder::AwaitAcknowledged(std::size_t count, std::chrono::seconds timeout) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = acknowledged_ + count;
  return acknowledgement_.wait_for(lock, timeout, [&] { return acknowledged_ >= wanted; });
}

Result<GetResult> Recorder::Get(Store& store, const std::string& key) {
  Read read{.prefix = key, .single = true};
  read.begin = std::chrono::steady_clock::now();
  Result<GetResult> result = store.Get(key);
  read.end = std::chrono::steady_clock::now();
  if (!result.ok()) return result;
  read.revision = result->revision;
  if (result->entry) read.entries.push_back(*result->entry);
  std::lock_guard lock(mutex_);
  reads_.push_back(std::move(read));
  return result;
}

Result<ListResult> Recorder::List(Store& store, const ListOptions& options) {
  Read read{.prefix = options.prefix, .past = options.at.has_value()};
  read.begin = std::chrono::steady_clock::now();
  Result<ListResult> result = store.List(options);
  read.end = std::chrono::steady_clock::now();
  if (!result.ok() || result->more || !options.start_after.empty()) return result;
  read.revision = result->revision;
  read.entries = result->entries;
  std::lock_guard lock(mutex_);
  reads_.push_back(std::move(read));
  return result;
}

RecordedStream& Recorder::Stream(std::string prefix, Revision after) {
  std::lock_guard lock(mutex_);
  return streams_.emplace_back(std::move(prefix), after);
}

// One pass over a record.
class Judgement {
 public:
  Judgement(const Recorder& record, Revision start) : record_(record), start_(start) {}

  std::vector<std::string> Run() {
    PlaceKnownWrites();
    PlaceUnknownWrites();
    Replay();
    for (const Recorder::Write& write : record_.writes_) CheckDecision(write);
    CheckRealTime();
    for (const Recorder::Read& read : record_.reads_) CheckRead(read);
    for (const RecordedStream& stream : record_.streams_) CheckStream(stream);
    return std::move(violations_);
  }

 private:
  struct Version {
    SharedBytes value;  // null: deleted
    Revision created;
    Revision revision;
  };

  void Complain(std::string text) {
    if (violations_.size() < 50) violations_.push_back(std::move(text));
  }

  static bool HasPut(const Txn& txn) {
    return std::any_of(txn.operations.begin(), txn.operations.end(),
                       [](const Operation& each) { return each.type == Operation::Type::kPut; });
  }

  void PlaceKnownWrites() {
    for (const Recorder::Write& write : record_.writes_) {
      if (!write.known || !write.result.committed || write.txn.operations.empty()) continue;
      std::vector<const Txn*>& there = order_[write.result.revision];
      if (HasPut(write.txn) && std::any_of(there.begin(), there.end(),
                                           [](const Txn* other) { return HasPut(*other); })) {
        Complain("two transactions were given revision " + write.result.revision.ToString());
      }
      there.push_back(&write.txn);
    }
  }

  // A revision with changes that no known write explains, and the unknown writes that would.
  struct Riddle {
    Revision revision;
    std::vector<std::size_t> causes;
  };

  // What a watch shows and no known write did must be the work of a write with unknown outcome.
  // A known deletion that found nothing shares the revision of the write before it, which may be
  // such an unknown one. Each write has at most one revision, so they are matched with each other:
  // two may explain the same deletion, of which only one explains another as well.
  void PlaceUnknownWrites() {
    std::vector<const Txn*> unknown;
    for (const Recorder::Write& write : record_.writes_) {
      if (!write.known) unknown.push_back(&write.txn);
    }
    const std::vector<Riddle> riddles = Riddles(unknown);
    std::vector<std::optional<std::size_t>> solves(unknown.size());  // the riddle of each write
    std::function<bool(std::size_t, std::set<std::size_t>&)> solve =
        [&](std::size_t riddle, std::set<std::size_t>& tried) {
          for (const std::size_t cause : riddles[riddle].causes) {
            if (!tried.insert(cause).second) continue;
            if (solves[cause] && !solve(*solves[cause], tried)) continue;
            solves[cause] = riddle;
            return true;
          }
          return false;
        };
    for (std::size_t i = 0; i < riddles.size(); ++i) {
      std::set<std::size_t> tried;
      if (!solve(i, tried)) {
        Complain("a watch shows changes at " + riddles[i].revision.ToString() +
                 ", which nobody wrote");
      }
    }
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if (solves[i]) order_[riddles[*solves[i]].revision].push_back(unknown[i]);
    }
  }

  std::vector<Riddle> Riddles(const std::vector<const Txn*>& unknown) const {
    std::vector<Riddle> riddles;
    std::set<std::string> live;  // keys before the revision
    for (const auto& [revision, changes] : ChangesShown()) {
      const auto known = order_.find(revision);
      std::vector<const Change*> unexplained;
      for (const auto& [key, change] : changes) {
        const bool caused =
            known != order_.end() &&
            std::any_of(known->second.begin(), known->second.end(),
                        [&](const Txn* txn) { return Causes(*txn, *change); });
        if (!caused) unexplained.push_back(change);
      }
      if (!unexplained.empty()) {
        Riddle riddle{revision, {}};
        for (std::size_t i = 0; i < unknown.size(); ++i) {
          const bool explains =
              std::all_of(unexplained.begin(), unexplained.end(),
                          [&](const Change* change) { return Causes(*unknown[i], *change); });
          if (explains && LeavesNothing(*unknown[i], live, changes)) riddle.causes.push_back(i);
        }
        riddles.push_back(std::move(riddle));
      }
      for (const auto& [key, change] : changes) {
        if (change->type == Change::Type::kPut) {
          live.insert(key);
        } else {
          live.erase(key);
        }
      }
    }
    return riddles;
  }

  // Whether all that a deletion by prefix would find is shown as changed.
  static bool LeavesNothing(const Txn& txn, const std::set<std::string>& live,
                            const std::map<std::string, const Change*>& changes) {
    for (const Operation& each : txn.operations) {
      if (each.type != Operation::Type::kDeletePrefix) continue;
      for (auto key = live.lower_bound(each.key); key != live.end() && key->starts_with(each.key);
           ++key) {
        if (!changes.contains(*key)) return false;
      }
    }
    return true;
  }

  // What all watches together show of each revision.
  std::map<Revision, std::map<std::string, const Change*>> ChangesShown() const {
    std::map<Revision, std::map<std::string, const Change*>> shown;
    for (const RecordedStream& stream : record_.streams_) {
      for (const ChangeBatch& batch : stream.batches) {
        for (const Change& change : batch.changes) {
          shown[change.entry.mod_revision].emplace(change.entry.key, &change);
        }
      }
    }
    return shown;
  }

  static bool Causes(const Txn& txn, const Change& change) {
    return std::any_of(txn.operations.begin(), txn.operations.end(),
                       [&](const Operation& operation) { return Causes(operation, change); });
  }

  static bool Causes(const Operation& operation, const Change& change) {
    switch (operation.type) {
      case Operation::Type::kPut:
        return change.type == Change::Type::kPut && operation.key == change.entry.key &&
               change.entry.value && *operation.value == *change.entry.value;
      case Operation::Type::kDelete:
        return change.type == Change::Type::kDelete && operation.key == change.entry.key;
      case Operation::Type::kDeletePrefix:
        return change.type == Change::Type::kDelete && change.entry.key.starts_with(operation.key);
    }
    return false;
  }

  const Version* At(const std::string& key, Revision revision) const {
    auto it = versions_.find(key);
    if (it == versions_.end()) return nullptr;
    const Version* found = nullptr;
    for (const Version& version : it->second) {
      if (version.revision <= revision) found = &version;
    }
    return found && found->value ? found : nullptr;
  }

  void Set(const std::string& key, const SharedBytes& value, Revision revision) {
    const Version* before = At(key, revision);
    if (!value && !before) return;
    const Revision created = !value ? Revision() : before ? before->created : revision;
    versions_[key].push_back(Version{value, created, revision});
    changed_[revision].insert(key);
  }

  void Replay() {
    for (const auto& [revision, txns] : order_) {
      const bool puts =
          std::any_of(txns.begin(), txns.end(), [](const Txn* txn) { return HasPut(*txn); });
      for (const Txn* txn : txns) {
        // A deletion that found nothing shares the revision of the write before it.
        if (puts && !HasPut(*txn)) continue;
        for (const Operation& operation : txn->operations) {
          if (operation.type != Operation::Type::kDeletePrefix) {
            Set(operation.key, operation.value, revision);
            continue;
          }
          std::vector<std::string> keys;
          for (const auto& [key, versions] : versions_) {
            if (key.starts_with(operation.key)) keys.push_back(key);
          }
          for (const std::string& key : keys) Set(key, nullptr, revision);
        }
      }
    }
    Revision last = start_;
    for (const auto& [revision, keys] : changed_) {
      if (revision != last.Next() && NothingUnknown()) {
        Complain("revision " + revision.ToString() + " follows " + last.ToString());
      }
      last = revision;
    }
  }

  bool NothingUnknown() const {
    return std::all_of(record_.writes_.begin(), record_.writes_.end(),
                       [](const Recorder::Write& write) { return write.known; });
  }

  void CheckDecision(const Recorder::Write& write) {
    if (!write.known) return;
    const TxnResult& result = write.result;
    // A committed transaction was decided on the state before its own revision.
    const bool effective =
        result.committed && changed_.contains(result.revision) && HasPut(write.txn);
    const Revision state = effective ? Revision(result.revision.value() - 1) : result.revision;
    bool holds = true;
    for (const Compare& compare : write.txn.compares) {
      const Version* version = At(compare.key, state);
      if ((version ? version->revision : Revision()) != compare.mod_revision) holds = false;
    }
    if (write.txn.compares.empty() || (result.committed && !HasPut(write.txn))) return;
    if (holds != result.committed) {
      Complain("transaction at " + result.revision.ToString() + " on " + write.txn.compares[0].key +
               " was decided on a state that never was");
    }
    for (const KeyValue& actual : result.actual) CheckEntry("actual", actual, result.revision);
  }

  void CheckEntry(const std::string& where, const KeyValue& entry, Revision revision) {
    const Version* version = At(entry.key, revision);
    if (!version || version->revision != entry.mod_revision ||
        version->created != entry.create_revision || !entry.value ||
        *version->value != *entry.value) {
      Complain(where + ": " + entry.key + " was not so at revision " + revision.ToString());
    }
  }

  // The newest revision acknowledged before each moment.
  void CheckRealTime() {
    for (const Recorder::Write& write : record_.writes_) {
      if (write.known) acknowledged_.emplace_back(write.end, write.result.revision);
    }
    for (const Recorder::Read& read : record_.reads_) {
      if (!read.past) acknowledged_.emplace_back(read.end, read.revision);
    }
    std::sort(acknowledged_.begin(), acknowledged_.end());
    Revision highest;
    for (auto& [time, revision] : acknowledged_) highest = revision = std::max(highest, revision);
    for (const Recorder::Write& write : record_.writes_) {
      if (!write.known) continue;
      const Revision before = AcknowledgedBefore(write.begin);
      const bool effective = write.result.committed && HasPut(write.txn);
      if (write.result.revision < before || (effective && write.result.revision == before)) {
        Complain("a transaction got revision " + write.result.revision.ToString() + " after " +
                 before.ToString() + " had been acknowledged");
      }
    }
  }

  Revision AcknowledgedBefore(Recorder::Time time) const {
    auto it =
        std::lower_bound(acknowledged_.begin(), acknowledged_.end(), time,
                         [](const auto& entry, Recorder::Time at) { return entry.first < at; });
    return it == acknowledged_.begin() ? Revision() : std::prev(it)->second;
  }

  void CheckRead(const Recorder::Read& read) {
    const Revision before = AcknowledgedBefore(read.begin);
    if (!read.past && read.revision < before) {
      Complain("a read of " + read.prefix + " showed revision " + read.revision.ToString() +
               " after " + before.ToString() + " had been acknowledged");
    }
    std::set<std::string> seen;
    for (const KeyValue& entry : read.entries) {
      CheckEntry("read", entry, read.revision);
      if (!seen.insert(entry.key).second) Complain("a list shows " + entry.key + " twice");
    }
    for (const auto& [key, versions] : versions_) {
      const bool covered = read.single ? key == read.prefix : key.starts_with(read.prefix);
      if (covered && At(key, read.revision) && !seen.contains(key)) {
        Complain("a read at " + read.revision.ToString() + " misses " + key);
      }
    }
  }

  void CheckStream(const RecordedStream& stream) {
    const std::string name = "watch of " + stream.prefix + " after " + stream.after.ToString();
    std::set<std::pair<Revision, std::string>> seen;
    Revision last = stream.after, delivered = stream.after;
    for (const ChangeBatch& batch : stream.batches) {
      for (const Change& change : batch.changes) {
        const Revision revision = change.entry.mod_revision;
        if (revision < last) Complain(name + " goes back to " + revision.ToString());
        if (revision <= delivered) {
          Complain(name + " splits or repeats revision " + revision.ToString());
        }
        last = revision;
        if (!change.entry.key.starts_with(stream.prefix)) Complain(name + " shows a foreign key");
        if (!seen.emplace(revision, change.entry.key).second) {
          Complain(name + " repeats " + change.entry.key + " at " + revision.ToString());
        }
        CheckChange(name, change);
      }
      if (batch.revision < last || batch.revision < delivered) {
        Complain(name + " claims a revision below its events");
      }
      delivered = batch.revision;
    }
    for (const auto& [revision, keys] : changed_) {
      if (revision <= stream.after || revision > stream.reached) continue;
      for (const std::string& key : keys) {
        if (key.starts_with(stream.prefix) && !seen.contains({revision, key})) {
          Complain(name + " misses " + key + " at " + revision.ToString());
        }
      }
    }
  }

  void CheckChange(const std::string& name, const Change& change) {
    const Revision revision = change.entry.mod_revision;
    const std::string where = name + ", " + change.entry.key + " at " + revision.ToString();
    auto it = changed_.find(revision);
    if (it == changed_.end() || !it->second.contains(change.entry.key)) {
      Complain(where + ": no such change");
      return;
    }
    const Version* now = At(change.entry.key, revision);
    const Version* before = At(change.entry.key, Revision(revision.value() - 1));
    if ((change.type == Change::Type::kPut) != (now != nullptr)) Complain(where + ": wrong type");
    if (now && change.type == Change::Type::kPut) CheckEntry(where, change.entry, revision);
    if (before == nullptr && change.previous) Complain(where + ": previous of a new key");
    if (before && (!change.previous || change.previous->mod_revision != before->revision ||
                   !change.previous->value || *change.previous->value != *before->value)) {
      Complain(where + ": wrong previous value");
    }
  }

  const Recorder& record_;
  const Revision start_;
  std::map<Revision, std::vector<const Txn*>> order_;
  std::map<std::string, std::vector<Version>> versions_;
  std::map<Revision, std::set<std::string>> changed_;
  std::vector<std::pair<Recorder::Time, Revision>> acknowledged_;
  std::vector<std::string> violations_;
};

std::vector<std::string> Recorder::Judge(Revision start) const {
  std::lock_guard lock(mutex_);
  return Judgement(*this, start).Run();
}

}  // namespace mailroom::storage::testing
