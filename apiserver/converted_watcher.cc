#include "apiserver/converted_watcher.h"

#include <deque>
#include <mutex>

#include "apiserver/conversions.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {

using storage::Event;
using storage::EventPtr;
using storage::EventType;

namespace {

constexpr std::size_t kBatch = 256;

// One change on its way: how the source shows it, and its objects.
struct Change {
  EventType type;
  EventPtr event;
};

Change Added(const GroupResource& resource, const storage::Entry& entry) {
  const ResourceKey key{*entry.workspace, resource, std::string(entry.object->meta().ns),
                        std::string(entry.object->meta().name)};
  return {EventType::kAdded,
          std::make_shared<Event>(EventType::kAdded, key, entry.object, nullptr)};
}

// Converts what is shown and, when there is a filter, what decides how it is shown.
class Batch {
 public:
  Batch(const Settler& settle, const storage::Filter& filter, std::vector<Change> changes)
      : settle_(settle), filter_(filter), changes_(std::move(changes)) {}

  bool Waits() const {
    for (const Change& change : changes_) {
      const auto& previous = change.event->previous();
      if (settle_.Waits(*Content(change))) return true;
      if (filter_ && previous && settle_.Waits(*previous)) return true;
    }
    return false;
  }

  Result<std::vector<storage::Watcher::Item>> Run() {
    if (filter_) TRY(Decide());
    std::vector<ObjectPtr> before;
    for (const Change& change : changes_) before.push_back(Content(change));
    std::vector<ObjectPtr> shown = before;
    TRY(settle_.All(shown));
    std::vector<storage::Watcher::Item> items;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const auto& [type, event] = changes_[i];
      EventPtr item = event;  // what stays as it is keeps the frame it shares with other watchers
      if (shown[i] != before[i]) {
        const ObjectPtr object =
            type == EventType::kDeleted ? shown[i]->AtRevision(event->revision()) : shown[i];
        item = std::make_shared<Event>(type, event->key(), object, nullptr);
      }
      items.push_back({type, std::move(item)});
    }
    return items;
  }

 private:
  // What the change shows. Of what went it is the last state, by its own revision: under the
  // change's own revision there may be another.
  static ObjectPtr Content(const Change& change) {
    const bool gone = change.type == EventType::kDeleted && change.event->previous() != nullptr;
    return gone ? change.event->previous() : change.event->Shown(change.type);
  }

  // As the filter sees the converted objects: entering, staying or leaving.
  Result<void> Decide() {
    std::vector<ObjectPtr> before, now;
    for (const Change& change : changes_) {
      before.push_back(change.event->previous());
      now.push_back(change.event->now() == nullptr ? nullptr : change.event->object());
    }
    TRY(settle_.All(before));
    TRY(settle_.All(now));
    std::vector<Change> kept;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const bool was = before[i] != nullptr && filter_(*before[i]);
      const bool is = now[i] != nullptr && filter_(*now[i]);
      if (!was && !is) continue;
      const EventType type = !is ? EventType::kDeleted
                                 : was ? EventType::kModified : EventType::kAdded;
      kept.push_back({type, std::move(changes_[i].event)});
    }
    changes_ = std::move(kept);
    return Ok();
  }

  const Settler& settle_;
  const storage::Filter& filter_;
  std::vector<Change> changes_;
};

}  // namespace

struct ConvertedWatcher::Shared : std::enable_shared_from_this<Shared> {
  Shared(const Call& call, storage::CacheWatch watch, storage::Filter wanted)
      : settle(call), conversions(*call.hub.conversions), workspace(call.info.workspace),
        resource(call.type->stored_as), filter(std::move(wanted)),
        initial(std::move(watch.initial)), source(std::move(watch.watcher)),
        in_initial(!initial.empty()) {}

  // The next changes of the source, or of what was there at the start.
  std::vector<Change> TakeLocked(State& state, Revision& up_to) {
    std::vector<Change> changes;
    while (next_initial < initial.size() && changes.size() < kBatch) {
      changes.push_back(Added(resource, initial[next_initial]));
      initial[next_initial++] = {};
    }
    if (!changes.empty()) return changes;
    std::vector<Item> items;
    state = source->Drain(items, kBatch, up_to);
    for (Item& item : items) changes.push_back({item.type, std::move(item.event)});
    return changes;
  }

  void ConvertElsewhereLocked(std::vector<Change> changes) {
    busy = true;
    const bool begun = conversions.Later(
        workspace, [self = shared_from_this(), changes = std::move(changes)]() mutable {
          self->Convert(std::move(changes));
        });
    if (begun) return;
    busy = false;
    failure = TooManyRequests("too many watches are waiting for conversion webhooks", 1);
  }

  void Convert(std::vector<Change> changes) {
    {
      std::lock_guard lock(mutex);
      if (source == nullptr) return;
    }
    auto items = Batch(settle, filter, std::move(changes)).Run();
    std::function<void()> wake;
    {
      std::lock_guard lock(mutex);
      busy = false;
      if (items.ok()) {
        for (Item& item : *items) queue.push_back(std::move(item));
      } else {
        failure = std::move(items).error();
      }
      wake = ready;
    }
    if (wake) wake();
  }

  const Settler settle;
  Conversions& conversions;
  const Workspace workspace;
  const GroupResource resource;
  const storage::Filter filter;
  mutable std::mutex mutex;  // guards everything below
  std::vector<storage::Entry> initial;
  std::size_t next_initial = 0;
  std::unique_ptr<storage::Watcher> source;  // null once the consumer has gone
  std::function<void()> ready;
  std::deque<Item> queue;  // converted, not yet handed on
  bool busy = false;       // a batch is being converted elsewhere
  bool in_initial;
  bool just_done = false;
  std::optional<Status> failure;
};

ConvertedWatcher::ConvertedWatcher(const Call& call, storage::CacheWatch watch,
                                   storage::Filter filter)
    : shared_(std::make_shared<Shared>(call, std::move(watch), std::move(filter))) {}

ConvertedWatcher::~ConvertedWatcher() {
  std::unique_ptr<storage::Watcher> source;
  std::lock_guard lock(shared_->mutex);
  shared_->ready = nullptr;
  source = std::move(shared_->source);
}

void ConvertedWatcher::OnReady(std::function<void()> ready) {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ready = ready;
  }
  shared_->source->OnReady(std::move(ready));
}

storage::Watcher::State ConvertedWatcher::Drain(std::vector<Item>& out, std::size_t max,
                                                Revision& up_to) {
  Shared& shared = *shared_;
  std::lock_guard lock(shared.mutex);
  shared.just_done = false;
  while (true) {
    while (!shared.queue.empty() && max > 0) {
      out.push_back(std::move(shared.queue.front()));
      shared.queue.pop_front();
      --max;
    }
    if (!shared.queue.empty() || shared.busy) return State::kOpen;
    if (shared.failure) return State::kClosed;
    if (shared.in_initial && shared.next_initial == shared.initial.size()) {
      shared.in_initial = false;
      shared.just_done = true;
      shared.initial.clear();
      shared.next_initial = 0;
      return State::kOpen;
    }
    State state = State::kOpen;
    std::vector<Change> changes = shared.TakeLocked(state, up_to);
    if (changes.empty()) return state;
    Batch batch(shared.settle, shared.filter, changes);
    if (batch.Waits()) {
      shared.ConvertElsewhereLocked(std::move(changes));
      if (shared.busy) return State::kOpen;
      continue;
    }
    auto items = batch.Run();
    if (!items.ok()) {
      shared.failure = std::move(items).error();
      continue;
    }
    for (Item& item : *items) shared.queue.push_back(std::move(item));
  }
}

bool ConvertedWatcher::overflowed() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->source->overflowed();
}

std::size_t ConvertedWatcher::pending() const {
  std::lock_guard lock(shared_->mutex);
  std::size_t bytes = shared_->source->pending();
  for (const Item& item : shared_->queue) bytes += storage::BytesOf(*item.event);
  return bytes;
}

bool ConvertedWatcher::InitialDone() const {
  std::lock_guard lock(shared_->mutex);
  return !shared_->in_initial;
}

bool ConvertedWatcher::InitialJustDone() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->just_done;
}

std::optional<Status> ConvertedWatcher::error() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->failure;
}

}  // namespace mailroom::apiserver
