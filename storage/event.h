// One change as watchers see it, and its wire bytes, encoded once for all of them.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "storage/object/object.h"
#include "storage/object/resource_key.h"

namespace mailroom::storage {

enum class EventType { kAdded, kModified, kDeleted, kBookmark };

std::string_view EventTypeText(EventType type);  // ADDED, MODIFIED, DELETED, BOOKMARK

// Immutable after construction but for the lazily encoded frames. For kDeleted, `object` is the
// last state at the deletion's revision. `previous` is null for kAdded.
class Event {
 public:
  Event(EventType type, ResourceKey key, ObjectPtr object, ObjectPtr previous);

  EventType type() const { return type_; }
  const ResourceKey& key() const { return key_; }
  const ObjectPtr& object() const { return object_; }
  const ObjectPtr& previous() const { return previous_; }
  Revision revision() const { return object_->revision(); }

  // The object that a watcher is shown when it sees this event as `shown`: `object`, except that
  // leaving a selector (a modification shown as kDeleted) shows the previous state at this
  // revision.
  ObjectPtr Shown(EventType shown) const;
  // `{"type":"ADDED","object":{...}}\n`, made on first use, thread-safe.
  SharedBytes Frame(EventType shown) const;

 private:
  EventType type_;
  ResourceKey key_;
  ObjectPtr object_;
  ObjectPtr previous_;
  mutable std::mutex mutex_;
  mutable std::array<SharedBytes, 3> frames_;  // guarded by mutex_
};

using EventPtr = std::shared_ptr<const Event>;

// `{"type":"<shown>","object":<object>}\n`.
SharedBytes EncodeFrame(EventType shown, std::string_view object);

}  // namespace mailroom::storage
