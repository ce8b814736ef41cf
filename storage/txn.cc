#include "storage/txn.h"

#include <set>
#include <string_view>

#include "storage/object/resource_key.h"

namespace mailroom::storage {
namespace {

constexpr std::size_t kMaxChanges = (std::size_t{1} << limits::kTxnChangesBits) - 1;

Revision CurrentRevisionOf(const RevisionMap& map, const std::string& key) {
  const Version* version = map.Newest(key);
  return version ? version->revision() : Revision();
}

// The keys that existed at any time up to `revision`, flushed or not, under `prefix`.
std::vector<std::string> KeysUnder(const RevisionMap& map, const std::string& prefix,
                                   Revision revision) {
  std::vector<std::string> keys;
  map.Visit(prefix, PrefixEnd(prefix), revision, [&](const std::string& key, const Version&) {
    keys.push_back(key);
    return true;
  });
  return keys;
}

}  // namespace

void Changes::Add(LogRow row, std::optional<Version> replaced) {
  rows.push_back(std::move(row));
  previous.push_back(replaced);
}

void Changes::Truncate(std::size_t count) {
  rows.resize(count);
  previous.resize(count);
}

Result<ChangeBatch> MakeBatch(ChangeLog& log, Changes changes, bool previous_values) {
  ChangeBatch batch;
  batch.revision = changes.rows.back().position.revision();
  batch.changes.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    LogRow& row = changes.rows[i];
    Change change;
    change.type = row.value ? Change::Type::kPut : Change::Type::kDelete;
    if (const std::optional<Version>& old = changes.previous[i]) {
      change.previous = KeyValue{row.key, nullptr, old->created, old->revision()};
      if (previous_values) {
        change.previous->value = TRY(log.Read(old->position));
        if (!change.previous->value) return Expired("history was compacted while being read");
      }
    }
    change.entry =
        KeyValue{std::move(row.key), std::move(row.value), row.created, row.position.revision()};
    batch.changes.push_back(std::move(change));
  }
  return batch;
}

Result<void> CheckTxn(const Txn& txn) {
  if (txn.operations.size() > limits::kTxnOperations) {
    return RequestTooLarge("transaction has more than " + std::to_string(limits::kTxnOperations) +
                           " operations");
  }
  std::set<std::string_view> puts;
  for (const Operation& operation : txn.operations) {
    if (operation.key.empty()) return BadRequest("transaction names an empty key");
    if (operation.type != Operation::Type::kPut) continue;
    if (!operation.value) return BadRequest("put without a value");
    if (operation.value->size() > limits::kStoredObjectBytes) {
      return RequestTooLarge("value exceeds " + std::to_string(limits::kStoredObjectBytes) +
                             " bytes");
    }
    if (!puts.insert(operation.key).second) {
      return BadRequest("transaction writes a key twice: " + operation.key);
    }
  }
  for (const Operation& operation : txn.operations) {
    if (operation.type == Operation::Type::kPut) continue;
    auto put = puts.lower_bound(operation.key);
    if (put == puts.end()) continue;
    if (operation.type == Operation::Type::kDelete ? *put == operation.key
                                                   : put->starts_with(operation.key)) {
      return BadRequest("transaction writes a key twice: " + std::string(*put));
    }
  }
  return Ok();
}

std::size_t TxnBytes(const Txn& txn) {
  std::size_t bytes = sizeof(Txn);
  for (const Compare& compare : txn.compares) bytes += sizeof(Compare) + compare.key.size();
  for (const Operation& operation : txn.operations) {
    bytes += sizeof(Operation) + operation.key.size();
    if (operation.value) bytes += operation.value->size();
  }
  return bytes;
}

Result<Decision> Decide(const Txn& txn, Revision revision, RevisionMap& map, Changes& changes) {
  Decision decision;
  for (const Compare& compare : txn.compares) {
    if (CurrentRevisionOf(map, compare.key) == compare.mod_revision) continue;
    for (const Compare& each : txn.compares) {
      const Version* version = map.Newest(each.key);
      if (version) decision.actual.emplace_back(each.key, *version);
    }
    return decision;
  }

  const std::size_t first = changes.size();
  auto change = [&](const std::string& key, const SharedBytes& value) {
    const Version* newest = map.Newest(key);
    if (!value && !newest) return;
    std::optional<Version> replaced;
    if (newest) replaced = *newest;
    const Revision created = !value ? Revision() : newest ? newest->created : revision;
    const Position position(revision, changes.size() - first);
    map.Apply(key, Version{position, created});
    changes.Add(LogRow{position, created, key, value}, replaced);
  };
  for (const Operation& operation : txn.operations) {
    switch (operation.type) {
      case Operation::Type::kPut:
        change(operation.key, operation.value);
        break;
      case Operation::Type::kDelete:
        change(operation.key, nullptr);
        break;
      case Operation::Type::kDeletePrefix: {
        const std::vector<std::string> keys = KeysUnder(map, operation.key, revision);
        if (changes.size() - first + keys.size() > kMaxChanges) {
          for (std::size_t i = first; i < changes.size(); ++i) {
            map.Undo(changes.rows[i].key, Revision(revision.value() - 1));
          }
          changes.Truncate(first);
          return RequestTooLarge("transaction changes too many keys");
        }
        for (const std::string& key : keys) change(key, nullptr);
        break;
      }
    }
  }
  decision.committed = true;
  return decision;
}

}  // namespace mailroom::storage
