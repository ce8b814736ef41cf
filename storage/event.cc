#include "storage/event.h"

#include <functional>
#include <mutex>

namespace mailroom::storage {
namespace {

// Events share a few locks, because each would be idle almost always.
std::mutex& LockOf(const Event* event) {
  static std::array<std::mutex, 64> locks;
  const std::size_t hash = std::hash<const void*>()(event);
  return locks[(hash / sizeof(Event)) % locks.size()];
}

}  // namespace

std::string_view EventTypeText(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
  }
  return "";
}

Event::Event(CollectionNamePtr collection, ObjectPtr object, ObjectPtr previous)
    : collection_(std::move(collection)),
      previous_(std::move(previous)),
      revision_(object->revision()),
      type_(previous_ ? EventType::kModified : EventType::kAdded),
      object_(std::move(object)) {}

Event::Event(CollectionNamePtr collection, ObjectPtr last, Revision revision)
    : collection_(std::move(collection)),
      previous_(std::move(last)),
      revision_(revision),
      type_(EventType::kDeleted) {}

Event::Event(EventType type, const ResourceKey& key, ObjectPtr object, ObjectPtr previous)
    : collection_(
          std::make_shared<const CollectionName>(CollectionName{key.workspace, key.resource})),
      previous_(std::move(previous)),
      revision_(object->revision()),
      type_(type),
      object_(std::move(object)) {}

ResourceKey Event::key() const {
  return ResourceKey{workspace(), resource(), std::string(ns()), std::string(name())};
}

ObjectPtr Event::object() const {
  if (type_ != EventType::kDeleted) return object_;
  std::lock_guard lock(LockOf(this));
  return ShownLocked(EventType::kDeleted);
}

ObjectPtr Event::ShownLocked(EventType shown) const {
  if (type_ == EventType::kDeleted) {
    if (!object_) object_ = previous_->AtRevision(revision_);
    return object_;
  }
  if (shown == EventType::kDeleted && previous_) return previous_->AtRevision(revision_);
  return object_;
}

ObjectPtr Event::Shown(EventType shown) const {
  std::lock_guard lock(LockOf(this));
  return ShownLocked(shown);
}

SharedBytes Event::Frame(EventType shown) const {
  if (shown == EventType::kBookmark) return EncodeFrame(shown, object()->bytes());
  std::lock_guard lock(LockOf(this));
  if (!frames_) frames_ = std::make_unique<Frames>();
  SharedBytes& frame = (*frames_)[static_cast<std::size_t>(shown)];
  if (!frame) frame = EncodeFrame(shown, ShownLocked(shown)->bytes());
  return frame;
}

void Event::ReleaseFrames() const {
  std::unique_ptr<Frames> released;
  std::lock_guard lock(LockOf(this));
  released = std::move(frames_);
  if (previous_ && type_ == EventType::kDeleted) object_.reset();
}

void AppendFrame(std::string& out, EventType shown, std::string_view object) {
  out.append("{\"type\":\"").append(EventTypeText(shown)).append("\",\"object\":");
  out.append(object).append("}\n");
}

SharedBytes EncodeFrame(EventType shown, std::string_view object) {
  constexpr std::size_t kAround = 40;  // what stands around the object
  std::string frame;
  frame.reserve(object.size() + kAround);
  AppendFrame(frame, shown, object);
  return std::make_shared<const std::string>(std::move(frame));
}

std::size_t BytesOf(const Event& event) {
  const std::size_t before = event.previous() ? event.previous()->bytes().size() : 0;
  return before + (event.now() != nullptr ? event.now()->bytes().size() : 0);
}

}  // namespace mailroom::storage
