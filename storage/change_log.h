// The durable half of the embedded engine: an append-only log of changes, addressed by position.
// Two kinds exist, on SQLite (sqlite_log) and in memory (memory_log). Append and Forget are
// called by the committer thread only; Read and Scan from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/object/ids.h"
#include "storage/object/limits.h"
#include "storage/object/object.h"
#include "storage/object/result.h"

namespace mailroom::storage {

// Where a change stands in the log: its revision and its number within that revision's
// transaction, ordered as one integer.
class Position {
 public:
  static constexpr int kBits = limits::kTxnChangesBits;
  constexpr Position() = default;
  constexpr explicit Position(std::uint64_t value) : value_(value) {}
  constexpr Position(Revision revision, std::uint64_t number)
      : value_((revision.value() << kBits) | number) {}
  // The greatest position of `revision`.
  static constexpr Position EndOf(Revision revision) {
    return Position(revision, (std::uint64_t{1} << kBits) - 1);
  }
  constexpr std::uint64_t value() const { return value_; }
  constexpr Revision revision() const { return Revision(value_ >> kBits); }
  friend constexpr auto operator<=>(Position, Position) = default;

 private:
  std::uint64_t value_ = 0;
};

struct LogRow {
  Position position;
  Revision created;  // of the key's present life; zero for a deletion
  std::string key;
  SharedBytes value;  // null for a deletion
};

class ChangeLog {
 public:
  struct State {
    Revision revision;   // the last one appended, whether or not its rows still exist
    Revision compacted;  // history before this is forgotten
  };

  virtual ~ChangeLog() = default;
  // Every retained row in order, without its value.
  virtual Result<State> Load(const std::function<void(LogRow)>& visit) = 0;
  // All rows or none; durable when it returns. Rows are in order of position.
  virtual Result<void> Append(const std::vector<LogRow>& rows) = 0;
  // Null when the row was forgotten.
  virtual Result<SharedBytes> Read(Position position) = 0;
  // At most `limit` rows with a position greater than `after`, in order.
  virtual Result<std::vector<LogRow>> Scan(Position after, std::size_t limit) = 0;
  // Records that history before `compacted` is gone while the store is at `revision`, and
  // removes the rows. Calling it again with the same revisions removes more rows.
  virtual Result<void> Forget(Revision compacted, Revision revision,
                              const std::vector<Position>& rows) = 0;
};

}  // namespace mailroom::storage
