#include "storage/audience.h"

#include <utility>

namespace mailroom::storage {

std::size_t Audience::size() const {
  std::size_t size = choosy_.size();
  for (const auto& [ns, group] : whole_) size += group.members.size();
  return size;
}

void Audience::Add(SubscriptionPtr subscription) {
  auto& members = subscription->choosy() ? choosy_ : whole_[subscription->ns()].members;
  members.push_back(std::move(subscription));
}

void Audience::Remove(const SubscriptionPtr& subscription) {
  if (subscription->choosy()) {
    std::erase(choosy_, subscription);
    return;
  }
  const auto found = whole_.find(subscription->ns());
  if (found == whole_.end()) return;
  std::erase(found->second.members, subscription);
  if (!found->second.members.empty()) return;
  std::erase(offered_, &found->second);
  whole_.erase(found);
}

void Audience::CopyTo(std::vector<SubscriptionPtr>& all) const {
  for (const auto& [ns, group] : whole_) {
    all.insert(all.end(), group.members.begin(), group.members.end());
  }
  all.insert(all.end(), choosy_.begin(), choosy_.end());
}

void Audience::OfferTo(const std::string& ns, const EventPtr& event) {
  const auto found = whole_.find(ns);
  if (found == whole_.end()) return;
  Group& group = found->second;
  if (group.offered.empty()) offered_.push_back(&group);
  group.offered.push_back(Watcher::Item{event->type(), event});
}

bool Audience::Offer(const EventPtr& event) {
  if (!whole_.empty()) {
    OfferTo("", event);
    if (!event->ns().empty()) OfferTo(std::string(event->ns()), event);
  }
  for (const SubscriptionPtr& each : choosy_) each->Offer(event);
  return !std::exchange(touched_, true);
}

void Audience::Flush(std::vector<SubscriptionPtr>& wake) {
  touched_ = false;
  for (const SubscriptionPtr& each : choosy_) {
    if (each->Flush()) wake.push_back(each);
  }
  for (Group* group : offered_) {
    const auto run = std::make_shared<const EventRun>(std::exchange(group->offered, {}));
    for (const SubscriptionPtr& each : group->members) {
      if (each->Queue(run)) wake.push_back(each);
    }
  }
  offered_.clear();
}

}  // namespace mailroom::storage
