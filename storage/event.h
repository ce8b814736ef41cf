// One change as watchers see it, and its wire bytes, encoded once for all of them.
#pragma once

#include <array>
#include <memory>

#include "storage/object/object.h"
#include "storage/object/resource_key.h"

namespace mailroom::storage {

enum class EventType { kAdded, kModified, kDeleted, kBookmark };

std::string_view EventTypeText(EventType type);  // ADDED, MODIFIED, DELETED, BOOKMARK

// The objects of one resource in one workspace.
struct CollectionName {
  Workspace workspace;
  GroupResource resource;
};
using CollectionNamePtr = std::shared_ptr<const CollectionName>;

// Immutable after construction but for what is made lazily: the frames, and the last state at a
// deletion's revision. Small, because the history holds very many; namespace and name are those
// of the object.
class Event {
 public:
  // An addition (no previous) or a modification. REQUIRES: object is not null.
  Event(CollectionNamePtr collection, ObjectPtr object, ObjectPtr previous);
  // A deletion at `revision` of the object whose last state was `last`.
  Event(CollectionNamePtr collection, ObjectPtr last, Revision revision);
  // Of any type, with `object` as it will be shown. REQUIRES: `key` is the object's.
  Event(EventType type, const ResourceKey& key, ObjectPtr object, ObjectPtr previous);

  EventType type() const { return type_; }
  const Workspace& workspace() const { return collection_->workspace; }
  const GroupResource& resource() const { return collection_->resource; }
  std::string_view ns() const { return known().meta().ns; }
  std::string_view name() const { return known().meta().name; }
  ResourceKey key() const;
  // For kDeleted, the last state at the deletion's revision.
  ObjectPtr object() const;
  // The object of an addition or modification, null for a deletion; without counting a reference.
  const Object* now() const { return type_ == EventType::kDeleted ? nullptr : object_.get(); }
  // Null for kAdded.
  const ObjectPtr& previous() const { return previous_; }
  Revision revision() const { return revision_; }

  // The object that a watcher is shown when it sees this event as `shown`: `object`, except that
  // leaving a selector (a modification shown as kDeleted) shows the previous state at this
  // revision.
  ObjectPtr Shown(EventType shown) const;
  // `{"type":"ADDED","object":{...}}\n`, made on first use, thread-safe.
  SharedBytes Frame(EventType shown) const;
  // Gives up the cached frames; they are made again when asked for.
  void ReleaseFrames() const;

 private:
  using Frames = std::array<SharedBytes, 3>;
  const Object& known() const { return previous_ ? *previous_ : *object_; }
  ObjectPtr ShownLocked(EventType shown) const;

  CollectionNamePtr collection_;
  ObjectPtr previous_;
  Revision revision_;
  EventType type_;
  mutable ObjectPtr object_;                // for kDeleted guarded by the event's lock
  mutable std::unique_ptr<Frames> frames_;  // guarded by the event's lock
};

using EventPtr = std::shared_ptr<const Event>;

// What a queued event keeps in memory: its object and the version before it. A deletion is counted
// by the state it ended; the copy that shows its revision is made when it is shown.
std::size_t BytesOf(const Event& event);

// `{"type":"<shown>","object":<object>}\n`.
void AppendFrame(std::string& out, EventType shown, std::string_view object);
SharedBytes EncodeFrame(EventType shown, std::string_view object);

}  // namespace mailroom::storage
