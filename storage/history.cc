#include "storage/history.h"

#include "storage/object/limits.h"

namespace mailroom::storage {

std::size_t History::Bytes(const Event& event) {
  return sizeof(Event) + (event.previous() ? event.previous()->bytes().size() : 0);
}

void History::Append(EventPtr event, std::int64_t second, Chain& collection, Chain& resource,
                     std::vector<Chain*>& drained) {
  const std::uint64_t number = first_ + slots_.size();
  bytes_ += Bytes(*event);
  slots_.push_back(Slot{
      std::move(event), second, {&collection, &resource}, {collection.newest, resource.newest}});
  for (Chain* chain : slots_.back().chains) {
    chain->newest = number;
    ++chain->retained;
  }
  if (slots_.size() > limits::kFramedEvents) {
    slots_[slots_.size() - 1 - limits::kFramedEvents].event->ReleaseFrames();
  }
  while (slots_.size() > max_events_ || (bytes_ > max_bytes_ && slots_.size() > 1)) {
    EvictOldest(drained);
  }
}

std::size_t History::EvictBefore(std::int64_t second, std::vector<Chain*>& drained) {
  const std::size_t before = bytes_;
  while (!slots_.empty() && slots_.front().second < second) EvictOldest(drained);
  return before - bytes_;
}

void History::EvictOldest(std::vector<Chain*>& drained) {
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  ++first_;
  bytes_ -= Bytes(*slot.event);
  evicted_ = slot.event->revision();
  for (Chain* chain : slot.chains) {
    chain->evicted = slot.event->revision();
    --chain->retained;
  }
  if (slot.chains[0]->retained == 0) drained.push_back(slot.chains[0]);
}

std::vector<EventPtr> History::After(Revision after) const {
  std::vector<EventPtr> events;
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) {
    if (slot->event->revision() <= after) break;
    events.push_back(slot->event);
  }
  return events;
}

std::vector<EventPtr> History::After(const Chain& chain, Along along, Revision after) const {
  std::vector<EventPtr> events;
  std::uint64_t number = chain.newest;
  while (number >= first_ && number != 0) {
    const Slot& slot = slots_[number - first_];
    if (slot.event->revision() <= after) break;
    events.push_back(slot.event);
    number = slot.before[static_cast<std::size_t>(along)];
  }
  return events;
}

}  // namespace mailroom::storage
