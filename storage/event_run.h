// Events that came together, in order, shared by all subscribers who see the same of them. Their wire
// bytes are put together once for all of those, too. Immutable but for that.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "storage/cached_store.h"

namespace mailroom::storage {

class EventRun {
 public:
  // REQUIRES: `items` is not empty.
  explicit EventRun(std::vector<Watcher::Item> items);

  const std::vector<Watcher::Item>& items() const { return items_; }
  // What the events keep in memory.
  std::size_t bytes() const { return bytes_; }
  // The newest revision.
  Revision last() const { return items_.back().event->revision(); }
  // The frames of all events, one after the other, made on first use; thread-safe. Null unless all
  // objects are of this kind and version.
  SharedBytes Text(std::string_view api_version, std::string_view kind) const;

 private:
  const std::vector<Watcher::Item> items_;
  const std::size_t bytes_;
  mutable std::mutex mutex_;
  mutable bool joined_ = false;  // this and the next guarded by mutex_
  mutable SharedBytes text_;     // null when the objects differ in kind or version
};

std::size_t BytesOf(const std::vector<Watcher::Item>& items);

}  // namespace mailroom::storage
