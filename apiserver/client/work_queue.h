// Keys to look at next: de-duplicating (a key waiting twice is handled once), never handled by
// two workers at a time (re-added while processing means again afterwards), delayed, rate-limited
// per key, and fair between lanes: lanes with work take turns, so one busy workspace cannot
// starve the others. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace mailroom::client {

struct WorkKey {
  std::string lane;  // usually the workspace
  std::string id;
  friend auto operator<=>(const WorkKey&, const WorkKey&) = default;
};

class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  static std::unique_ptr<WorkQueue> Make();

  virtual void Add(const WorkKey& key) = 0;
  // At the latest after limits::kLongestDelay: the times that users write have no end, those of a
  // clock do.
  virtual void AddAfter(const WorkKey& key, std::chrono::milliseconds delay) = 0;
  // With this key's back-off (limits::kRetryFirst doubling to kRetryLast, jittered).
  virtual void AddRateLimited(const WorkKey& key) = 0;
  virtual void Forget(const WorkKey& key) = 0;  // resets the back-off
  // Blocks for the next key; nothing after Stop. Every key taken must be given to Done.
  virtual std::optional<WorkKey> Take() = 0;
  virtual void Done(const WorkKey& key) = 0;
  virtual std::size_t size() const = 0;  // waiting keys
  virtual void Stop() = 0;
};

}  // namespace mailroom::client
