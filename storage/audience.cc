#include "storage/audience.h"

namespace mailroom::storage {

void Audience::Add(SubscriptionPtr subscription) {
  (subscription->choosy() ? choosy_ : whole_).push_back(std::move(subscription));
}

void Audience::Remove(const SubscriptionPtr& subscription) {
  std::erase(subscription->choosy() ? choosy_ : whole_, subscription);
}

void Audience::CopyTo(std::vector<SubscriptionPtr>& all) const {
  all.insert(all.end(), whole_.begin(), whole_.end());
  all.insert(all.end(), choosy_.begin(), choosy_.end());
}

bool Audience::Offer(const EventPtr& event) {
  if (!whole_.empty()) offered_.push_back(Watcher::Item{event->type(), event});
  for (const SubscriptionPtr& each : choosy_) each->Offer(event);
  return !std::exchange(touched_, true);
}

void Audience::Flush(std::vector<SubscriptionPtr>& wake) {
  touched_ = false;
  for (const SubscriptionPtr& each : choosy_) {
    if (each->Flush()) wake.push_back(each);
  }
  if (offered_.empty()) return;
  const std::size_t bytes = BytesOf(offered_);
  const auto items = std::make_shared<const std::vector<Watcher::Item>>(std::move(offered_));
  offered_ = {};
  for (const SubscriptionPtr& each : whole_) {
    if (each->Queue(items, bytes)) wake.push_back(each);
  }
}

}  // namespace mailroom::storage
