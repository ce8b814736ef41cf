#include "storage/memory_log.h"

#include <absl/container/btree_map.h>

#include <mutex>

namespace mailroom::storage {
namespace {

class MemoryLog final : public ChangeLog {
 public:
  Result<State> Load(const std::function<void(LogRow)>&) override { return State{}; }

  Result<void> Append(const std::vector<LogRow>& rows) override {
    std::lock_guard lock(mutex_);
    for (const LogRow& row : rows) rows_.emplace_hint(rows_.end(), row.position, row);
    return Ok();
  }

  Result<SharedBytes> Read(Position position) override {
    std::lock_guard lock(mutex_);
    auto it = rows_.find(position);
    return it == rows_.end() ? SharedBytes() : it->second.value;
  }

  Result<std::vector<LogRow>> Scan(Position after, std::size_t limit) override {
    std::vector<LogRow> found;
    std::lock_guard lock(mutex_);
    for (auto it = rows_.upper_bound(after); it != rows_.end() && found.size() < limit; ++it) {
      found.push_back(it->second);
    }
    return found;
  }

  Result<void> Forget(Revision, Revision, const std::vector<Position>& rows) override {
    std::lock_guard lock(mutex_);
    for (Position position : rows) rows_.erase(position);
    return Ok();
  }

 private:
  std::mutex mutex_;
  absl::btree_map<Position, LogRow> rows_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<ChangeLog> NewMemoryLog() { return std::make_unique<MemoryLog>(); }

}  // namespace mailroom::storage
