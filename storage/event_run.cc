#include "storage/event_run.h"

namespace mailroom::storage {
namespace {

// The frames of all, if they are of one kind and version.
SharedBytes Join(const std::vector<Watcher::Item>& items) {
  // One alone has a frame, which others may have been given already.
  if (items.size() == 1) return items.front().event->Frame(items.front().type);
  constexpr std::size_t kAround = 40;  // what a frame adds to its object
  std::vector<ObjectPtr> objects;
  std::size_t bytes = 0;
  for (const Watcher::Item& item : items) {
    const ObjectPtr& object = objects.emplace_back(item.event->Shown(item.type));
    const Object& first = *objects.front();
    if (object->api_version() != first.api_version() || object->kind() != first.kind()) return nullptr;
    bytes += object->bytes().size() + kAround;
  }
  std::string text;
  text.reserve(bytes);
  for (std::size_t i = 0; i < items.size(); ++i) AppendFrame(text, items[i].type, objects[i]->bytes());
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

EventRun::EventRun(std::vector<Watcher::Item> items)
    : items_(std::move(items)), bytes_(BytesOf(items_)) {}

SharedBytes EventRun::Text(std::string_view api_version, std::string_view kind) const {
  const ObjectPtr known = items_.front().event->Shown(items_.front().type);
  if (known->api_version() != api_version || known->kind() != kind) return nullptr;
  std::lock_guard lock(mutex_);
  if (!std::exchange(joined_, true)) text_ = Join(items_);
  return text_;
}

std::size_t BytesOf(const std::vector<Watcher::Item>& items) {
  std::size_t bytes = 0;
  for (const Watcher::Item& item : items) bytes += BytesOf(*item.event);
  return bytes;
}

}  // namespace mailroom::storage
